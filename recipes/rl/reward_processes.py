"""Judges in processes of their own: for judges that themselves take a core's time in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from threading import Lock

from cass_ray.execute.rewards.verdicts import ItemJudge, RewardItem, RewardVerdict, undecided

_judge: ItemJudge | None = None
"""Of a process of the pool."""


class ProcessRewards:
    """A :class:`~cass_ray.execute.rewards.verdicts.Rewarder` of ``workers`` processes.

    ``make`` makes a judge in each; it must be picklable. Where a process dies, what was not judged
    yet is undecided, and the next batch finds a new pool. Several threads may ask. With ``nice``
    the processes, and the compilers that they start, leave the processors to whoever asks first.
    """

    def __init__(self, make: Callable[[], ItemJudge], workers: int, nice: int = 0) -> None:
        self._make, self._workers, self._nice = make, workers, nice
        self._pool = self._new_pool()
        self._submitting = Lock()

    def _new_pool(self) -> ProcessPoolExecutor:
        context = get_context("forkserver")  # the caller may hold threads and a GPU
        context.set_forkserver_preload([__name__])
        return ProcessPoolExecutor(self._workers, context, _begin, (self._make, self._nice))

    def rewards(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        """A verdict for each of ``items``, in their order; equal ones are judged once."""
        keys = [item.model_dump_json() for item in items]
        different = dict(zip(keys, items, strict=True))
        with self._submitting:
            try:
                known = self._submitted(different)
            except BrokenProcessPool:
                self._pool = self._new_pool()
                known = self._submitted(different)
        return [_verdict(known[key]) for key in keys]

    def _submitted(self, items: Mapping[str, RewardItem]) -> dict[str, Future[RewardVerdict]]:
        return {key: self._pool.submit(_judged, item) for key, item in items.items()}

    def close(self) -> None:
        """End the processes; what they were judging is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _verdict(waiting: Future[RewardVerdict]) -> RewardVerdict:
    try:
        return waiting.result()
    except Exception as error:
        return undecided(f"the judge failed: {error!r}"[:500])


def _begin(make: Callable[[], ItemJudge], nice: int) -> None:
    global _judge
    os.nice(nice)
    _judge = make()


def _judged(item: RewardItem) -> RewardVerdict:
    assert _judge is not None
    return _judge.judge(item)
