"""The port's programs beside the original's: each run of the tests, one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from cass_ray.config import StrictModel
from cass_ray.execute.comparison.compare import Tolerance, compare
from cass_ray.execute.grades import Grade
from cass_ray.project.reference.recording import ProgramRun

NO_REFERENCE = "none"


class RunVerdict(StrEnum):
    """How one run of the port compares with the original's."""

    EXACT = "exact"
    NUMERIC = "numeric"
    """The same but for floats within the tolerance, and what varies by itself."""
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    """One side has no such run, or no whole one."""


class ComparedRun(StrictModel):
    """One run. ``why`` says what differs, or why nothing is decided."""

    command: str
    folder: str
    verdict: RunVerdict
    why: str = ""


class OriginalRuns(StrictModel):
    """What the project itself did: the runs of its programs each time that its tests ran.

    ``kind`` is ``lifted sm_90``, or ``none``; ``problem`` then says why.
    """

    kind: str
    problem: str = ""
    unbuilt: bool = False
    """Whether it does not build with nvcc here."""
    identity: str = ""
    """What compiled it, and what executed it."""
    tests: str = ""
    """How its own tests ended."""
    launches: int = 0
    passes: tuple[tuple[ProgramRun, ...], ...] = ()
    lacking: dict[str, str] = {}
    """By program: libraries that it needs and lifted programs do not have."""


class ProjectComparison(StrictModel):
    """All runs of a port on one target against those of the original."""

    reference: str
    problem: str = ""
    identity: str = ""
    tests: str = ""
    """How the original's own tests ended."""
    tolerance: str = ""
    runs: tuple[ComparedRun, ...] = ()

    @property
    def agreeing(self) -> int:
        """Runs that print what the original prints."""
        return self._number(RunVerdict.EXACT) + self._number(RunVerdict.NUMERIC)

    @property
    def differing(self) -> int:
        return self._number(RunVerdict.DIFFERS)

    @property
    def undecided(self) -> int:
        return self._number(RunVerdict.UNDECIDED)

    def _number(self, verdict: RunVerdict) -> int:
        return sum(run.verdict is verdict for run in self.runs)

    @property
    def grade(self) -> Grade:
        """Never ``verified``: no run is made under changes of data."""
        if self.differing:
            return Grade.DIFFERS
        decided = self.reference != NO_REFERENCE and self.agreeing
        return Grade.AGREES if decided else Grade.CANNOT_TELL

    @property
    def summary(self) -> str:
        """One line: the figures and the reference, or why there is none, and the grade."""
        if self.reference == NO_REFERENCE or not self.agreeing + self.differing:
            return f"reference: none ({self.problem or self._reasons()}): {self.grade}"
        text = f"{self.agreeing} of {len(self.runs)} runs print what the original prints"
        if self.differing:
            text += f", {self.differing} differ"
        if self.undecided:
            text += f", {self.undecided} undecided"
        return f"{text} (reference: {self.reference}): {self.grade}"

    def _reasons(self) -> str:
        counted = Counter(run.why for run in self.runs)
        return "; ".join(why for why, _ in counted.most_common(3)) or "no run to compare"


def compare_runs(
    original: OriginalRuns, port: Sequence[ProgramRun], launches: int, tolerance: Tolerance
) -> ProjectComparison:
    """Hold the runs of a port, in which kernels were launched ``launches`` times, against the
    original's."""
    if original.kind == NO_REFERENCE:
        return ProjectComparison(reference=NO_REFERENCE, problem=original.problem)
    passes = [_by_key(runs) for runs in original.passes]
    runs: list[ComparedRun] = []
    for key, found in _by_key(port).items():
        references = [each.get(key, []) for each in passes]
        for number, run in enumerate(found):
            alike = [each[number] for each in references if number < len(each)]
            verdict, why = _judged(run, alike, len(passes), original.lacking, tolerance)
            if not launches and verdict in (RunVerdict.EXACT, RunVerdict.NUMERIC):
                verdict, why = RunVerdict.DIFFERS, "the port launches no kernel"
            runs.append(_compared(run, verdict, why))
    ran = {key: len(found) for key, found in _by_key(port).items()}
    for key, found in passes[0].items() if passes else ():
        missing = found[ran.get(key, 0) :]
        why = "the port did not run it"
        runs += [_compared(run, RunVerdict.UNDECIDED, why) for run in missing]
    return ProjectComparison(
        reference=original.kind,
        identity=original.identity,
        tests=original.tests,
        tolerance=tolerance.format(),
        runs=tuple(runs),
    )


def _compared(run: ProgramRun, verdict: RunVerdict, why: str) -> ComparedRun:
    return ComparedRun(command=run.command, folder=run.folder, verdict=verdict, why=why)


def _by_key(
    runs: Iterable[ProgramRun],
) -> Mapping[tuple[str, tuple[str, ...], str], list[ProgramRun]]:
    found: dict[tuple[str, tuple[str, ...], str], list[ProgramRun]] = defaultdict(list)
    for run in runs:
        found[run.key].append(run)
    return found


def _judged(
    run: ProgramRun,
    references: Sequence[ProgramRun],
    passes: int,
    lacking: Mapping[str, str],
    tolerance: Tolerance,
) -> tuple[RunVerdict, str]:
    """The verdict on ``run`` against each of the original's runs of the same command."""
    if problem := _unusable(references, passes, lacking.get(run.program, "")):
        return RunVerdict.UNDECIDED, problem
    if not run.status:
        return RunVerdict.UNDECIDED, "the port was ended before it was done"
    if not run.whole:
        return RunVerdict.UNDECIDED, "the port prints more than is kept"
    if run.status != references[0].status:
        return RunVerdict.DIFFERS, f"{run.status} instead of {references[0].status}"
    outputs = [each.stdout.encode("latin-1") for each in references]
    made = compare(outputs, run.stdout.encode("latin-1"), tolerance)
    if made.exact:
        return RunVerdict.EXACT, ""
    return (RunVerdict.NUMERIC, "") if made.numeric else (RunVerdict.DIFFERS, made.difference)


def _unusable(references: Sequence[ProgramRun], passes: int, lacking: str) -> str:
    """Why the original's runs are no reference; empty where they are one."""
    if len(references) < passes or not references:
        return lacking or "the original was not run so"
    for run in references:
        if run.refused:
            return f"the original lacks when lifted: {run.refused}"
        if run.status != "exit 0":
            ended = run.status or "ended from outside"
            return lacking or f"the original itself fails when lifted ({ended})"
        if not run.whole:
            return "the original prints more than is kept"
    return ""
