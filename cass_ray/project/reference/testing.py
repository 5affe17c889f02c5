"""The tests of a port, whose programs are compared with the original's while they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cass_ray.execute.comparison.compare import Tolerance
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.project.build_system import BuildPlan, uses_torch
from cass_ray.project.reference.comparing import (
    NO_REFERENCE,
    OriginalRuns,
    ProjectComparison,
    compare_runs,
)
from cass_ray.project.reference.original import (
    OriginalProject,
    no_reference,
    recording,
    runs_of_original,
    what_runs,
)
from cass_ray.project.reference.recording import built_files, gpu_programs, read_runs
from cass_ray.project.steps import Step, StepOutcome, Workbench
from cass_ray.translate.project.tree import is_source, source_files


@dataclass(frozen=True)
class Reference:
    """What the original printed, and how far floats of a port may be from it."""

    runs: OriginalRuns
    tolerance: Tolerance
    original: OriginalProject | None = None
    """The original that made the runs; None where it cannot make others."""

    def on(self, card: str, say: Callable[[str], None]) -> Reference | None:
        """The same where the programs find the name and the sizes of another card; None where that
        is no other, or no reference."""
        if self.original is None or card in ("", self.original.card):
            return None
        original = replace(self.original, card=card)
        say(f"original: again with the properties of {card}, for its port differs there")
        runs = runs_of_original(original, say)
        return None if runs.kind == NO_REFERENCE else Reference(runs, self.tolerance, original)


def reference_of(original: OriginalProject, say: Callable[[str], None]) -> Reference:
    """Build and run ``original``; what is in the way is the reference's problem."""
    files = (path for path in source_files(original.source) if is_source(path.name))
    tolerance = tolerance_for(path.read_text("utf-8", "replace") for path in files)
    if uses_torch(original.source):
        problem = "an extension of PyTorch is built with PyTorch for CUDA, which is not used here"
        return Reference(no_reference(problem, unbuilt=True), tolerance)
    return Reference(runs_of_original(original, say), tolerance, original)


def test_beside(
    bench: Workbench, plan: BuildPlan, reference: Reference | None, say: Callable[[str], None]
) -> tuple[Step, ProjectComparison | None]:
    """Run the tests of the port in ``bench``, and compare where there is a reference.

    Where no test is known, the programs are started without arguments, as the original's were.
    """
    skipped = Step(plan.test, StepOutcome.SKIPPED)
    if reference is None or reference.runs.kind == NO_REFERENCE:
        test = _said(bench, plan.test, plan.test, None, say)[0] if plan.test else skipped
        if reference is None:
            return test, None
        return test, compare_runs(reference.runs, (), 0, reference.tolerance)
    programs = gpu_programs(built_files(bench.tree))
    with recording(bench.tree, programs) as record:
        command, called = what_runs(plan.test, programs)
        test, launches = _said(bench, command, called, record, say)
        runs = read_runs(record, bench.tree)
    compared = compare_runs(reference.runs, runs, launches, reference.tolerance)
    if compared.differing and (there := reference.on(bench.architecture, say)):
        # Programs print what their card is called, and divide work by its multiprocessors.
        compared = compare_runs(there.runs, runs, launches, there.tolerance)
    return (test if plan.test else skipped), compared


def _said(
    bench: Workbench,
    command: str,
    called: str,
    record: Path | None,
    say: Callable[[str], None],
) -> tuple[Step, int]:
    say(f"{bench.architecture}: {called}")
    done = bench.test(command, record)
    say(f"{bench.architecture}: run {done.step.outcome.value}, {done.step.seconds:.0f} s")
    return done.step, done.launches
