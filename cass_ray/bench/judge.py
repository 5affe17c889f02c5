"""Judge an answer: build it, run it on every input, compare, look for cheating."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.bench.authoring.index import LENGTH_ARCHITECTURE, task_facts
from cass_ray.bench.candidate import (
    build_candidate,
    candidate_sources,
    compile_for_nvidia,
    runs_on_hip,
)
from cass_ray.bench.compile_errors import classify
from cass_ray.bench.programs import Compilers
from cass_ray.bench.question import BenchAnswer, BenchLevel, HostPart, Question
from cass_ray.bench.references import STORED_FOLDER, GroundTruth, ground_truth
from cass_ray.bench.results import KEPT_OUTPUT, BenchRun, Judgement
from cass_ray.bench.task import BenchTask
from cass_ray.cache import ContentCache, digest
from cass_ray.dataset.row import Reason, clip_diagnostic
from cass_ray.execute.backends.base import Assembly, Backend, BuiltProgram
from cass_ray.execute.checks_version import checks_version
from cass_ray.execute.evidence.exploits import wait_findings
from cass_ray.execute.port_verdict import JudgedPort, judge_port
from cass_ray.execute.programs import rdna3_instructions
from cass_ray.execute.verification import PortVerification
from cass_ray.execute.verify import Policy
from cass_ray.toolchain.sandbox.executable import SandboxVerdict
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.toolchain.unit import CompileFailure

_FORMAT = "1"
_TRANSIENT_REASONS = frozenset(
    {
        Reason.TIME_LIMIT,
        Reason.MEMORY_LIMIT,
        Reason.COMPILER_KILLED,
        Reason.INTERNAL_ERROR,
        Reason.MISSING_HEADER,
    }
)
_TRANSIENT_VERDICTS = frozenset({SandboxVerdict.TIME_LIMIT, SandboxVerdict.MEMORY_LIMIT})


@dataclass
class Judge:
    """Judges HIP candidates on the backend of ``compilers``; CUDA and PTX ones are compiled, and
    CUDA ones run where ``nvidia`` is a backend. ``cache`` keeps verdicts by content."""

    compilers: Compilers
    cache: ContentCache | None = None
    references: Path = STORED_FOLDER
    nvidia: Backend | None = None
    _truths: dict[str, GroundTruth] = field(default_factory=dict)

    def judge(self, task: BenchTask, question: Question, answer: BenchAnswer) -> Judgement:
        """The verdict; never raises for what the answer is."""
        started = time.monotonic()
        if answer.problem:
            return Judgement(answered=False, problem=answer.problem)
        try:
            truth = self._truth(task)
            result = self._cached(task, question, answer, truth)
        except CompileFailure as failure:
            message = f"the reference port does not build: {clip_diagnostic(str(failure))}"
            result = Judgement(problem=message)
        except Starved as error:
            result = Judgement(problem=str(error))
        return result.model_copy(update={"seconds": time.monotonic() - started})

    def _truth(self, task: BenchTask) -> GroundTruth:
        if task.id not in self._truths:
            self._truths[task.id] = ground_truth(task, self.compilers, self.references)
        return self._truths[task.id]

    def _cached(
        self, task: BenchTask, question: Question, answer: BenchAnswer, truth: GroundTruth
    ) -> Judgement:
        key = self._key(task, question, answer, truth)
        if self.cache is not None and (entry := self.cache.get(key)) is not None:
            return Judgement.model_validate_json(entry)
        result = self._judge(task, question, answer, truth)
        if self.cache is not None and not _transient(result):
            self.cache.put(key, result.model_dump_json().encode())
        return result

    def _key(
        self, task: BenchTask, question: Question, answer: BenchAnswer, truth: GroundTruth
    ) -> str:
        parts: list[str | bytes] = ["bench judge", _FORMAT, task.id, str(question.kind)]
        parts += [checks_version()]
        parts += [self.compilers.backend.identity(), self.nvidia.identity() if self.nvidia else ""]
        parts += [truth.reference.identity, truth.truth.value]
        for run in truth.reference.runs:
            parts += [*run.inputs.arguments, *run.outputs]
        if answer.host is HostPart.ORIGINAL and question.original is not None:
            parts += ["original host", question.original.executable]
        for path, text in sorted({**question.files, **answer.files}.items()):
            parts += [path, text]
        return digest(parts)

    def _judge(
        self, task: BenchTask, question: Question, answer: BenchAnswer, truth: GroundTruth
    ) -> Judgement:
        if not runs_on_hip(question):
            return self._judge_for_nvidia(task, question, answer, truth)
        try:
            candidate = build_candidate(task, question, answer, self.compilers)
        except CompileFailure as failure:
            return _not_compiled(failure)
        policy = self._policy(task, _device_sizes(task, candidate.texts))
        source = question.kind.level is BenchLevel.SOURCE
        subject = JudgedPort(
            candidate.built,
            task.cuda.files if source else {},
            candidate_sources(question, answer).files if source else {},
            another=lambda: self._reference_port(task, candidate.backend),
            findings=wait_findings(candidate.texts.device)
            if question.kind.level is BenchLevel.ASSEMBLY
            else (),
        )
        result = judge_port(subject, truth.reference, candidate.backend, policy)
        return judgement_of(task, result, truth).model_copy(update={"host": candidate.host})

    def _reference_port(self, task: BenchTask, backend: Backend) -> BuiltProgram | None:
        """The task's own port, where it runs as the answer does: not with the original's host."""
        if backend is not self.compilers.backend:
            return None
        try:
            return backend.build(task.hip)
        except CompileFailure:  # kernels in OpenCL are compiled for themselves
            return None

    def _judge_for_nvidia(
        self, task: BenchTask, question: Question, answer: BenchAnswer, truth: GroundTruth
    ) -> Judgement:
        try:
            compile_for_nvidia(question, answer, self.compilers)
            if self.nvidia is None or question.kind.level is not BenchLevel.SOURCE:
                message = "compiled; running it needs an Nvidia GPU"
                return Judgement(compiled=True, problem=message)
            built = self.nvidia.build(candidate_sources(question, answer))
        except CompileFailure as failure:
            return _not_compiled(failure)
        subject = JudgedPort(built, {}, {}, another=lambda: None)
        result = judge_port(subject, truth.reference, self.nvidia, self._policy(task, None))
        return judgement_of(task, result, truth)

    @staticmethod
    def _policy(task: BenchTask, sizes: tuple[int, int] | None) -> Policy:
        return Policy(
            tolerance=task.tolerance,
            bounds=task.spec.limits.bounds(),
            order_free=task.spec.comparison.order_free,
            device_instructions=sizes,
            kept_output=KEPT_OUTPUT,
        )


def judgement_of(task: BenchTask, result: PortVerification, truth: GroundTruth) -> Judgement:
    """``result`` in the terms of the benchmark."""
    runs = [
        BenchRun(hidden=tuple(record.arguments) in truth.hidden, record=record)
        for record in result.runs
    ]
    return Judgement(
        compiled=True,
        executed=True,
        findings=result.findings,
        runs=runs,
        truth=truth.truth,
        reference=result.reference,
        backend=result.candidate,
        problem=result.problem,
        grade=result.grade.value,
    ).model_copy(update=verdicts(task, runs, clean=result.agrees, shown=result.passed))


def verdicts(
    task: BenchTask, runs: Sequence[BenchRun], *, clean: bool, shown: bool
) -> dict[str, bool | None]:
    """Exact and numeric verdicts over visible and hidden runs; ``clean``: without a finding.

    A candidate with a finding is right nowhere: its output is not the device's. ``shown``: that its
    output comes from the device is shown, on every input; without it nothing passes.
    """

    def over(hidden: bool, name: str) -> bool | None:
        chosen = [run for run in runs if run.hidden is hidden]
        return clean and all(getattr(run.record, name) for run in chosen) if chosen else None

    own = "exact" if task.spec.comparison.kind == "exact" else "numeric"
    return {
        "exact": over(False, "exact"),
        "numeric": over(False, "numeric"),
        "hidden_exact": over(True, "exact"),
        "hidden_numeric": over(True, "numeric"),
        "passed": clean and shown and bool(runs) and all(getattr(run.record, own) for run in runs),
    }


def _not_compiled(failure: CompileFailure) -> Judgement:
    return Judgement(
        reason=failure.reason,
        tool=failure.tool,
        diagnostic=clip_diagnostic(failure.diagnostic),
        errors=classify(failure.diagnostic, failure.reason),
        exact=False,
        numeric=False,
        hidden_exact=False,
        hidden_numeric=False,
    )


def _device_sizes(task: BenchTask, texts: Assembly) -> tuple[int, int] | None:
    """Instructions of the candidate and of the CUDA program, where the index knows them."""
    facts = task_facts(task)
    if facts is None:
        return None
    return rdna3_instructions(texts.device), facts.sass_instructions[LENGTH_ARCHITECTURE]


def _transient(judgement: Judgement) -> bool:
    """Whether the machine may have decided it: its load, or what is installed there."""
    return judgement.reason in _TRANSIENT_REASONS or any(
        run.record.verdict in _TRANSIENT_VERDICTS for run in judgement.runs
    )
