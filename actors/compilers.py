"""Stateful compilers for ``Dataset.map_batches``: located toolchain, precompiled headers, unpacked
trees and the node's content cache are set up once per thread of an actor. An actor takes several
compile slots of its node: the work is in child processes, so threads keep them busy, and a slot
costs no Python process of its own.

A batch is an Arrow table of ``cass_ray.stages.WORK_SCHEMA``; what comes back has the same rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import ray

from actors.staged import with_rows
from cass_ray.cache import ContentCache, results_directory
from cass_ray.lifted import LiftStage
from cass_ray.pairs import Reason, Stage, is_rejected, rejected
from cass_ray.settings import BuildSettings
from cass_ray.stages import WORK_SCHEMA, AmdStage, NvidiaStage, Row, align
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.registry import make_translator
from cass_ray.unpacked import UnpackedTrees

Work = Callable[[Sequence[Row]], list[Row]]


def result_cache(settings: BuildSettings) -> ContentCache | None:
    """The node's cache of compiler results, unless settings turn it off."""
    return ContentCache(results_directory()) if settings.cache else None


def trees_from(coordinator: Any) -> UnpackedTrees:
    """Trees that the coordinator (an actor handle) hands out."""
    return UnpackedTrees(lambda digest: ray.get(coordinator.tree.remote(digest)))


class _Worker:
    """What all share: rows and trees from the coordinator, and rows that kill their worker.

    ``coordinator`` is the name of the job's :class:`~actors.coordinator.Coordinator`. ``make``
    returns what works on rows, given trees of its own; it is called once in each thread.
    """

    def __init__(
        self, stage: Stage, coordinator: str, make: Callable[[UnpackedTrees], Work]
    ) -> None:
        self._stage = stage
        self._coordinator = ray.get_actor(coordinator)
        self._make = make
        self._of_thread = threading.local()

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Work on the rows of ``batch``; one by one when a worker died on them before."""
        work = self._work()
        rows: list[Row] = with_rows(batch, self._coordinator).to_pylist()
        open_ids = [row["id"] for row in rows if not is_rejected(row)]
        if open_ids and self._begun_before(open_ids):
            rows = [self._alone(row, work) for row in rows]
        else:
            rows = work(rows)
        return pa.Table.from_pylist(rows, schema=WORK_SCHEMA)

    def _work(self) -> Work:
        work: Work | None = getattr(self._of_thread, "work", None)
        if work is None:
            work = self._of_thread.work = self._make(trees_from(self._coordinator))
        return work

    def _begun_before(self, row_ids: list[str]) -> bool:
        begun: bool = ray.get(self._coordinator.begin_batch.remote(self._stage.value, row_ids))
        return begun

    def _alone(self, row: Row, work: Work) -> Row:
        if is_rejected(row):
            return row
        if not ray.get(self._coordinator.begin_row.remote(self._stage.value, row["id"])):
            message = "the worker died each time it had this row alone in hand"
            return rejected(row, self._stage, Reason.WORKER_DIED, message)
        return work([row])[0]


class NvidiaCompiler(_Worker):
    """CUDA -> host assembly and SASS. Runs where the resource ``nvidia`` is offered."""

    def __init__(self, settings: BuildSettings, coordinator: str) -> None:
        def make(trees: UnpackedTrees) -> Work:
            return NvidiaStage(
                toolchain=find_nvidia(),
                trees=trees,
                settings=settings,
                cache=result_cache(settings),
            ).compile

        super().__init__(Stage.COMPILE_NVIDIA, coordinator, make)


class AmdCompiler(_Worker):
    """HIP -> host assembly and RDNA3 assembly, then alignment with the CUDA side; lifting if asked.

    Runs where the resource ``amd`` is offered.
    """

    def __init__(self, settings: BuildSettings, coordinator: str) -> None:
        def make(trees: UnpackedTrees) -> Work:
            toolchain, cache = find_amd(), result_cache(settings)
            stage = AmdStage(
                toolchain=toolchain,
                trees=trees,
                translator=make_translator(settings.translator),
                settings=settings,
                cache=cache,
            )
            if not settings.lift:
                return lambda rows: [align(row) for row in stage.compile(rows)]
            lifter = LiftStage(toolchain, settings, cache)
            return lambda rows: lifter.lift([align(row) for row in stage.compile(rows)])

        super().__init__(Stage.COMPILE_AMD, coordinator, make)
