"""Batches of one worker, made ahead of time by a thread."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cass_ray.train.data.ahead import Ahead
from cass_ray.train.data.collate import Batch, collate, padded, share_of
from cass_ray.train.data.packing import PackingPlan, Window, worker_windows
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
    """Windows of all workers."""


class BatchLoader:
    """Yields each step and then its batches, in order."""

    def __init__(
        self,
        store: TokenStore,
        plan: PackingPlan,
        distributed: DistributedContext,
        micro_batch_size: int,
        row_multiple: int = 1,
    ) -> None:
        """``row_multiple``: rows are padded to a multiple of so many tokens."""
        self._store = store
        self._plan = plan
        self._distributed = distributed
        self._micro_batch_size = micro_batch_size
        self._row_multiple = row_multiple

    def steps(self, first: int, last: int) -> Iterator[OptimizerStep]:
        """Steps ``first`` to ``last - 1``; between two of them take all of the step's batches."""
        self._ahead = Ahead(self._items(first, last), _AHEAD, "batches")
        try:
            for item in self._ahead:
                assert isinstance(item, OptimizerStep)
                yield item
        finally:
            self._ahead.stop()

    def batch(self) -> tuple[Batch, float]:
        """The next batch, and the seconds it was waited for."""
        started = time.perf_counter()
        item = next(self._ahead)
        assert isinstance(item, Batch)
        return item, time.perf_counter() - started

    def _items(self, first: int, last: int) -> Iterator[OptimizerStep | Batch]:
        source = self._plan.from_step(first)
        for number in range(first, last):
            windows = next(source)
            predicted = sum(
                int(self._store.answer_lengths[example]) for window in windows for example in window
            )
            mine = worker_windows(
                windows,
                self._distributed.data_rank,
                self._distributed.data_size,
                self._micro_batch_size,
            )
            yield OptimizerStep(number, len(mine), predicted, windows)
            for part in mine:
                batch = padded(collate(self._store, part), self._row_multiple, 0)
                yield share_of(batch, self._distributed)
