"""Ask, judge, collect: the benchmark without a cluster.

:func:`evaluate` is what training calls between epochs: one translator, some tasks, scores.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE, wavefronts_of
from cass_ray.bench.authoring.index import LENGTH_ARCHITECTURE, task_facts
from cass_ray.bench.judge import Judge
from cass_ray.bench.plan import Item
from cass_ray.bench.programs import Compilers, ask, can_ask, reference_text
from cass_ray.bench.question import BenchAnswer, BenchLevel, Draw, Question, QuestionKind
from cass_ray.bench.results import BenchSample, Judgement, new_sample
from cass_ray.bench.scoring.scores import Scores, score
from cass_ray.bench.scoring.similarity import chrf
from cass_ray.bench.systems import System, TranslatorSystem, make_system
from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.cache import ContentCache, results_directory
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.execute.backends.registry import candidate_backend, make_backend
from cass_ray.task import Direction
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.protocol import Translator


def usable_backend(architecture: str = DEFAULT_AMD_ARCHITECTURE) -> HipBackend:
    """Where candidates run: an AMD GPU, else the CPU with one thread, as ``architecture``.

    Raises ToolMissing, and ``ValueError`` where that processor cannot be run.
    """
    backend = make_backend(candidate_backend().name, architecture).single_threaded()
    if problem := backend.problem():
        raise ToolMissing("A backend for HIP programs", "Run `cass doctor`.", problem)
    assert isinstance(backend, HipBackend)
    return backend


def make_compilers(
    *, cached: bool = True, architecture: str = DEFAULT_AMD_ARCHITECTURE
) -> Compilers:
    """Compilers of this machine, with the node's content cache unless told otherwise."""
    cache = ContentCache(results_directory()) if cached else None
    return Compilers(usable_backend(architecture), find_nvidia, cache)


@dataclass
class Examiner:
    """Puts questions to systems and judges the answers."""

    compilers: Compilers
    judge: Judge

    def question(self, task: BenchTask, kind: QuestionKind) -> Question | str:
        """The question, or why it cannot be made."""
        try:
            return ask(task, kind, self.compilers)
        except CompileFailure as failure:
            return f"no question: {failure}"

    def ask(self, task: BenchTask, system: System, kind: QuestionKind, draw: Draw) -> BenchAnswer:
        """The system's answer; a system that raises has none."""
        question = self.question(task, kind)
        if isinstance(question, str):
            return BenchAnswer(problem=question)
        started = time.monotonic()
        try:
            return system.answer(question, draw)
        except Exception as error:  # one bad answer must not sink a run
            problem = f"{type(error).__name__}: {error}"
            return BenchAnswer(problem=problem, seconds=time.monotonic() - started)

    def mark(
        self,
        task: BenchTask,
        kind: QuestionKind,
        system: tuple[str, str],
        draw: Draw,
        answer: BenchAnswer,
        tags: dict[str, str] | None = None,
    ) -> BenchSample:
        """Judge ``answer``; ``system`` is name and version."""
        question = self.question(task, kind)
        if isinstance(question, str):
            judgement, similarity = Judgement(answered=False, problem=question), None
        else:
            judgement = self.judge.judge(task, question, answer)
            similarity = self._similarity(task, question, answer)
        facts = task_facts(task)
        architecture = kind.architecture or LENGTH_ARCHITECTURE
        return new_sample(
            task,
            kind,
            system,
            draw,
            answer,
            judgement,
            tags=tags or {},
            chrf=similarity,
            sass_lines=facts.sass_lines.get(architecture) if facts else None,
        )

    def _similarity(self, task: BenchTask, question: Question, answer: BenchAnswer) -> float | None:
        """chrF of the main file against the reference port's; source only: it takes minutes on
        long listings."""
        text = answer.files.get(question.main)
        if text is None or question.kind.level is not BenchLevel.SOURCE:
            return None
        return chrf(text, reference_text(task, question.kind, self.compilers))


def draws(system: System, samples: int, temperature: float, seed: int) -> list[Draw]:
    """The draws of a system: one for those that always answer the same."""
    count = samples if system.samples else 1
    return [Draw(number, seed + number, temperature) for number in range(count)]


def run(
    examiner: Examiner,
    system: System,
    tasks: Iterable[BenchTask],
    kind: QuestionKind,
    *,
    samples: int = 1,
    temperature: float = 0.0,
    seed: int = 0,
    tags: dict[str, str] | None = None,
) -> Iterator[BenchSample]:
    """Every sample of one system, in order."""
    for task in (each for each in tasks if can_ask(each, kind)):
        for draw in draws(system, samples, temperature, seed):
            answer = examiner.ask(task, system, kind, draw)
            yield examiner.mark(task, kind, (system.name, system.version), draw, answer, tags)


def run_threaded(
    items: Sequence[Item],
    tasks: Mapping[str, BenchTask],
    *,
    threads: int,
    cached: bool = True,
    architecture: str = DEFAULT_AMD_ARCHITECTURE,
) -> Iterator[BenchSample]:
    """The samples of ``items`` as they get done, by threads of this process.

    What work there is happens in child processes, so that threads use all cores.
    """
    of_thread = threading.local()
    all_tasks = list(tasks.values())

    def make(item: Item) -> BenchSample:
        if not hasattr(of_thread, "examiner"):
            compilers = make_compilers(cached=cached, architecture=architecture)
            of_thread.examiner = Examiner(compilers, Judge(compilers, compilers.cache))
            of_thread.systems = {}
        examiner: Examiner = of_thread.examiner
        systems: dict[str, System] = of_thread.systems
        if item.system not in systems:
            systems[item.system] = make_system(item.system, all_tasks, examiner.compilers)
        task = tasks[item.task]
        answer = examiner.ask(task, systems[item.system], item.kind, item.draw)
        system = (item.system, item.version)
        return examiner.mark(task, item.kind, system, item.draw, answer, item.tags)

    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(make, item) for item in items]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def evaluate(
    translator: Translator,
    tasks: Sequence[BenchTask] | None = None,
    level: BenchLevel = BenchLevel.SOURCE,
    *,
    architecture: str = "",
    direction: Direction = Direction.CUDA_TO_HIP,
    samples: int = 1,
    temperature: float = 0.0,
    seed: int = 0,
    compilers: Compilers | None = None,
) -> Scores:
    """Scores of ``translator`` on ``tasks`` (all of them unless given), without Ray.

    ``architecture`` (``sm_80``) is needed at the assembly level. Raises :class:`ToolMissing`.
    """
    compilers = compilers or make_compilers()
    examiner = Examiner(compilers, Judge(compilers, compilers.cache))
    widths = wavefronts_of([compilers.backend.architecture])
    system = TranslatorSystem(translator.name, translator, widths)
    system.samples = samples > 1
    kind = QuestionKind(level, direction, architecture)
    done = run(
        examiner,
        system,
        load_tasks() if tasks is None else tasks,
        kind,
        samples=samples,
        temperature=temperature,
        seed=seed,
    )
    return score(list(done))
