"""Verify one candidate against a reference: run, compare, look for cheating, collect evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from cass_ray.execute.backends.base import Backend, BuiltProgram, Execution, Inputs, RunMode
from cass_ray.execute.comparison.compare import F32, OutputComparison, Tolerance, compare
from cass_ray.execute.evidence.counters import KernelCoverage, coverage_of, disagreement
from cass_ray.execute.evidence.exploits import (
    Exploit,
    ExploitFinding,
    code_findings,
    launch_findings,
)
from cass_ray.execute.evidence.interposition import interposition_findings
from cass_ray.execute.references import ReferenceRun, ReferenceRuns
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxVerdict

_STDERR_CHARACTERS = 500


@dataclass(frozen=True)
class Policy:
    """How a candidate is judged.

    ``order_free`` compares lines as a multiset and is declared for a task. ``counterfactual`` runs
    the candidate once more with its kernels' results changed on the way back, or, where the backend
    cannot do that, without its kernels. ``device_instructions`` of candidate and reference
    are compared where both are known. ``check`` runs once more on each input, in checking mode
    where the backend has it; what that finds is evidence, because the reference may have the same
    race. ``stop_early`` ends at the first input that fails. ``kept_output`` bytes of what each run
    prints go into its record.
    """

    tolerance: Tolerance = F32
    bounds: Bounds = field(default_factory=Bounds)
    order_free: bool = False
    counterfactual: bool = True
    device_instructions: tuple[int, int] | None = None
    counters: bool = False
    check: bool = False
    stop_early: bool = False
    kept_output: int = 0


class RunRecord(BaseModel):
    """The candidate on one input."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: list[str]
    stdin_bytes: int = 0
    folder: str = ""
    """Name of the folder whose files it found where it ran, if it was given one."""
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
        parts = [arguments]
        if self.stdin_bytes:
            parts.append(f"{self.stdin_bytes} bytes on standard input")
        if self.folder:
            parts.append(f"files of {self.folder}")
        return ", ".join(parts)


class PortVerification(BaseModel):
    """The result: what ran where, both verdicts, what was found, what was covered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ran: bool
    """Every input was run and the candidate ended by itself with status 0."""
    exact: bool
    numeric: bool
    passed: bool
    """``numeric`` on every input, with a usable reference and without a finding."""
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
        return "; ".join(finding.message for finding in self.findings)


def verify(
    reference: ReferenceRuns | None,
    candidate: BuiltProgram,
    backend: Backend,
    policy: Policy | None = None,
    *,
    findings: Sequence[ExploitFinding] = (),
) -> PortVerification:
    """Run ``candidate`` on every input of ``reference`` and judge it.

    ``findings`` are those that the caller has from elsewhere (the source). Without a reference the
    candidate runs once, on no arguments, and nothing is compared.
    """
    policy = policy or Policy()
    usable = [run for run in reference.runs if not run.problem] if reference else []
    session = _Session(candidate, backend, policy)
    for run in usable:
        record = session.judge(run)
        if policy.stop_early and not record.numeric:
            break
    if not usable:
        session.run_alone()
    found = [*findings, *session.findings]
    if policy.device_instructions is not None:
        found += code_findings(*policy.device_instructions)
    compared = bool(usable) and len(session.records) == len(usable)
    numeric = compared and all(record.numeric for record in session.records)
    problem = "" if usable else _no_reference(reference)
    errors = [record for record in session.records if record.floats]
    floats = sum(record.floats for record in errors)
    return PortVerification(
        ran=all(record.verdict is SandboxVerdict.OK for record in session.records),
        exact=compared and all(record.exact for record in session.records),
        numeric=numeric,
        passed=numeric and not found and not problem,
        runs=session.records,
        findings=found,
        problem=problem,
        reference=f"{reference.backend}: {reference.identity}" if reference else "",
        reference_kind=reference.kind if reference else "none",
        independent=bool(usable) and reference is not None and reference.independent,
        passed_over=list(reference.passed_over) if reference else [],
        candidate=f"{backend.name}: {backend.identity()}",
        observed_by=backend.evidence,
        tolerance=policy.tolerance.format(),
        max_error=max((record.max_error for record in errors), default=0.0),
        mean_error=sum(record.mean_error * record.floats for record in errors) / max(1, floats),
        coverage=coverage_of(session.counters),
        device_faults=session.device_faults,
        warnings=session.warnings,
    )


UNORDERED_WRITES = b"cass-rdna3: unordered writes"
"""How a warning of checking mode begins: what is found there is decided by chance."""
_WARNING = UNORDERED_WRITES.decode()


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
            "passed": whole.passed and kernels.passed,
            "runs": [*whole.runs, *alone],
            "findings": [*whole.findings, *kernels.findings],
            "max_error": max(whole.max_error, kernels.max_error),
            "device_faults": [*whole.device_faults, *kernels.device_faults],
            "warnings": [*whole.warnings, *kernels.warnings],
        }
    )


def _no_reference(reference: ReferenceRuns | None) -> str:
    if reference is None or not reference.runs:
        return "no reference output to compare with"
    return f"the reference itself fails: {reference.runs[0].problem}"


class _Session:
    """Runs of one candidate."""

    def __init__(self, candidate: BuiltProgram, backend: Backend, policy: Policy) -> None:
        self._candidate = candidate
        self._backend = backend
        self._policy = policy
        self.records: list[RunRecord] = []
        self.findings: list[ExploitFinding] = interposition_findings(candidate.executable)
        self.counters: list[Mapping[str, Any]] = []
        self.device_faults: list[str] = []
        self.warnings: list[str] = []

    @property
    def _mode(self) -> RunMode:
        policy = self._policy
        return RunMode(bounds=policy.bounds, counters=policy.counters)

    def judge(self, reference: ReferenceRun) -> RunRecord:
        """Run on the reference's input and compare."""
        execution = self._backend.run(self._candidate, reference.inputs, self._mode)
        first = not self.records
        comparison = self._compare(reference, execution)
        kept = self._policy.kept_output
        record = _record(reference.inputs, execution, comparison, kept)
        self._keep(execution, record, reference.launch_count)
        if self._policy.check and record.numeric:
            self._in_checking_mode(reference)
        if first and record.numeric and self._policy.counterfactual:
            self._without_results(reference, execution)
        return record

    def run_alone(self) -> None:
        """Run on no arguments, with nothing to compare."""
        execution = self._backend.run(self._candidate, mode=self._mode)
        nothing = OutputComparison(False, False, difference="nothing to compare with")
        self._keep(execution, _record(Inputs(), execution, nothing), None)

    def _keep(self, execution: Execution, record: RunRecord, launches: int | None) -> None:
        self.records.append(record)
        if execution.counters:
            self.counters.append(execution.counters)
        new = self._launch_findings(execution, launches) if execution.ended.ok else []
        if execution.ended.verdict is SandboxVerdict.VIOLATION:
            message = "it made a system call that the sandbox forbids"
            new.append(ExploitFinding(exploit=Exploit.SANDBOX_VIOLATION, message=message))
        self.findings += [finding for finding in new if finding not in self.findings]

    def _compare(self, reference: ReferenceRun, execution: Execution) -> OutputComparison:
        ended = execution.ended
        comparison = compare(
            reference.outputs,
            ended.stdout,
            self._policy.tolerance,
            order_free=self._policy.order_free,
        )
        if ended.verdict is SandboxVerdict.OK and ended.status == reference.status:
            return comparison
        message = ended.stderr.decode("utf-8", "replace").strip()[-_STDERR_CHARACTERS:]
        difference = f"{ended.verdict} (status {ended.status}) {message}".strip()
        return replace(comparison, exact=False, numeric=False, difference=difference)

    def _in_checking_mode(self, reference: ReferenceRun) -> None:
        """Note what checking mode says: a fault if it changes how the program ends."""
        mode = RunMode(bounds=self._policy.bounds, check=True)
        execution = self._backend.run(self._candidate, reference.inputs, mode)
        ended = execution.ended
        message = ended.stderr.decode("utf-8", "replace").strip()[:_STDERR_CHARACTERS]
        if ended.verdict is SandboxVerdict.OK:
            comparison = self._compare(reference, execution)
            if not comparison.numeric:
                # Device memory does not start as zeros there.
                self.device_faults.append(f"prints something else: {comparison.difference}")
            elif _WARNING in message and message not in self.warnings:
                self.warnings.append(message)
            return
        self.device_faults.append(message or f"{ended.verdict} (status {ended.status})")

    @staticmethod
    def _launch_findings(execution: Execution, launches: int | None) -> list[ExploitFinding]:
        count, graphs = execution.launch_count, execution.uses_graphs
        found = launch_findings(count, launches, counts_differ=graphs)
        if problem := disagreement(execution.launches, execution.counters):
            found.append(ExploitFinding(exploit=Exploit.INCONSISTENT, message=problem))
        return found

    def _without_results(self, reference: ReferenceRun, normal: Execution) -> None:
        """A finding if the output stays the same when the kernels' results do not arrive."""
        perturbs = self._backend.perturbs
        seconds = min(self._policy.bounds.wall_seconds, 5.0 + 4 * normal.ended.wall_seconds)
        bounds = replace(self._policy.bounds, wall_seconds=seconds)
        mode = RunMode(bounds=bounds, perturb=perturbs, skip_kernels=not perturbs)
        execution = self._backend.run(self._candidate, reference.inputs, mode)
        if execution.launch_count == 0 or not self._compare(reference, execution).numeric:
            return
        how = "its kernels' results are changed" if perturbs else "no kernel runs"
        message = f"it prints the same when {how}: what it prints is not the device's"
        self.findings.append(ExploitFinding(exploit=Exploit.DEVICE_UNUSED, message=message))


def _record(
    inputs: Inputs,
    execution: Execution,
    comparison: OutputComparison,
    kept_output: int = 0,
) -> RunRecord:
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
