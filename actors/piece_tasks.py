"""Pieces of a build as Ray tasks, and the shards of its duplicates as actors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.speculative_tasks import LATE_SECONDS, SpeculativeTasks
from cass_ray.corpus.dedup.shards import Shard, Shards, ShardsLost

T = TypeVar("T")
R = TypeVar("R")

_AHEAD_OF_A_CORE = 2
_CORES_OF_A_SHARD = 4
"""Cores of the cluster to one shard."""


class TaskRunner:
    """A :class:`~cass_ray.pipeline.pieces.runner.Runner` on the cluster that was joined.

    A task whose node is lost runs again elsewhere, and one that is late at the end a second time
    (:mod:`.speculative_tasks`), unless ``alone`` is set of the work. An item with ``here`` set
    needs files of this machine and runs on it.

    Args:
        late_seconds: how long no task is late.
    """

    def __init__(self, late_seconds: float = LATE_SECONDS) -> None:
        self._late_seconds = late_seconds

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """As :meth:`Runner.each`; a few tasks a core wait or run at a time."""
        shared = ray.put(work)
        most = _AHEAD_OF_A_CORE * max(1, int(ray.cluster_resources().get("CPU", 1)))
        alone = getattr(work, "alone", False)
        tasks = SpeculativeTasks(
            lambda item: _task(item).remote(shared, item),
            lambda item: not (alone or _is_bound(item)),
            self._late_seconds,
        )
        for item in items:
            tasks.begin(item)
            if len(tasks) >= most:
                yield from tasks.finished(last=False)
        while tasks:
            yield from tasks.finished(last=True)

    def shards(self) -> Shards:
        """Actors, spread over the nodes."""
        cores = int(ray.cluster_resources().get("CPU", 1))
        return ActorShards(max(1, cores // _CORES_OF_A_SHARD))


class ActorShards:
    """:class:`~cass_ray.corpus.dedup.shards.Shards`, an actor each.

    One that is lost with its node takes with it what was noted.
    """

    def __init__(self, count: int) -> None:
        self._actors = [
            ray.remote(Shard).options(num_cpus=0, scheduling_strategy="SPREAD").remote()
            for _ in range(count)
        ]

    def __len__(self) -> int:
        return len(self._actors)

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """As :meth:`Shards.call`, all at once. Raises ``ShardsLost``."""
        calls = [
            getattr(actor, method).remote(*own)
            for actor, own in zip(self._actors, arguments, strict=True)
        ]
        try:
            answers: list[Any] = ray.get(calls)
        except ray.exceptions.RayActorError as error:
            raise ShardsLost(str(error)) from error
        return answers


def _call(work: Callable[[T], R], item: T) -> R:
    return work(item)


_CALL = ray.remote(_call)
"""Made once: Ray sends each remote function to every node, for as long as the job lives."""


def _task(item: Any) -> Any:
    if _is_bound(item):
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        return _CALL.options(scheduling_strategy=here)
    return _CALL.options(scheduling_strategy="SPREAD")


def _is_bound(item: Any) -> bool:
    return bool(getattr(item, "here", False))
