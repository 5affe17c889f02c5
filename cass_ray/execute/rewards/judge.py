"""The judge of rewards: compiles an answer, runs it beside its question, and compares.

Both happen in the sandbox, with what :mod:`cass_ray.execute.evidence.exploits` finds of forgeries:
an answer that prints the right text without its kernels having made it gets nothing.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from cass_ray.cache import ContentCache, digest
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.dataset.row import Reason, clip_diagnostic
from cass_ray.execute.backends.base import Backend, Inputs
from cass_ray.execute.checks_version import checks_version
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.drivers.alone import (
    kernels_alone,
    tells_of_itself_alone,
    with_kernels_alone,
)
from cass_ray.execute.drivers.generated import GeneratedRuns, drivable
from cass_ray.execute.grades import Grade
from cass_ray.execute.port_verdict import JudgedPort, judge_port, measured_original
from cass_ray.execute.references import ReferenceRuns
from cass_ray.execute.rewards.verdicts import (
    ItemJudge,
    Outcome,
    PartialCredit,
    RewardItem,
    RewardVerdict,
    undecided,
)
from cass_ray.execute.targets import translated_port
from cass_ray.execute.verification import MOVES_OTHERWISE, PortVerification, RunRecord
from cass_ray.execute.verify import Policy
from cass_ray.llm.code_blocks import code_of
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxVerdict
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.toolchain.unit import CompileFailure

_FENCES = ("hip", "cpp", "c++", "cuda", "cu", "c")
_OF_OURS = frozenset({Reason.COMPILER_KILLED, Reason.INTERNAL_ERROR})
"""A compiler's budgets are of CPU time, memory and output: what exceeds them does so every time,
and does not compile. Waiting for a processor does not count; a machine that has none for it is
:class:`~cass_ray.toolchain.sandbox.process.Starved`."""
_RUN_BY_LOAD = frozenset({SandboxVerdict.TIME_LIMIT, SandboxVerdict.MEMORY_LIMIT})
_CHANGES = 4
"""Of each input: a reward is needed many times a second."""
_REFERENCES = 4096
"""Questions whose outputs are remembered."""


_Made = TypeVar("_Made")


class _Once(Generic[_Made]):
    """Results by key, each made once however many ask for it at the same time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[str, Future[_Made]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], _Made]) -> _Made:
        """What ``make`` gives; what it raises is raised to everyone who waits, and forgotten."""
        with self._lock:
            earlier = self._made.get(key)
            mine = earlier is None
            future: Future[_Made] = Future() if earlier is None else earlier
            self._made[key] = future
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        if mine:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    self._made.pop(key, None)
                future.set_exception(error)
        return future.result()


@dataclass
class RewardJudge:
    """Judges answers; may be used from several threads.

    ``backend`` is where they run, ``originals`` where questions may, the best first
    (:func:`cass_ray.execute.originals.reference_backends`). ``cache`` keeps verdicts by content;
    those that load on the machine may have decided are not kept.
    """

    backend: Backend
    originals: Sequence[Backend]
    cache: ContentCache | None = None
    partial: PartialCredit | None = None
    """None: right or nothing."""
    least: Grade = Grade.VERIFIED
    """The least grade that is right: ``verified``, or ``agrees, independence not shown``."""
    bounds: Bounds = field(default_factory=Bounds)
    _references: _Once[ReferenceRuns] = field(default_factory=lambda: _Once(_REFERENCES))
    _alone: _Once[GeneratedRuns | str] = field(default_factory=lambda: _Once(_REFERENCES))

    def judge(self, item: RewardItem) -> RewardVerdict:
        """The verdict; raises for nothing that an answer is."""
        started = time.monotonic()
        try:
            verdict = self._cached(item)
        except Starved as error:
            verdict = undecided(str(error))
        return verdict.model_copy(update={"seconds": time.monotonic() - started})

    def _cached(self, item: RewardItem) -> RewardVerdict:
        code = code_of(item.answer, _FENCES)
        if code is None or code.cut:
            reason = "the answer was cut" if code else "there is no program in the answer"
            return RewardVerdict(reward=0.0, outcome=Outcome.NO_CODE, reason=reason)
        if self.cache is None:
            return self._judged(item, code.text)[0]
        key = self._key(item, code.text)
        if (entry := self.cache.get(key)) is not None:
            return RewardVerdict.model_validate_json(entry)
        verdict, lasting = self._judged(item, code.text)
        if lasting:
            self.cache.put(key, verdict.model_dump_json().encode())
        return verdict

    def _key(self, item: RewardItem, code: str) -> str:
        credit = self.partial.model_dump_json() if self.partial else ""
        parts: list[str] = ["reward", checks_version(), credit, repr(self.bounds)]
        parts += [str(item.order_free), self.least.value]
        parts += self._identities
        parts += [repr(item.inputs), item.question, code]
        return digest(parts)

    @cached_property
    def _identities(self) -> list[str]:
        """What verdicts depend on beside texts; a backend that is not there runs no original."""
        there = [each for each in self.originals if not each.problem()]
        return [each.identity() for each in (self.backend, *there)]

    def _judged(self, item: RewardItem, code: str) -> tuple[RewardVerdict, bool]:
        """The verdict, and whether it would be the same on another day."""
        question = _program("program.cu", item.question)
        answer = _program("program.hip", code)
        try:
            built = self.backend.build(answer)
        except CompileFailure as failure:
            if failure.reason in _OF_OURS:
                return undecided(f"{failure.reason.value}: {failure.tool}"), False
            reason = clip_diagnostic(failure.diagnostic) or failure.reason.value
            lasting = failure.reason is not Reason.MISSING_HEADER  # it may be installed
            verdict = RewardVerdict(reward=0.0, outcome=Outcome.NOT_COMPILED, reason=reason)
            return verdict, lasting
        try:
            reference = self._reference(item, question)
        except CompileFailure as failure:
            return undecided(f"the question does not build: {failure.diagnostic[:300]}"), False
        if not reference.whole:
            return undecided(f"the question itself fails: {reference.problem}"), False
        policy = Policy(
            tolerance=tolerance_for([item.question]),
            bounds=self.bounds,
            order_free=item.order_free,
            stop_early=self.partial is None,
            most_changes=_CHANGES,
        )
        another = translated_port(question, answer, self.backend)
        subject = JudgedPort(built, question.files, answer.files, another)
        result = judge_port(subject, reference, self.backend, policy)
        if tells_of_itself_alone(result):
            alone = self._kernels_alone(question, answer, reference)
            result = with_kernels_alone(result, question, answer, alone, self.backend, policy)
        by_load = not result.passed and any(run.verdict in _RUN_BY_LOAD for run in result.runs)
        return self._verdict(result, len(item.inputs)), not by_load

    def _reference(self, item: RewardItem, question: Sources) -> ReferenceRuns:
        inputs = [Inputs(tuple(each)) for each in item.inputs]
        key = digest([item.question, repr(item.inputs)])
        return self._references.get(
            key, lambda: measured_original(question, self.originals, inputs)
        )

    def _kernels_alone(
        self, question: Sources, answer: Sources, reference: ReferenceRuns
    ) -> GeneratedRuns | str:
        names = [kernel.name for kernel in drivable(question, answer)]
        return self._alone.get(
            digest([question.digest, *names]),
            lambda: kernels_alone(question, answer, reference, self.originals),
        )

    def _verdict(self, result: PortVerification, inputs: int) -> RewardVerdict:
        right = sum(run.numeric for run in result.runs)
        own = any(run.undecided == MOVES_OTHERWISE for run in result.runs)
        if result.grade is Grade.CANNOT_TELL and not own:
            why = f"the question cannot be told: {result.reason}"[:1000]
            return undecided(why, result.grade.value)
        if result.passed or (result.agrees and self.least is Grade.AGREES):
            outcome = Outcome.RIGHT
        elif result.agrees or result.grade is Grade.CANNOT_TELL:
            outcome = Outcome.NOT_SHOWN
        elif result.findings:
            outcome = Outcome.FORGED
        else:
            outcome = Outcome.WRONG if result.ran else Outcome.NOT_RUN
        return RewardVerdict(
            reward=self._reward(outcome, sum(map(self._shown, result.runs)) / inputs),
            outcome=outcome,
            inputs=inputs,
            right=right,
            reason=result.reason[:1000],
            grade=result.grade.value,
            findings=[finding.message for finding in result.findings],
            reference=result.reference_kind,
            independent=result.independent,
        )

    def _shown(self, run: RunRecord) -> bool:
        """Whether it is right on this input, as :attr:`least` has it: the right text is not it."""
        evidence = bool(run.perturbations or run.same_data) or self.least is Grade.AGREES
        return run.numeric and evidence

    def _reward(self, outcome: Outcome, share: float) -> float:
        if outcome is Outcome.RIGHT:
            return 1.0
        if self.partial is None or outcome is Outcome.FORGED:
            return 0.0
        ran = self.partial.ran if outcome in (Outcome.WRONG, Outcome.NOT_SHOWN) else 0.0
        credit = 0.0 if outcome is Outcome.NOT_SHOWN else share * self.partial.right_inputs
        return min(0.99, self.partial.compiled + ran + credit)


def _program(name: str, text: str) -> Sources:
    return Sources(PurePosixPath(name), {name: text.encode("utf-8", "replace")})


@dataclass
class LocalRewards:
    """A :class:`~cass_ray.execute.rewards.verdicts.Rewarder` of this process.

    Work is in processes of the sandbox; a thread for each waits.
    """

    judge: ItemJudge
    threads: int

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="cass-reward")

    def rewards(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        """A verdict for each; equal items are judged once, at the same time with the others."""
        futures: dict[str, Future[RewardVerdict]] = {}
        waiting = []
        for item in items:
            key = item.model_dump_json()
            if key not in futures:
                futures[key] = self._pool.submit(self._one, item)
            waiting.append(futures[key])
        return [each.result() for each in waiting]

    def _one(self, item: RewardItem) -> RewardVerdict:
        """An answer that breaks the judge costs its own verdict, not its batch."""
        try:
            return self.judge.judge(item)
        except Exception as error:
            return undecided(f"the judge failed: {error!r}"[:500])
