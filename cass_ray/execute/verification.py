"""The result of a verification: a record of each run, the grade, and the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cass_ray.config import StrictModel
from cass_ray.execute.backends.base import Execution, Inputs
from cass_ray.execute.comparison.compare import OutputComparison
from cass_ray.execute.evidence.counters import KernelCoverage
from cass_ray.execute.evidence.exploits import ExploitFinding
from cass_ray.execute.grades import Grade
from cass_ray.toolchain.sandbox.executable import SandboxVerdict

_NOTHING_LAUNCHED = "no kernel was launched on either side"
MOVES_OTHERWISE = "it moves data in another way than the original"
"""Why no change could be made on both sides: what a port does, not what an original lacks."""
_UNDECIDED = (
    "nothing that the original prints or copies back depends on the device: "
    "let it print a checksum of its results"
)


class RunRecord(StrictModel):
    """The candidate on one input."""

    arguments: list[str]
    stdin_bytes: int = 0
    folder: str = ""
    """Name of the folder whose files it found where it ran, if it was given one."""
    made_up: bool = False
    """Whether the arguments are ours: a size for a program that takes one and was given none."""
    kernel: str = ""
    """The one kernel that was launched, where the arguments were made up for it."""
    verdict: SandboxVerdict
    status: int
    exact: bool
    numeric: bool
    max_error: float = 0.0
    mean_error: float = 0.0
    floats: int = 0
    rounded: int = 0
    freed: list[str] = []
    varying: list[str] = []
    difference: str = ""
    seconds: float = 0.0
    peak_memory_bytes: int = 0
    launches: list[str] = []
    reference_launches: int | None = None
    """Launches of the original on this input; None where they are not known."""
    failed_launches: list[str] = []
    """Kernels of the original all of whose launches fail."""
    by_chance: str = ""
    """Why what agrees shows little: it is other data in each run of the original, or where waves
    take turns in another order."""
    perturbations: int = 0
    """Changes under which it agreed with the original, and which move what the original prints."""
    same_data: int = 0
    """Bytes that kernels wrote and both programs brought back alike."""
    results: bool = False
    """Whether it prints more than what a check of its own says
    (:mod:`cass_ray.execute.answers`)."""
    undecided: str = ""
    """Why nothing shows that its output comes from the device."""
    disputed: list[str] = []
    """Changes under which it differs from the original and so does another port, or which other
    changes of inputs speak against: what the original then does is not defined."""
    stdout: str = ""
    """The first bytes that it printed, as Latin-1 text, where the policy keeps any."""
    stderr: str = ""
    """The last bytes of its standard error, in the same way."""

    @property
    def given(self) -> str:
        """What it ran on, in words."""
        arguments = " ".join(self.arguments) or "no arguments"
        if self.kernel:
            return f"{self.kernel} alone, generated arguments {arguments}"
        parts = [f"the size {arguments} of our choice" if self.made_up else arguments]
        if self.stdin_bytes:
            parts.append(f"{self.stdin_bytes} bytes on standard input")
        if self.folder:
            parts.append(f"files of {self.folder}")
        return ", ".join(parts)


class PortVerification(StrictModel):
    """The result: what ran where, both verdicts, what was found, what was covered."""

    ran: bool
    """Every input was run and the candidate ended by itself with status 0."""
    exact: bool
    numeric: bool
    grade: Grade
    passed: bool
    """Whether the grade is ``verified``."""
    runs: list[RunRecord]
    findings: list[ExploitFinding] = []
    problem: str = ""
    """Why there is no verdict: the reference itself fails, or there is none."""
    reference: str
    reference_kind: str = "none"
    """``gpu``, ``stored``, ``lifted sm_90``, ``given``, ``emulator``, ``translation`` or ``none``:
    see :class:`~cass_ray.execute.references.ReferenceRuns`."""
    independent: bool = False
    """Whether no translation of ours made the reference."""
    passed_over: list[str] = []
    """Why better references could not be had."""
    candidate: str
    observed_by: str = ""
    """Who took launches and counters: the device process, or a recorder in the program's own."""
    tolerance: str
    max_error: float = 0.0
    mean_error: float = 0.0
    coverage: KernelCoverage = KernelCoverage()
    device_faults: list[str] = []
    """What checking mode found: races, reads of unwritten memory, accesses out of bounds."""
    warnings: list[str] = []
    """What checking mode found that a right program may do as well: writes that chance orders."""
    generated: str = ""
    """Of a program without inputs: what its kernels were launched on beside it, or why not."""

    @property
    def reason(self) -> str:
        """The first thing that is wrong, in words; empty when it passed."""
        if self.problem:
            return self.problem
        for run in self.runs:
            if not run.numeric:
                return f"with {run.given}: {run.difference}"
        if self.findings:
            return "; ".join(finding.message for finding in self.findings)
        return "" if self.passed else self.weakness

    weakness: str = ""
    """The reason why a port whose outputs agree is not verified."""

    @property
    def agrees(self) -> bool:
        """Whether its outputs agree with the reference's, whatever that shows."""
        return self.grade in (Grade.VERIFIED, Grade.AGREES)

    @property
    def perturbations(self) -> int:
        """Changes under which it agreed, over all inputs."""
        return sum(run.perturbations for run in self.runs)


def graded(
    records: Sequence[RunRecord], right: bool, problem: str, independent: bool
) -> tuple[Grade, str]:
    """The grade, and what keeps it from being the best one."""
    if problem:
        return Grade.CANNOT_TELL, problem
    if not right:
        return Grade.DIFFERS, ""
    for each in records:
        if each.failed_launches:
            names = ", ".join(each.failed_launches)
            message = f"with {each.given}: each launch of {names} fails in the original, too"
            return Grade.CANNOT_TELL, message
    launching = [each for each in records if each.launches or each.reference_launches]
    asked = [each for each in launching if not each.made_up]
    if not asked:
        return Grade.CANNOT_TELL, _NOTHING_LAUNCHED
    if not independent:
        return Grade.AGREES, "the reference is a translation of the original"
    weak = [each for each in asked if not each.perturbations and not each.same_data]
    if not weak:
        chance = next((each for each in records if each.by_chance), None)
        if chance is None:
            return Grade.VERIFIED, ""
        return Grade.AGREES, f"with {chance.given}: {chance.by_chance}"
    message = f"with {weak[0].given}: {weak[0].undecided or _UNDECIDED}"
    return (Grade.CANNOT_TELL if len(weak) == len(asked) else Grade.AGREES), message


def combined(
    whole: PortVerification, kernels: PortVerification, kernel_of: Callable[[Sequence[str]], str]
) -> PortVerification:
    """The verdict on a program and on its kernels alone, in one: both must be right.

    ``kernel_of`` says which kernel the arguments of a run were made up for.
    """
    alone = [run.model_copy(update={"kernel": kernel_of(run.arguments)}) for run in kernels.runs]
    return whole.model_copy(
        update={
            "ran": whole.ran and kernels.ran,
            "exact": whole.exact and kernels.exact,
            "numeric": whole.numeric and kernels.numeric,
            "grade": whole.grade if kernels.numeric and not kernels.findings else Grade.DIFFERS,
            "passed": whole.passed and kernels.numeric and not kernels.findings,
            "runs": [*whole.runs, *alone],
            "findings": [*whole.findings, *kernels.findings],
            "max_error": max(whole.max_error, kernels.max_error),
            "device_faults": [*whole.device_faults, *kernels.device_faults],
            "warnings": [*whole.warnings, *kernels.warnings],
        }
    )


def record_of(
    inputs: Inputs,
    execution: Execution,
    comparison: OutputComparison,
    kept_output: int = 0,
) -> RunRecord:
    """``execution`` on ``inputs``, with the first ``kept_output`` bytes of what it printed."""
    ended = execution.ended
    return RunRecord(
        arguments=list(inputs.arguments),
        stdin_bytes=len(inputs.stdin),
        folder=inputs.folder.name if inputs.folder else "",
        verdict=ended.verdict,
        status=ended.status,
        exact=comparison.exact,
        numeric=comparison.numeric,
        max_error=comparison.max_error,
        mean_error=comparison.mean_error,
        floats=comparison.floats,
        rounded=comparison.rounded,
        freed=list(comparison.freed),
        varying=list(comparison.varying),
        difference=comparison.difference,
        seconds=ended.wall_seconds,
        peak_memory_bytes=ended.peak_memory_bytes,
        launches=[launch.format() for launch in execution.launches],
        stdout=ended.stdout[:kept_output].decode("latin-1"),
        stderr=ended.stderr[-kept_output:].decode("latin-1") if kept_output else "",
    )
