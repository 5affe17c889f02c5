"""Workers of the build for ``Dataset.map_batches``: the stages of one pool, rows in and rows out.

An actor serves one compile slot or several, each slot a thread with stages of its own: compilers
are processes, so threads suffice, and a slot costs no Python process of its own.

A batch is an Arrow table of ``WORK_SCHEMA``; what comes back has the same rows.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa
import ray

from actors.staged_rows import with_rows
from cass_ray.dataset.schema import Reason, Stage, is_rejected, rejected
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA, Row, RowStage
from cass_ray.pipeline.stages.order import (
    Pool,
    StageContext,
    make_stages,
    run_stages,
    wanted_stages,
)
from cass_ray.pipeline.stages.reference import REFERENCE_COLUMN
from cass_ray.pipeline.workspace import Workspace


class StageWorker:
    """What all share: rows and trees from the coordinator, and rows that kill their worker.

    ``coordinator`` is the name of the job's :class:`~actors.coordinator.Coordinator`. A row on
    which a worker died is tried alone, then rejected. Raises ``ToolMissing`` where this node
    cannot run a stage that it offers to run.
    """

    pool: ClassVar[Pool]
    blame: ClassVar[Stage]
    """Where a row that kills this worker is rejected."""
    schema: ClassVar[pa.Schema] = WORK_SCHEMA

    def __init__(self, settings: BuildSettings, coordinator: str) -> None:
        self._settings = settings
        self._coordinator = ray.get_actor(coordinator)
        self._entries = wanted_stages(settings, [self.pool])
        for entry in self._entries:
            if problem := entry.problem():
                raise problem
        self._of_thread = threading.local()

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Work on the rows of ``batch``; one by one when a worker died on them before."""
        stages = self._stages()
        rows: list[Row] = with_rows(batch, self._coordinator).to_pylist()
        open_ids = [row["id"] for row in rows if not is_rejected(row)]
        if open_ids and self._begun_before(open_ids):
            rows = [self._alone(row, stages) for row in rows]
        else:
            rows = run_stages(stages, rows)
        return pa.Table.from_pylist(rows, schema=self.schema)

    def _stages(self) -> Sequence[RowStage]:
        stages: Sequence[RowStage] | None = getattr(self._of_thread, "stages", None)
        if stages is None:
            workspace = Workspace(self._tree)
            context = StageContext(self._settings, workspace, result_cache(self._settings))
            stages = self._of_thread.stages = make_stages(self._entries, context)
        return stages

    def _tree(self, digest: str) -> Any:
        return ray.get(self._coordinator.tree.remote(digest))

    def _begun_before(self, row_ids: list[str]) -> bool:
        begun: bool = ray.get(self._coordinator.begin_batch.remote(self.pool.value, row_ids))
        return begun

    def _alone(self, row: Row, stages: Sequence[RowStage]) -> Row:
        if is_rejected(row):
            return row
        if not ray.get(self._coordinator.begin_row.remote(self.pool.value, row["id"])):
            message = "the worker died each time it had this row alone in hand"
            return rejected(row, self.blame, Reason.WORKER_DIED, message)
        return run_stages(stages, [row])[0]


class SourceTranslator(StageWorker):
    """CUDA -> HIP by an engine that is too slow for the driver."""

    pool = Pool.TRANSLATOR
    blame = Stage.TRANSLATE


class NvidiaCompiler(StageWorker):
    """CUDA -> host assembly and SASS."""

    pool = Pool.NVIDIA_COMPILER
    blame = Stage.COMPILE_NVIDIA


class AmdCompiler(StageWorker):
    """HIP -> host and device assembly, then alignment with the CUDA side; lifting if asked."""

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
