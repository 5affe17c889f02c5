"""Workers of the build for ``Dataset.map_batches``: the stages of one pool, rows in and rows out.

An actor serves one compile slot or several, each slot a thread with stages of its own: compilers
are processes, so threads suffice, and a slot costs no Python process of its own.

A batch is an Arrow table of ``WORK_SCHEMA``, or for the first workers one that names blocks; the
last workers commit the blocks and only say so. Where nodes may be lost, the others commit theirs as
well and hand on where they are: rows in a node's memory are lost with it, and made anew while those
who wait for them take no others.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

import pyarrow as pa
import ray

from actors.metrics import PoolMetrics
from cass_ray.dataset.row import Reason, Stage, is_rejected, rejected
from cass_ray.pipeline.pieces.blocks import Block, BlockReader, commit_block
from cass_ray.pipeline.pieces.work import BuildWork
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.stages.base import BLOCK_COLUMN, WORK_SCHEMA, Row, RowStage
from cass_ray.pipeline.stages.order import (
    Pool,
    StageContext,
    make_stages,
    run_stages,
    wanted_stages,
)
from cass_ray.pipeline.stages.reference import REFERENCE_COLUMN
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.manifest import PartFile
from cass_ray.toolchain.errors import ToolMissing

READ_COLUMN = "read"
"""With ``block``, what a table of block names has: the key of the piece as it was read."""

HALF_DONE_SCHEMA = pa.schema(
    [(BLOCK_COLUMN, pa.string()), ("pool", pa.string()), ("part", pa.string())]
)
"""What stands for rows that are kept: ``part`` is JSON, of a part of ``BuildWork.half_done``."""

COMMITTED_SCHEMA = pa.schema(
    [(BLOCK_COLUMN, pa.string()), ("counts", pa.map_(pa.string(), pa.int64()))]
)
"""What the last workers return."""


def named_blocks(blocks: Sequence[tuple[str, str]]) -> pa.Table:
    """A table that stands for blocks: (key of the piece as it was read, key of the block)."""
    return pa.table(
        {READ_COLUMN: [read for read, _ in blocks], BLOCK_COLUMN: [key for _, key in blocks]}
    )


class StageWorker:
    """What all share: rows from the store, and rows that kill their worker.

    A row on which a worker died is tried alone, then rejected, unless whole nodes were lost.

    Args:
        work: the build.
        coordinator: name of the job's :class:`~actors.coordinator.Coordinator`.
        pools: those whose stages rows pass here, in order.
        commits: whether rows are finished here.
        keeps: whether rows that are not finished here are kept in the store.

    Raises:
        ToolMissing: this node cannot run a stage that it offers to run.
    """

    pool: ClassVar[Pool]
    blame: ClassVar[Stage]
    """Where a row that kills this worker is rejected."""
    schema: ClassVar[pa.Schema] = WORK_SCHEMA

    def __init__(
        self,
        work: BuildWork,
        coordinator: str,
        pools: Sequence[Pool],
        commits: bool,
        keeps: bool = False,
    ) -> None:
        self._work = work
        self._commits = commits
        self._keeps = keeps and not commits
        self._coordinator = ray.get_actor(coordinator)
        self._node = ray.get_runtime_context().get_node_id()
        self._entries = wanted_stages(work.settings, pools)
        for entry in self._entries:
            if problem := entry.problem():
                raise self._told(problem)
        self._reader = BlockReader(work)
        self._metrics = PoolMetrics(self.pool.value)
        self._of_thread = threading.local()

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Work on the rows of ``batch``; one by one when a worker died on them before."""
        with self._metrics.busy():
            return self._worked_on(batch)

    def _worked_on(self, batch: pa.Table) -> pa.Table:
        try:
            stages = self._stages()
        except ToolMissing as error:
            raise self._told(error) from None
        rows = self._rows(batch)
        self._metrics.given(len(rows))
        blocks = list(dict.fromkeys(row[BLOCK_COLUMN] for row in rows))
        if self._begun_before(blocks):
            self._metrics.again(len(blocks))
            rows = [self._alone(row, stages) for row in rows]
        else:
            rows = run_stages(stages, rows)
        result = self._made(rows)
        self._coordinator.end_batch.remote(self.pool.value, blocks)
        return result

    def _told(self, problem: ToolMissing) -> ToolMissing:
        """``problem``, which the driver then knows of: Ray makes errors and texts of its own."""
        ray.get(self._coordinator.cannot_begin.remote(problem))
        return problem

    def _rows(self, batch: pa.Table) -> list[Row]:
        if batch.column_names == HALF_DONE_SCHEMA.names:
            return [row for each in batch.to_pylist() for row in self._kept_rows(**each)]
        if READ_COLUMN not in batch.column_names:
            rows: list[Row] = batch.to_pylist()
            return rows
        return [
            row
            for each in batch.to_pylist()
            for row in self._reader.rows(Block.parse(each[BLOCK_COLUMN]), each[READ_COLUMN])
        ]

    def _kept_rows(self, block: str, pool: str, part: str) -> list[Row]:
        kept = self._work.half_done(pool).table(PartFile.model_validate_json(part))
        rows: list[Row] = kept.to_pylist()
        return rows

    def _made(self, rows: list[Row]) -> pa.Table:
        if self._commits:
            return self._committed(rows)
        return self._kept(rows) if self._keeps else self._table(rows)

    def _kept(self, rows: list[Row]) -> pa.Table:
        """Commit rows that others finish; what stands for them."""
        manifest, kept_rows = self._work.half_done(self.pool.value), []
        for key, own in groupby(rows, key=itemgetter(BLOCK_COLUMN)):
            draft = manifest.draft(key)
            draft.write_table("rows", self._table(list(own)))
            part = draft.commit().parts["rows"].model_dump_json()
            kept_rows.append({BLOCK_COLUMN: key, "pool": self.pool.value, "part": part})
        return pa.Table.from_pylist(kept_rows, schema=HALF_DONE_SCHEMA)

    def _table(self, rows: list[Row]) -> pa.Table:
        return pa.Table.from_pylist(rows, schema=self.schema)

    def _committed(self, rows: list[Row]) -> pa.Table:
        """Commit whole blocks: one that came in parts would be a bug of the pipeline."""
        result = []
        for key, own in groupby(rows, key=itemgetter(BLOCK_COLUMN)):
            entry = commit_block(self._work, key, list(own))
            result.append({BLOCK_COLUMN: key, "counts": list(entry.counts.items())})
        return pa.Table.from_pylist(result, schema=COMMITTED_SCHEMA)

    def _stages(self) -> Sequence[RowStage]:
        stages: Sequence[RowStage] | None = getattr(self._of_thread, "stages", None)
        if stages is None:
            settings = self._work.settings
            workspace = Workspace(self._work.trees.get)
            context = StageContext(settings, workspace, result_cache(settings))
            stages = self._of_thread.stages = make_stages(self._entries, context)
        return stages

    def _begun_before(self, blocks: list[str]) -> bool:
        begun: bool = ray.get(self._coordinator.begin_batch.remote(self.pool.value, blocks))
        return begun

    def _alone(self, row: Row, stages: Sequence[RowStage]) -> Row:
        if is_rejected(row):
            return row
        begin = self._coordinator.begin_row
        if not ray.get(begin.remote(self.pool.value, row["id"], self._node)):
            message = "the worker died each time it had this row alone in hand"
            return rejected(row, self.blame, Reason.WORKER_DIED, message)
        (result,) = run_stages(stages, [row])
        # A later row of the block may kill the next worker, which tries this one once more.
        self._coordinator.end_row.remote(self.pool.value, row["id"])
        return result


class SourceTranslator(StageWorker):
    """It translates CUDA to HIP by an engine that is too slow to go along with a compiler."""

    pool = Pool.TRANSLATOR
    blame = Stage.TRANSLATE


class NvidiaCompiler(StageWorker):
    """It compiles CUDA to host assembly and SASS."""

    pool = Pool.NVIDIA_COMPILER
    blame = Stage.COMPILE_NVIDIA


class AmdCompiler(StageWorker):
    """It compiles HIP, aligns both sides, and lifts where that is asked for."""

    pool = Pool.AMD_COMPILER
    blame = Stage.COMPILE_AMD


class NvidiaExecutor(StageWorker):
    """Runs the CUDA side on a GPU; adds the column ``reference``."""

    pool = Pool.NVIDIA_EXECUTOR
    blame = Stage.EXECUTE
    schema = WORK_SCHEMA.append(pa.field(REFERENCE_COLUMN, pa.string()))


class AmdExecutor(StageWorker):
    """Runs the AMD side, on a GPU or on the CPU, and compares; takes ``reference`` away."""

    pool = Pool.AMD_EXECUTOR
    blame = Stage.EXECUTE


WORKERS: dict[Pool, type[StageWorker]] = {
    worker.pool: worker
    for worker in (SourceTranslator, NvidiaCompiler, AmdCompiler, NvidiaExecutor, AmdExecutor)
}
"""The actor class of each pool."""
