"""Does the verifier verify? Plant faults in correct programs and count how many are caught.

Every program is first verified unchanged, against its own runs or against what its CUDA original
prints elsewhere: a failure is a false alarm. Then mutants of its HIP source and of its RDNA3
assembly are verified in the same way. A mutant that does not compile, or compiles to the very same
machine code, is no mutant and does not count.
"""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import yaml

from cass_ray.assembly import rdna3
from cass_ray.config import StrictModel
from cass_ray.corpus.parsing.lexer import splice_lines
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Assembly, Backend, Inputs, RunMode
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.comparison.compare import Tolerance
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.drivers.generated import (
    GeneratedRuns,
    drivable,
    generated_runs,
    undisputed,
)
from cass_ray.execute.evidence.exploits import wait_findings
from cass_ray.execute.references import ReferenceRuns, measure
from cass_ray.execute.selftest.mutants import Fault, Mutant, assembly_mutants, draw, source_mutants
from cass_ray.execute.verification import PortVerification, combined
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.sandbox.executable import Bounds
from cass_ray.toolchain.unit import CompileFailure

_SIZE = 32
"""Smaller numbers among arguments are taken for seeds, rounds or kinds."""
_LARGER_SECONDS = 10.0
"""An input of ours on which the original takes longer is left out."""


class Fate(StrEnum):
    """What became of a mutant."""

    NUMERIC = "numeric"  # the output differs in value
    EXACT = "exact"  # only the exact verdict sees it
    RUN = "run"  # it fails, crashes, hangs or leaves its bounds
    CHECK = "check"  # checking mode reports it
    FINDING = "finding"  # a static rule or one against cheating reports it
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"  # survived, and no run can tell: argued in equivalent_mutants.yaml
    SAME_CODE = "same_code"
    NOT_BUILT = "not_built"


_COUNTED = (Fate.NUMERIC, Fate.EXACT, Fate.RUN, Fate.CHECK, Fate.FINDING, Fate.SURVIVED)


class MutantResult(StrictModel):
    """One mutant: where it was planted, and what became of it."""

    program: str
    fault: Fault
    line: int
    change: str
    fate: Fate
    reason: str = ""


class EquivalentMutant(StrictModel):
    """A fault that changes nothing: in ``program``, on the line that holds ``line``."""

    program: str
    fault: Fault
    line: str
    because: str


@functools.cache
def equivalent_mutants() -> tuple[EquivalentMutant, ...]:
    """Those that somebody has argued."""
    text = Path(__file__).with_name("equivalent_mutants.yaml").read_text()
    return tuple(EquivalentMutant.model_validate(entry) for entry in yaml.safe_load(text))


class SelfTest(StrictModel):
    """Results of a self-test. ``false_alarms`` names correct programs that did not pass."""

    programs: int
    false_alarms: dict[str, str]
    mutants: list[MutantResult]

    def table(self) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = {}
        for mutant in self.mutants:
            row = counts.setdefault(mutant.fault.value, {})
            row[mutant.fate.value] = row.get(mutant.fate.value, 0) + 1
        return counts

    def kill_rate(self) -> float:
        """Share caught by any verdict, of all mutants that are ones; 1 if there are none."""
        counted = [mutant for mutant in self.mutants if mutant.fate in _COUNTED]
        caught = sum(mutant.fate is not Fate.SURVIVED for mutant in counted)
        return caught / len(counted) if counted else 1.0


@dataclass(frozen=True)
class Subject:
    """A correct HIP program and the inputs to run it with; ``tolerance`` None: by its types.

    ``original`` is the CUDA program, where there is one.
    """

    name: str
    sources: Sources
    inputs: tuple[Inputs, ...]
    tolerance: Tolerance | None = None
    original: Sources | None = None


def run_selftest(
    subjects: Iterable[Subject],
    backend: Rdna3Backend,
    *,
    per_fault: int = 1,
    seed: int = 0,
    bounds: Bounds = Bounds(wall_seconds=20.0),  # noqa: B008  (frozen)
    originals: Backend | None = None,
) -> Iterator[tuple[Subject, PortVerification, list[MutantResult]]]:
    """Each subject with its verdict unchanged and what became of its mutants.

    The reference is what the subject's original prints on ``originals``, or without that what the
    subject itself prints. Raises ``CompileFailure`` where an original does not build there.
    """
    for subject in subjects:
        trial = _Trial(subject, backend, bounds, originals)
        unchanged = trial.unchanged()
        generator = random.Random(f"{seed} {subject.name}")
        results = list(trial.mutants(generator, per_fault)) if unchanged.passed else []
        yield subject, unchanged, results


def summarize(
    results: Sequence[tuple[Subject, PortVerification, list[MutantResult]]],
) -> SelfTest:
    """The fates of the mutants of all subjects, in one result."""
    alarms = {
        subject.name: "; ".join([result.reason, *result.device_faults])
        for subject, result, _ in results
        if not result.passed or result.device_faults
    }
    mutants = [mutant for _, _, outcomes in results for mutant in outcomes]
    return SelfTest(programs=len(results), false_alarms=alarms, mutants=mutants)


def larger(inputs: Sequence[Inputs]) -> Inputs | None:
    """The largest of ``inputs`` with sizes three times as large; None where nothing is a size.

    A lifted original runs on any input, not only where a GPU's output is stored. More elements than
    16 bits count, and other remainders by the block, show what small inputs do not.
    """
    sizes = [[int(text) for text in each.arguments if text.isdecimal()] for each in inputs]
    products = [math.prod(number for number in row if number >= _SIZE) for row in sizes]
    if max(products, default=1) < _SIZE:
        return None
    most = inputs[products.index(max(products))]
    grown = tuple(
        str(3 * int(text)) if text.isdecimal() and int(text) >= _SIZE else text
        for text in most.arguments
    )
    return replace(most, arguments=grown)


class _Trial:
    """One program: its reference, and mutants against it."""

    def __init__(
        self, subject: Subject, backend: Rdna3Backend, bounds: Bounds, originals: Backend | None
    ) -> None:
        self._subject = subject
        self._backend = backend
        self.original = backend.compile(subject.sources)
        main = str(subject.sources.main)
        self._source = splice_lines(subject.sources.files[main].decode("utf-8", "surrogateescape"))
        # Mutants are planted in spliced lines: `__LINE__` is another one there.
        spliced = {**subject.sources.files, main: self._source.encode("utf-8", "surrogateescape")}
        as_mutants = backend.compile(replace(subject.sources, files=spliced))
        self._codes = {_code(self.original), _code(as_mutants)}
        self._reference = self._measured(originals)
        self._generated = self._generate(originals)
        seconds = max((run.seconds for run in self._reference.runs), default=1.0)
        wall = min(bounds.wall_seconds, 3.0 + 20 * seconds)
        self._bounds = replace(bounds, wall_seconds=wall, cpu_seconds=2 * wall)
        self._warns = False
        self._exact = self._kernels_exact = True
        self._tolerance = subject.tolerance or self._tolerance_of(subject.sources.files)

    def _measured(self, originals: Backend | None) -> ReferenceRuns:
        subject = self._subject
        if originals is None:
            built = self._backend.build(self.original)
            return measure(self._backend, built, subject.inputs)
        if subject.original is None:
            raise ValueError(f"{subject.name} has no CUDA original")
        built = originals.build(subject.original)
        reference = measure(originals, built, subject.inputs)
        if (more := larger(subject.inputs)) is None:
            return reference
        mode = RunMode(Bounds(wall_seconds=_LARGER_SECONDS))
        runs = measure(originals, built, [more], mode).runs
        usable = tuple(run for run in runs if not run.problem and run.status == 0)
        return replace(reference, runs=(*reference.runs, *usable))

    def _generate(self, originals: Backend | None) -> GeneratedRuns | None:
        """Launches of the original's kernels with generated arguments, where there are any."""
        subject = self._subject
        if originals is None or subject.original is None:
            return None
        if not (kernels := drivable(subject.original, subject.sources)):
            return None
        launches = self._reference.runs[0].launches if self._reference.runs else ()
        try:
            runs = generated_runs(subject.original, kernels, launches or (), originals)
            runs = undisputed(runs, subject.original, self._backend)
            self._driven = self._backend.compile(runs.driven(subject.sources))
        except CompileFailure:
            return None
        return runs if runs.reference.runs else None

    @staticmethod
    def _tolerance_of(files: Mapping[str, bytes]) -> Tolerance:
        return tolerance_for(content.decode("utf-8", "replace") for content in files.values())

    def unchanged(self) -> PortVerification:
        """The verdict on the program as it is; a warning about it says nothing about mutants."""
        result = self.verify(self.original)
        self._warns = bool(result.warnings)
        self._exact = result.exact
        if self._generated is None or not result.passed:
            return result
        alone = self.verify(self._driven, self._generated)
        self._kernels_exact = alone.exact
        return combined(result, alone, self._generated.kernel)

    def verify(self, program: Assembly, generated: GeneratedRuns | None = None) -> PortVerification:
        """``program`` against the unchanged one's runs, or its kernels against ``generated``."""
        policy = Policy(
            tolerance=self._tolerance,
            bounds=self._bounds,
            check=True,
            stop_early=True,
            counterfactual=generated is None,
        )
        reference = generated.reference if generated else self._reference
        built = self._backend.build(program)
        findings = wait_findings(program.device)
        another = None
        if generated is None and program is not self.original:
            another = functools.partial(self._backend.build, self.original)
        return verify(reference, built, self._backend, policy, findings=findings, another=another)

    def mutants(self, generator: random.Random, per_fault: int) -> Iterator[MutantResult]:
        main = str(self._subject.sources.main)
        source = self._subject.sources.files[main].decode("utf-8", "surrogateescape")
        for mutant in draw(source_mutants(source), generator, per_fault):
            content = mutant.text.encode("utf-8", "surrogateescape")
            files = {**self._subject.sources.files, main: content}
            yield self._judge(mutant, replace(self._subject.sources, files=files))
        for mutant in draw(assembly_mutants(self.original.device), generator, per_fault):
            yield self._judge(mutant, Assembly(self.original.host, mutant.text))

    def _judge(self, mutant: Mutant, program: Sources | Assembly) -> MutantResult:
        fate, reason = self._fate(program)
        if fate is Fate.SURVIVED:
            fate, reason = self._fate_of_kernels(mutant, program)
        if fate is Fate.SURVIVED and (
            because := _proof(mutant, self._source) or self._argument(mutant)
        ):
            fate, reason = Fate.EQUIVALENT, because
        return MutantResult(
            program=self._subject.name,
            fault=mutant.fault,
            line=mutant.line,
            change=mutant.change,
            fate=fate,
            reason=reason[:300],
        )

    def _argument(self, mutant: Mutant) -> str:
        """Why ``mutant`` does what the program does; empty where nobody has argued it."""
        device = self.original.device.splitlines()
        if mutant.fault is Fault.ASM_BARRIER:
            line = barrier_at(device, mutant.line)
        elif mutant.fault is Fault.ASM_OPERAND:
            line = f"{mutant.change} in {function_at(device, mutant.line)}"
        else:
            lines = self._source.splitlines()
            line = lines[mutant.line - 1] if mutant.line <= len(lines) else ""
        for equivalent in equivalent_mutants():
            place = (equivalent.program, equivalent.fault)
            if place == (self._subject.name, mutant.fault) and equivalent.line in line:
                return equivalent.because
        return ""

    def _fate(self, program: Sources | Assembly) -> tuple[Fate, str]:
        try:
            texts = self._backend.compile(program)
            if _code(texts) in self._codes:
                return Fate.SAME_CODE, ""
            result = self.verify(texts)
        except CompileFailure as failure:
            return Fate.NOT_BUILT, failure.diagnostic
        return self._fate_by(result, exact=self._exact)

    def _fate_of_kernels(self, mutant: Mutant, program: Sources | Assembly) -> tuple[Fate, str]:
        """The fate of a fault that the program's own inputs do not show: generated ones may."""
        if self._generated is None:
            return Fate.SURVIVED, ""
        try:
            if isinstance(program, Sources):
                texts = self._backend.compile(self._generated.driven(program))
            else:
                texts = Assembly(self._driven.host, _planted(mutant, self._driven, self.original))
            result = self.verify(texts, self._generated)
            return self._fate_by(result, exact=self._kernels_exact)
        except CompileFailure:
            return Fate.SURVIVED, ""

    def _fate_by(self, result: PortVerification, *, exact: bool) -> tuple[Fate, str]:
        """``exact``: whether the program as it is agrees with its reference to the last digit."""
        if not result.ran:
            return Fate.RUN, result.reason
        if not result.numeric:
            return Fate.NUMERIC, result.reason
        if result.device_faults:
            return Fate.CHECK, result.device_faults[0]
        if result.findings:
            return Fate.FINDING, result.reason
        if result.warnings and not self._warns:
            return Fate.CHECK, result.warnings[0]
        return (Fate.SURVIVED, "") if result.exact or not exact else (Fate.EXACT, "")


def barrier_at(lines: Sequence[str], number: int) -> str:
    """Which barrier of which function stands in line ``number`` of assembly."""
    names = [
        (place, line.partition(":")[0])
        for place, line in enumerate(lines, 1)
        if re.match(r"[A-Za-z_]\w*:", line)
    ]
    start, name = max((each for each in names if each[0] <= number), default=(0, ""))
    end = min((place for place, _ in names if place > number), default=len(lines) + 1)
    own = [place for place in range(start + 1, end) if "s_barrier" in lines[place - 1]]
    if number not in own:
        return ""
    return f"barrier {own.index(number) + 1} of {len(own)} in {name}"


def function_at(lines: Sequence[str], number: int) -> str:
    """The function that line ``number`` of assembly belongs to."""
    names = [re.match(r"([A-Za-z_]\w*):", line) for line in lines[:number]]
    return next((name[1] for name in reversed(names) if name), "")


def _proof(mutant: Mutant, source: str) -> str:
    """Why a mutant that survived checking mode does what the program does, where the mode says so.

    It reports every read of device memory that nothing has written; of memory that the host has,
    too, it knows nothing. Where it reports none after an initialization was left out, all that was
    read had been written later.
    """
    shared = "hipMallocManaged" in source or "hipHostMalloc" in source
    if mutant.fault is Fault.INITIALIZATION and not shared:
        return "no run reads what was left uninitialized: all of it is written before it is read"
    return ""


def _planted(mutant: Mutant, driven: Assembly, original: Assembly) -> str:
    """The device code of ``driven`` with the fault that ``mutant`` has in that of ``original``.

    Without it where the kernels' code is not the same line by line: that shows nothing.
    """
    old, new = original.device.splitlines(), mutant.text.splitlines()
    lines = driven.device.splitlines()
    at = mutant.line - 1
    if at >= len(lines) or lines[at] != old[at]:
        return driven.device
    lines[at : at + 1] = new[at : at + 1 + len(new) - len(old)]
    return "\n".join(lines) + "\n"


def _code(program: Assembly) -> tuple[str, str]:
    """What tells two programs apart: comments and line numbers do not."""
    host = "\n".join(
        line for line in program.host.splitlines() if not line.lstrip().startswith(("#", ".loc"))
    )
    return host, rdna3.normalize(program.device)
