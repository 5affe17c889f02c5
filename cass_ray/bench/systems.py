"""Systems under test: every translation engine, with repair or without, and three that check us.

``reference`` answers with the reference port and must be right everywhere; ``echo`` gives the
question back and must be wrong everywhere; ``answers:FILE.jsonl`` replays answers computed before.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

from pydantic import Field

import cass_ray.lift as lift
from cass_ray.architectures import wavefronts_of
from cass_ray.bench.candidate import candidate_sources
from cass_ray.bench.programs import Compilers, reference_text
from cass_ray.bench.question import AnswerUsage, BenchAnswer, BenchLevel, Draw, HostPart, Question
from cass_ray.bench.task import BenchTask
from cass_ray.cache import digest
from cass_ray.config import SettingsError, StrictModel, validate
from cass_ray.dataset.row import Reason
from cass_ray.task import Direction
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate import protocol
from cass_ray.translate.engines.prefixes import CHAT_PREFIX, MODEL_PREFIX
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Context, Translator, TranslatorError
from cass_ray.translate.repair.loop import repair

REPAIRS = 3
REPAIR_SUFFIX = "+repair"
REFERENCE, LIFT = "reference", "lift"
ANSWERS_PREFIX = "answers:"
_SAMPLED = (MODEL_PREFIX, CHAT_PREFIX)


class System(Protocol):
    """Something that answers questions."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same question may get another answer."""
        ...

    @property
    def samples(self) -> bool:
        """Whether another draw may give another answer."""
        ...

    def answer(self, question: Question, draw: Draw) -> BenchAnswer:
        """Never raises for what the question holds; see :attr:`BenchAnswer.problem`."""
        ...


class TranslatorSystem:
    """An engine of the registry. ``context.settings`` carries level, direction and the draw."""

    def __init__(
        self, name: str, translator: Translator, wavefronts: tuple[int, ...] = (32,)
    ) -> None:
        self.name = name
        self.version = translator.version
        self.samples = name.startswith(_SAMPLED)
        self._translator = translator
        self._wavefronts = wavefronts

    def answer(self, question: Question, draw: Draw) -> BenchAnswer:
        started = time.monotonic()
        context = Context(
            files=frozenset(question.files),
            wavefronts=self._wavefronts,
            settings=_settings(question, draw),
        )
        files: dict[str, str] = {}
        findings: list[str] = []
        problem = ""
        used: list[protocol.TranslationUsage] = []
        for path in question.asked:
            try:
                translation = self._translator.translate(
                    question.files[path], filename=path, context=context
                )
            except TranslatorError as error:
                problem = str(error) or type(error).__name__
                break
            files[path] = translation.source
            if translation.usage is not None:
                used.append(translation.usage)
            findings += [finding.format(path) for finding in translation.findings]
        return BenchAnswer(
            files={} if problem else files,
            host=question.fitting_host,
            findings=findings,
            problem=problem,
            usage=AnswerUsage(
                input_tokens=sum(usage.input_tokens for usage in used),
                output_tokens=sum(usage.output_tokens for usage in used),
                calls=sum(usage.calls for usage in used) or len(question.asked),
            ),
            seconds=time.monotonic() - started,
        )


def _settings(question: Question, draw: Draw) -> dict[str, str]:
    kind = question.kind
    return {
        "task": f"{kind.level}:{kind.direction}",
        "level": kind.level.value,
        "direction": kind.direction.value,
        "architecture": kind.architecture,
        "sample": str(draw.sample),
        "seed": str(draw.seed),
        "temperature": f"{draw.temperature:g}",
    }


class RepairSystem:
    """Another system, whose answer is compiled and repaired from the compiler's messages.

    Source level only. It sees what the compiler says, never how the program runs.
    """

    def __init__(self, inner: System, compilers: Compilers, attempts: int = REPAIRS) -> None:
        self.name = inner.name + REPAIR_SUFFIX
        self.version = f"{inner.version} repair {attempts}"
        self.samples = inner.samples
        self._inner = inner
        self._compilers = compilers
        self._attempts = attempts

    def answer(self, question: Question, draw: Draw) -> BenchAnswer:
        """The answer of the inner system in its best state."""
        answer = self._inner.answer(question, draw)
        if answer.problem or question.kind.level is not BenchLevel.SOURCE:
            return answer
        started = time.monotonic()

        def compile_source(text: str) -> str:
            state = answer.model_copy(update={"files": {**answer.files, question.main: text}})
            try:
                self._compilers.amd(candidate_sources(question, state))
            except CompileFailure as failure:
                return "" if failure.reason is Reason.NO_DEVICE_CODE else failure.diagnostic
            return ""

        text = answer.files.get(question.main, question.files[question.main])
        filename = PurePosixPath(question.main).name
        repaired = repair(text, compile_source, filename=filename, attempts=self._attempts)
        fixes = [fix for step in repaired.steps for fix in step.fixes]
        return answer.model_copy(
            update={
                "files": {**answer.files, question.main: repaired.source},
                "steps": [*answer.steps, *fixes],
                "seconds": answer.seconds + time.monotonic() - started,
            }
        )


class LiftSystem:
    """Nvidia machine code to AMD's by lifting; assembly level only."""

    name, samples = LIFT, False

    def __init__(self, compilers: Compilers) -> None:
        self._compilers = compilers

    @cached_property
    def version(self) -> str:
        """Changes with any file of the lifter."""
        return lift.fingerprint()

    def answer(self, question: Question, draw: Draw) -> BenchAnswer:
        """The lifted cubin; kernels that cannot be lifted are findings."""
        del draw
        if not question.cubin:
            return BenchAnswer(problem="lift translates cubins: use --level assembly")
        started = time.monotonic()
        try:
            result = lift.lift_cubin(
                question.cubin,
                self._compilers.backend.architecture,
                amd=self._compilers.backend.toolchain,
                nvidia=self._compilers.find_nvidia(),
                partial=True,
                names=question.names,
            )
        except lift.LiftError as error:
            return BenchAnswer(problem=f"not lifted: {error}", seconds=time.monotonic() - started)
        return BenchAnswer(
            files={question.main: result.assembly},
            host=question.fitting_host,
            findings=[f"{kernel}: {error}" for kernel, error in result.failures.items()],
            seconds=time.monotonic() - started,
        )


class EchoSystem:
    """The question as its own answer."""

    name, version, samples = "echo", "1", False

    def answer(self, question: Question, draw: Draw) -> BenchAnswer:
        del draw
        return BenchAnswer(files={path: question.files[path] for path in question.asked})


class ReferenceSystem:
    """The reference port, from the tasks themselves: the only system that is given them."""

    name, samples = REFERENCE, False

    def __init__(self, tasks: Sequence[BenchTask], compilers: Compilers) -> None:
        self._tasks = {task.name: task for task in tasks}
        self._compilers = compilers
        self.version = "1"

    def answer(self, question: Question, draw: Draw) -> BenchAnswer:
        """The port's files, with its main file under the name that was asked for."""
        del draw
        task, kind = self._tasks[question.task], question.kind
        if kind.level is not BenchLevel.SOURCE:
            try:
                text = reference_text(task, kind, self._compilers)
            except CompileFailure as failure:
                return BenchAnswer(problem=str(failure))
            return BenchAnswer(files={question.main: text})
        forward = kind.direction is Direction.CUDA_TO_HIP
        program = task.hip if forward else task.cuda
        files = {path: content.decode("utf-8") for path, content in program.files.items()}
        return BenchAnswer(files={question.main: files.pop(str(program.main)), **files})


class StoredAnswer(StrictModel):
    """A line of an answers file: the main file's text, or several files by path."""

    task: str
    sample: int = Field(default=0, ge=0)
    answer: str | None = None
    files: dict[str, str] = Field(default_factory=dict)
    host: HostPart | None = None
    """Of device code: whose host it is for, by default the one that the question's code fits."""
    problem: str = ""


class AnswersSystem:
    """Replays a file of :class:`StoredAnswer` lines. A task that it lacks has no answer."""

    samples = True

    def __init__(self, path: Path) -> None:
        self.name = f"{ANSWERS_PREFIX}{path}"
        text = path.read_text(encoding="utf-8")
        self.version = digest([text])[:16]
        self._answers: dict[tuple[str, int], StoredAnswer] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                stored = _stored_answer(line, f"{path}:{number}")
                self._answers[stored.task, stored.sample] = stored

    def answer(self, question: Question, draw: Draw) -> BenchAnswer:
        stored = self._answers.get((question.task, draw.sample))
        if stored is None:
            return BenchAnswer(
                problem=f"{self.name} has no sample {draw.sample} of {question.task}"
            )
        files = dict(stored.files)
        if stored.answer is not None:
            files[question.main] = stored.answer
        host = stored.host or question.fitting_host
        return BenchAnswer(files=files, host=host, problem=stored.problem)


def _stored_answer(line: str, where: str) -> StoredAnswer:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise SettingsError(f"{where}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise SettingsError(f"{where}: expected an object")
    return validate(StoredAnswer, values, where)


def make_system(name: str, tasks: Sequence[BenchTask], compilers: Compilers) -> System:
    """The system called ``name``; only ``reference`` is given ``tasks``.

    Raises :class:`~cass_ray.translate.engines.registry.UnknownEngineError`, ``ToolMissing``,
    :class:`~cass_ray.config.SettingsError` for a bad answers file and :class:`OSError` for one
    that cannot be read.
    """
    if name.endswith(REPAIR_SUFFIX):
        inner = make_system(name.removesuffix(REPAIR_SUFFIX), tasks, compilers)
        return RepairSystem(inner, compilers)
    if name == LIFT:
        return LiftSystem(compilers)
    if name == "echo":
        return EchoSystem()
    if name == REFERENCE:
        return ReferenceSystem(tasks, compilers)
    if name.startswith(ANSWERS_PREFIX):
        return AnswersSystem(Path(name.removeprefix(ANSWERS_PREFIX)))
    widths = wavefronts_of([compilers.backend.architecture])
    return TranslatorSystem(name, make_translator(name), widths)


@dataclass(frozen=True)
class Description:
    """What a plan has to know of a system, without loading a model."""

    name: str
    version: str
    samples: bool


def describe(name: str, tasks: Sequence[BenchTask], compilers: Compilers) -> Description:
    """Of the system called ``name``; raises what :func:`make_system` does.

    Models are loaded when they are first asked, not here.
    """
    system = make_system(name, tasks, compilers)
    return Description(name, system.version, system.samples)
