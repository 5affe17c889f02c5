"""Batches of one worker, made ahead of time by a thread."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cass_ray.train.data.collate import Batch, collate
from cass_ray.train.data.packing import Plan, Window, worker_windows
from cass_ray.train.data.token_store import TokenStore
from cass_ray.train.distributed import DistributedContext

_AHEAD = 4


@dataclass(frozen=True)
class OptimizerStep:
    """One optimizer step as one worker sees it."""

    number: int
    passes: int
    predicted: int
    """Answer tokens of the whole step, over all workers."""
    windows: Sequence[Window]
    """Of all workers."""


class BatchLoader:
    """Yields each step and then its batches, in order."""

    def __init__(
        self, store: TokenStore, plan: Plan, distributed: DistributedContext, micro_batch_size: int
    ) -> None:
        self._store = store
        self._plan = plan
        self._distributed = distributed
        self._micro_batch_size = micro_batch_size
        self._queue: queue.Queue[OptimizerStep | Batch | BaseException | None] = queue.Queue(_AHEAD)
        self._stop = threading.Event()

    def steps(self, first: int, last: int) -> Iterator[OptimizerStep]:
        """Steps ``first`` to ``last - 1``; between two of them take all of the step's batches."""
        thread = threading.Thread(
            target=self._produce, args=(first, last), name="batches", daemon=True
        )
        thread.start()
        try:
            while (item := self._take()) is not None:
                assert isinstance(item, OptimizerStep)
                yield item
        finally:
            self._stop.set()

    def batch(self) -> tuple[Batch, float]:
        """The next batch, and the seconds it was waited for."""
        started = time.perf_counter()
        item = self._take()
        assert isinstance(item, Batch)
        return item, time.perf_counter() - started

    def _take(self) -> OptimizerStep | Batch | None:
        item = self._queue.get()
        if isinstance(item, BaseException):
            raise item
        return item

    def _put(self, item: OptimizerStep | Batch | BaseException | None) -> bool:
        while not self._stop.is_set():
            try:
                self._queue.put(item, timeout=1.0)
            except queue.Full:
                continue
            return True
        return False

    def _produce(self, first: int, last: int) -> None:
        try:
            source = self._plan.from_step(first)
            for number in range(first, last):
                windows = next(source)
                predicted = sum(
                    int(self._store.answer_lengths[example])
                    for window in windows
                    for example in window
                )
                mine = worker_windows(
                    windows,
                    self._distributed.rank,
                    self._distributed.world_size,
                    self._micro_batch_size,
                )
                if not self._put(OptimizerStep(number, len(mine), predicted, windows)):
                    return
                for part in mine:
                    if not self._put(collate(self._store, part)):
                        return
            self._put(None)
        except BaseException as error:  # raised where the batch is taken
            self._put(error)
