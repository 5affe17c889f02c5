"""Benchmark workers for ``Dataset.map_batches``: they put questions, answer them, and judge.

Rows are ``id`` and pickled work. Only :class:`Questioner` and :class:`Marker` are given tasks: what
travels to an :class:`Answerer` is :class:`cass_ray.bench.plan.Asked`, which holds the code to
translate and nothing of inputs and outputs. The system ``reference`` is the exception, by nature.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import pyarrow as pa
import ray

from cass_ray.bench.evaluate import Examiner, make_compilers
from cass_ray.bench.judge import Judge
from cass_ray.bench.plan import Asked, Item
from cass_ray.bench.question import BenchAnswer
from cass_ray.bench.results import BenchSample, Judgement
from cass_ray.bench.systems import System, make_system
from cass_ray.bench.task import BenchTask
from cass_ray.execute.backends.nvidia import NvidiaBackend

Work = TypeVar("Work")

SCHEMA = pa.schema([("id", pa.string()), ("work", pa.binary())])


def rows(work: list[tuple[str, object]]) -> pa.Table:
    """A batch of pairs ``(id, work)`` as rows for Ray Data."""
    columns = {"id": [name for name, _ in work], "work": [pickle.dumps(one) for _, one in work]}
    return pa.table(columns, schema=SCHEMA)


class _Worker:
    """Goes through a batch; an item that killed its worker before is given up after two tries.

    ``coordinator`` is the name of the run's :class:`~actors.coordinator.Coordinator`.
    """

    def __init__(
        self, coordinator: str, tasks: dict[str, BenchTask], cached: bool, architecture: str
    ) -> None:
        self._tasks = tasks
        self._coordinator = ray.get_actor(coordinator)
        self._node = ray.get_runtime_context().get_node_id()
        self._cached = cached
        self._architecture = architecture
        self._of_thread = threading.local()

    def through(
        self, batch: pa.Table, work: Callable[[Any], object], give_up: Callable[[Any], object]
    ) -> pa.Table:
        """``work`` on each row, ``give_up`` on those that took their worker down twice."""
        done: list[tuple[str, object]] = []
        for row in batch.to_pylist():
            one = pickle.loads(row["work"])
            stage = type(self).__name__
            allowed = ray.get(self._coordinator.begin_row.remote(stage, row["id"], self._node))
            done.append((row["id"], work(one) if allowed else give_up(one)))
            # A later row of the batch may kill the worker, and this one is begun once more.
            self._coordinator.end_row.remote(stage, row["id"])
        return rows(done)

    def examiner(self) -> Examiner:
        """One a thread: toolchains and what they hold are not shared."""
        result: Examiner | None = getattr(self._of_thread, "examiner", None)
        if result is None:
            compilers = make_compilers(cached=self._cached, architecture=self._architecture)
            nvidia = NvidiaBackend()
            judge = Judge(compilers, compilers.cache, nvidia=nvidia if nvidia.available() else None)
            result = self._of_thread.examiner = Examiner(compilers, judge)
        return result


class Questioner(_Worker):
    """Items to :class:`Asked`: compiles the CUDA side where assembly is asked about."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        def ask(item: Item) -> Asked:
            result = self.examiner().question(self._tasks[item.task], item.kind)
            return Asked(item, problem=result) if isinstance(result, str) else Asked(item, result)

        return self.through(batch, ask, lambda item: Asked(item, problem=_DIED))


class Answerer(_Worker):
    """:class:`Asked` to ``(Item, BenchAnswer)``; ``tasks`` may be empty without ``reference``."""

    def __init__(
        self, coordinator: str, tasks: dict[str, BenchTask], cached: bool, architecture: str
    ) -> None:
        super().__init__(coordinator, tasks, cached, architecture)
        self._lock = threading.Lock()
        self._systems: dict[str, System] = {}

    def __call__(self, batch: pa.Table) -> pa.Table:
        return self.through(
            batch, self._answer, lambda asked: (asked.item, BenchAnswer(problem=_DIED))
        )

    def _answer(self, asked: Asked) -> tuple[Item, BenchAnswer]:
        return asked.item, answered(asked, self._system(asked.item.system))

    def _system(self, name: str) -> System:
        """Made once an actor: a model is loaded once."""
        with self._lock:
            if name not in self._systems:
                compilers = self.examiner().compilers
                self._systems[name] = make_system(name, list(self._tasks.values()), compilers)
            return self._systems[name]


class Marker(_Worker):
    """``(Item, BenchAnswer)`` to :class:`BenchSample` as JSON. Resource ``amd``."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        def mark(work: tuple[Item, BenchAnswer]) -> str:
            item, answer = work
            sample = self.examiner().mark(
                self._tasks[item.task],
                item.kind,
                (item.system, item.version),
                item.draw,
                answer,
                item.tags,
            )
            return sample.model_dump_json()

        return self.through(batch, mark, self._given_up)

    def _given_up(self, work: tuple[Item, BenchAnswer]) -> str:
        item, answer = work
        return unjudged(self._tasks[item.task], item, answer, _DIED).model_dump_json()


_DIED = "the worker died each time it had this in hand"


def answered(asked: Asked, system: System) -> BenchAnswer:
    """The system's answer; one that raises has none."""
    if asked.question is None:
        return BenchAnswer(problem=asked.problem)
    try:
        return system.answer(asked.question, asked.item.draw)
    except Exception as error:  # one bad answer must not sink a run
        return BenchAnswer(problem=f"{type(error).__name__}: {error}")


def unjudged(task: BenchTask, item: Item, answer: BenchAnswer, problem: str) -> BenchSample:
    """A sample without a verdict."""
    from cass_ray.bench.results import new_sample

    judgement = Judgement(problem=problem)
    system = (item.system, item.version)
    return new_sample(task, item.kind, system, item.draw, answer, judgement, tags=item.tags)
