"""Verify one candidate against a reference: run, compare, look for cheating, collect evidence."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cass_ray.emulator.perturbation import EVERYWHERE, RESULTS, Perturbation, Where
from cass_ray.emulator.transcript import Transcript
from cass_ray.execute.backends.base import Backend, BuiltProgram, Execution, Inputs, RunMode
from cass_ray.execute.chance import (
    RACE,
    RACES,
    UNORDERED_WRITES,
    WARNING,
    agreement_but_for_order,
    drawn_again,
    is_told,
    order_decides,
    varies,
)
from cass_ray.execute.comparison.compare import F32, OutputComparison, Tolerance, compare
from cass_ray.execute.differential import Agreement, PerturbedRun, agreement
from cass_ray.execute.evidence.counters import coverage_of
from cass_ray.execute.evidence.exploits import (
    Exploit,
    ExploitFinding,
    code_findings,
    launch_findings,
)
from cass_ray.execute.evidence.interposition import interposition_findings
from cass_ray.execute.evidence.returned_data import (
    DataComparison,
    DataVerdict,
    aligned,
    brings_back_part_of_a_word,
    compare_returned,
)
from cass_ray.execute.grades import Grade
from cass_ray.execute.limits import Needed, at_least, in_checking_mode, out_of_time, several
from cass_ray.execute.references import ReferenceRun, ReferenceRuns
from cass_ray.execute.said import said
from cass_ray.execute.verification import (
    MOVES_OTHERWISE,
    PortVerification,
    RunRecord,
    graded,
    record_of,
)
from cass_ray.printable import last_lines
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxVerdict

_STDERR_CHARACTERS = 500
_NO_DATA = DataComparison(DataVerdict.UNKNOWN)


@dataclass(frozen=True)
class Policy:
    """How a candidate is judged.

    ``order_free`` compares lines as a multiset and is declared for a task. ``counterfactual`` runs
    the candidate again under the changes that its reference ran under; where there are none, with
    all of its results set to zero, or on a GPU without its kernels. ``most_changes`` bounds how
    many are made for each input. ``device_instructions`` of
    candidate and reference are compared where both are known. ``check`` runs once more on each
    input, in checking mode where the backend has it; what that finds is evidence, because the
    reference may have the same race. ``stop_early`` ends at the first input that fails.
    ``kept_output`` bytes of what each run prints go into its record.
    """

    tolerance: Tolerance = F32
    bounds: Bounds = field(default_factory=Bounds)
    order_free: bool = False
    counterfactual: bool = True
    most_changes: int | None = None
    device_instructions: tuple[int, int] | None = None
    counters: bool = False
    check: bool = False
    stop_early: bool = False
    kept_output: int = 0


def verify(
    reference: ReferenceRuns | None,
    candidate: BuiltProgram,
    backend: Backend,
    policy: Policy | None = None,
    *,
    findings: Sequence[ExploitFinding] = (),
    another: Callable[[], BuiltProgram | None] | None = None,
) -> PortVerification:
    """Run ``candidate`` on every input of ``reference`` and judge it.

    ``findings`` are those that the caller has from elsewhere (the source). ``another`` gives a port
    of the original that the candidate's author has no part in, where there is one: it is asked
    where the candidate differs under a change alone. Without a reference the candidate runs once,
    on no arguments, and nothing is compared.
    """
    policy = policy or Policy()
    usable = [run for run in reference.runs if not run.problem] if reference else []
    has_changes = reference is not None and reference.has_changes
    session = _Session(candidate, backend, policy, has_changes, another)
    for run in usable:
        record = session.judge(run)
        if policy.stop_early and not record.numeric:
            break
    session.settle()
    if not usable:
        session.run_alone()
    all_findings = [*findings, *session.findings]
    if policy.device_instructions is not None:
        all_findings += code_findings(*policy.device_instructions)
    compared = bool(usable) and len(session.records) == len(usable)
    numeric = compared and all(record.numeric for record in session.records)
    problem = ""
    if not usable and reference and reference.runs:
        problem = f"the reference itself fails: {reference.problem}"
    elif not usable:
        problem = "no reference output to compare with"
    errors = [record for record in session.records if record.floats]
    floats = sum(record.floats for record in errors)
    independent = bool(usable) and reference is not None and reference.independent
    grade, weakness = graded(session.records, numeric and not all_findings, problem, independent)
    return PortVerification(
        ran=all(record.verdict is SandboxVerdict.OK for record in session.records),
        exact=compared and all(record.exact for record in session.records),
        numeric=numeric,
        grade=grade,
        weakness=weakness,
        passed=grade is Grade.VERIFIED,
        runs=session.records,
        findings=all_findings,
        problem=problem,
        reference=f"{reference.backend}: {reference.identity}" if reference else "",
        reference_kind=reference.kind if reference else "none",
        independent=independent,
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


class _Session:
    """Runs of one candidate."""

    def __init__(
        self,
        candidate: BuiltProgram,
        backend: Backend,
        policy: Policy,
        has_changes: bool,
        another: Callable[[], BuiltProgram | None] | None,
    ) -> None:
        self._candidate = candidate
        self._another = functools.cache(another) if another else lambda: None
        self._agrees_on_inputs = False
        self._differs_on_inputs: list[tuple[int, str]] = []
        self._has_changes = has_changes
        self._backend = backend
        self._policy = policy
        self._bounds = policy.bounds
        self._data_seen = _NO_DATA
        self.records: list[RunRecord] = []
        self.findings: list[ExploitFinding] = interposition_findings(candidate.executable)
        self.counters: list[Mapping[str, Any]] = []
        self.device_faults: list[str] = []
        self.warnings: list[str] = []

    @property
    def _mode(self) -> RunMode:
        policy = self._policy
        transcript = policy.counterfactual and self._backend.perturbs
        return RunMode(bounds=self._bounds, counters=policy.counters, transcript=transcript)

    def judge(self, reference: ReferenceRun) -> RunRecord:
        """Run on the reference's input and compare."""
        races = order_decides(reference, self._policy.tolerance, self._policy.order_free)
        if races:
            outputs = (*reference.outputs, *reference.in_another_order)
            reference = replace(reference, outputs=outputs, perturbed=(), transcripts=())
        self._bounds = at_least(self._policy.bounds, reference.needed)
        mode = replace(self._mode, same_draws=reference.same_draws)
        execution = self._backend.run(self._candidate, reference.inputs, mode)
        data = self._data_seen = self._data(reference, execution)
        comparison = self._compare(reference, execution, data)
        if races and not comparison.numeric:
            comparison = self._but_for_its_own_race(reference, execution, comparison)
        by_chance = RACES if races else drawn_again(reference, self._policy.tolerance)
        record = record_of(reference.inputs, execution, comparison, self._policy.kept_output)
        record = record.model_copy(
            update={
                "made_up": reference.made_up,
                "reference_launches": reference.launch_count,
                "failed_launches": reference.failed_launches,
                "same_data": data.compared if data.same and not by_chance else 0,
                "results": reference.prints_results,
                "by_chance": by_chance,
                "undecided": RACES if races else "",
            }
        )
        changes = self._policy.counterfactual and not (reference.made_up or races)
        if record.numeric and changes:
            record = self._under_changes(reference, execution, record)
            if data.verdict is DataVerdict.DIFFERENT:
                self._find(Exploit.RETURNED_DATA, f"with {record.given}: {data.difference}")
        if record.numeric and changes and not self.records:
            self._elsewhere(reference, data)
        self._keep(execution, record, reference.launch_count)
        if self._policy.check and record.numeric:
            self._in_checking_mode(reference, execution, data)
            if not races:
                self._in_another_order(reference, execution, data)
        return record

    def _data(self, reference: ReferenceRun, execution: Execution) -> DataComparison:
        if not reference.transcripts or execution.transcript is None:
            return _NO_DATA
        return compare_returned(reference.transcripts, execution.transcript, self._policy.tolerance)

    def _find(self, exploit: Exploit, message: str) -> None:
        finding = ExploitFinding(exploit=exploit, message=message)
        if finding not in self.findings:
            self.findings.append(finding)

    def _under_changes(
        self, reference: ReferenceRun, execution: Execution, record: RunRecord
    ) -> RunRecord:
        """Run under the changes that the original ran under, and note how it stands."""
        if not (self._has_changes and self._backend.perturbs):
            return self._without_results(reference, execution, record)
        alike = bool(reference.transcripts) and execution.transcript is not None
        alike = alike and aligned(reference.transcripts[0], execution.transcript or Transcript())
        kernels = reference.transcripts[0].kernels if reference.transcripts else ()
        as_often = execution.launch_count == len(kernels)
        # When the host's writes are seen is then a matter of time, and so is what a change meets.
        timed = any(each.shares_memory for each in reference.transcripts)
        agreed, undecided = 0, ""
        between: tuple[Exploit, str] | None = None
        own_difference = False  # which time does not explain
        disputed: list[str] = []
        for run in reference.perturbed[: self._policy.most_changes]:
            everywhere = run.perturbation.where in EVERYWHERE
            if not alike and not everywhere:
                continue
            if run.perturbation.where is Where.BETWEEN and not as_often:
                continue  # another launch has its number
            stands, difference = self._stands(self._candidate, reference, run, execution)
            of_inputs = run.perturbation.where in (Where.IN, Where.IN_ALL)
            if stands is Agreement.AGREES:
                told = run.moved and is_told(reference, run, self._policy.tolerance)
                agreed += told
                self._agrees_on_inputs |= of_inputs and told
                continue
            where = f"with {record.given} and {run.perturbation.format()}"
            if stands is Agreement.UNMOVED:
                message = f"{where} it prints the same, where the original prints something else"
                if run.perturbation.where is Where.BETWEEN:
                    between = Exploit.DEVICE_UNUSED, message
                    continue
                self._find(Exploit.DEVICE_UNUSED, message)
            elif timed:
                undecided = "what it prints under changes is a matter of time"
                other = self._another()
                by_time = other is not None and (
                    self._stands(other, reference, run, execution)[0] is Agreement.DIFFERS
                )
                own_difference |= not by_time
                continue
            elif (
                not alike
                and run.perturbation.where is Where.OUT_WIDE
                and reference.transcripts
                and (moved := execution.transcript) is not None
                and brings_back_part_of_a_word(reference.transcripts[0], moved)
            ):
                message = "part of a word comes back that the original brings back whole"
                self._find(Exploit.PERTURBED, f"{where}: {difference} ({message})")
            elif not alike:
                undecided = MOVES_OTHERWISE
                continue
            elif (other := self._another()) is not None:
                if self._stands(other, reference, run, execution)[0] is Agreement.DIFFERS:
                    disputed.append(run.perturbation.format())
                    continue
                self._find(Exploit.PERTURBED, f"{where}: {difference}")
            elif of_inputs:
                self._differs_on_inputs.append((len(self.records), f"{where}: {difference}"))
                continue
            elif run.perturbation.where is Where.BETWEEN:
                between = Exploit.PERTURBED, f"{where}: {difference}"
                continue
            else:
                self._find(Exploit.PERTURBED, f"{where}: {difference}")
            break
        if between and not (agreed and record.same_data):
            # What breaks an invariant between kernels can make their order show, and so can streams
            # whose copies come before or after it: alone it is no finding where inputs, results and
            # the data themselves agree.
            self._find(*between)
        if (undecided and not timed) or own_difference:
            agreed = 0
        returns = any(each.written for each in reference.transcripts)
        if not (agreed or undecided) and (returns or any(e.moved for e in reference.perturbed)):
            undecided = record.by_chance
        return record.model_copy(
            update={"perturbations": agreed, "undecided": undecided, "disputed": disputed}
        )

    def _stands(
        self, port: BuiltProgram, reference: ReferenceRun, run: PerturbedRun, normal: Execution
    ) -> tuple[Agreement, str]:
        policy = self._policy
        how: dict[str, object] = {"tolerance": policy.tolerance, "order_free": policy.order_free}
        how["drawn"] = varies(reference, policy.tolerance)
        if run.perturbation.where in RESULTS:
            # They agreed before they were changed, but for their rounding.
            how["same_data"] = self._data_seen.same_as_far_as_kept
            how["data_size"] = self._data_seen.size
        mode = replace(self._mode, same_draws=reference.same_draws)
        needed = Needed.most(reference.needed, normal.ended)
        where = self._backend, port, reference.inputs, mode
        return agreement(run, *where, normal.ended, needed, how)

    def settle(self) -> None:
        """Judge differences under changed inputs, where no other port was there to be asked.

        Changed inputs may be none that the original has a result for: shifts by negative numbers,
        divisors of zero. One that agrees under some of them has that excuse.
        """
        for number, message in self._differs_on_inputs:
            if self._agrees_on_inputs:
                record = self.records[number]
                update = {"disputed": [*record.disputed, message]}
                self.records[number] = record.model_copy(update=update)
            else:
                self._find(Exploit.PERTURBED, message)

    def run_alone(self) -> None:
        """Run on no arguments, with nothing to compare."""
        execution = self._backend.run(self._candidate, mode=self._mode)
        nothing = OutputComparison(False, False, difference="nothing to compare with")
        self._keep(execution, record_of(Inputs(), execution, nothing), None)

    def _keep(self, execution: Execution, record: RunRecord, launches: int | None) -> None:
        self.records.append(record)
        self.counters += [execution.counters] if execution.counters else []
        launched = launch_findings(execution.launches, execution.counters, launches)
        new = [*launched] if execution.ended.ok else []
        if execution.ended.verdict is SandboxVerdict.VIOLATION:
            message = "it made a system call that the sandbox forbids"
            new.append(ExploitFinding(exploit=Exploit.SANDBOX_VIOLATION, message=message))
        self.findings += [finding for finding in new if finding not in self.findings]

    def _compare(
        self,
        reference: ReferenceRun,
        execution: Execution,
        data: DataComparison = _NO_DATA,
        *,
        drawn: bool = False,
    ) -> OutputComparison:
        ended = execution.ended
        comparison = compare(
            reference.outputs,
            said(ended) if reference.with_files else ended.stdout,
            self._policy.tolerance,
            order_free=self._policy.order_free,
            varied=reference.varied,
            same_data=data.same_as_far_as_kept,
            data_size=data.size,
            drawn=drawn or varies(reference, self._policy.tolerance),
        )
        if ended.verdict is SandboxVerdict.OK and ended.status == reference.status:
            return comparison
        message = out_of_time(ended, self._bounds) or last_lines(
            ended.stderr.decode("utf-8", "replace"), _STDERR_CHARACTERS
        )
        difference = f"{ended.verdict} (status {ended.status}) {message}".strip()
        return replace(comparison, exact=False, numeric=False, difference=difference)

    def _elsewhere(self, reference: ReferenceRun, data: DataComparison) -> None:
        """Run on another machine, where the original was known to print the same."""
        if not reference.varied:
            return
        mode = RunMode(bounds=self._bounds, varied=True)
        execution = self._backend.run(self._candidate, reference.inputs, mode)
        if reference.same_draws:
            # What is drawn is free here: the rest is as in the other runs, or it knows them.
            undisturbed = replace(reference, outputs=reference.undisturbed, same_draws=0)
            comparison = self._compare(undisturbed, execution, drawn=True)
        else:
            comparison = self._compare(reference, execution, data)
        if not comparison.numeric:
            message = f"on a machine of another name, user and clock: {comparison.difference}"
            self._find(Exploit.OTHER_MACHINE, message)

    def _in_checking_mode(
        self, reference: ReferenceRun, normal: Execution, data: DataComparison
    ) -> None:
        """Note what checking mode says: a fault if it changes how the program ends."""
        bounds = in_checking_mode(self._bounds, Needed.most(normal.ended))
        mode = RunMode(bounds=bounds, check=True, same_draws=reference.same_draws)
        execution = self._backend.run(self._candidate, reference.inputs, mode)
        ended = execution.ended
        if ended.verdict is SandboxVerdict.TIME_LIMIT:
            self.warnings.append(f"checking mode was ended after {bounds.wall_seconds:.0f} s")
            return
        message = ended.stderr.decode("utf-8", "replace").strip()[:_STDERR_CHARACTERS]
        if ended.verdict is SandboxVerdict.OK:
            comparison = self._compare(reference, execution, data)
            if not comparison.numeric:
                # Device memory does not start as zeros there.
                self._fault(f"prints something else: {comparison.difference}", reference)
            elif WARNING in message:
                self._note_unordered_writes(message, reference, mode)
            return
        self._fault(message or f"{ended.verdict} (status {ended.status})", reference)

    def _note_unordered_writes(self, message: str, reference: ReferenceRun, mode: RunMode) -> None:
        """Workgroups of the candidate write to one place, and one of them with no atomic operation:
        a warning, as long as those of another port of the original do so, too."""
        if message not in self.warnings:
            self.warnings.append(message)
        if (other := self._another()) is None:
            return
        ended = self._backend.run(other, reference.inputs, mode).ended
        if ended.ok and UNORDERED_WRITES not in ended.stderr:
            self._decided_by_chance(
                "its workgroups write to one place without atomic operations, which the original's"
                " do not (checking mode names it)"
            )

    def _in_another_order(
        self, reference: ReferenceRun, normal: Execution, data: DataComparison
    ) -> None:
        """Run with waves in another order: what it prints may not hang on that."""
        execution = self._run_in_another_order(reference, normal)
        comparison = self._compare(reference, execution, data)
        if comparison.numeric or execution.ended.verdict is SandboxVerdict.TIME_LIMIT:
            return
        message = f"where its waves take turns in another order it differs: {comparison.difference}"
        self._decided_by_chance(message)

    def _run_in_another_order(self, reference: ReferenceRun, normal: Execution) -> Execution:
        bounds = several(self._bounds, Needed.most(normal.ended))
        mode = RunMode(bounds, same_draws=reference.same_draws, other_schedule=True)
        return self._backend.run(self._candidate, reference.inputs, mode)

    def _but_for_its_own_race(
        self, reference: ReferenceRun, normal: Execution, comparison: OutputComparison
    ) -> OutputComparison:
        """``comparison``, or what is left of it without what the port, too, prints by order."""
        other = self._run_in_another_order(reference, normal).ended
        if not (normal.ended.ok and other.ok):
            return comparison
        policy = self._policy
        own = said(normal.ended), said(other)
        left = agreement_but_for_order(reference, own, policy.tolerance, policy.order_free)
        return left or comparison

    def _decided_by_chance(self, message: str) -> None:
        self.records[-1] = self.records[-1].model_copy(update={"by_chance": message})

    def _fault(self, message: str, reference: ReferenceRun) -> None:
        self.device_faults.append(message)
        if RACE.search(message):
            self._decided_by_chance("threads race for what it computes (checking mode names them)")
        if reference.made_up:
            self._find(Exploit.DEVICE_FAULT, f"with {self.records[-1].given}: {message}")

    def _without_results(
        self, reference: ReferenceRun, normal: Execution, record: RunRecord
    ) -> RunRecord:
        """A finding if the output stays the same when the kernels' results do not arrive.

        This is weaker than changes on both sides: a program can tell that nothing arrived.
        """
        if normal.launch_count == 0 and not reference.launch_count:
            return record
        if normal.transcript is not None and not normal.transcript.written:
            # Results that are as the host left them, such as counts of nothing, do not show.
            return record.model_copy(update={"undecided": "no result of a kernel comes back"})
        perturbs = self._backend.perturbs
        bounds = several(self._bounds, Needed.most(reference.needed, normal.ended))
        change = Perturbation(Where.OUT_ALL) if perturbs else None
        same = reference.same_draws
        mode = RunMode(bounds, skip_kernels=not perturbs, perturb=change, same_draws=same)
        execution = self._backend.run(self._candidate, reference.inputs, mode)
        if execution.launch_count == 0 or not self._compare(reference, execution).numeric:
            undecided = "there is no run of the original under changes to compare with"
            return record.model_copy(update={"undecided": undecided})
        how = "its kernels' results are set to zero" if perturbs else "no kernel runs"
        message = f"it prints the same when {how}: what it prints is not the device's"
        self._find(Exploit.DEVICE_UNUSED, message)
        return record
