"""Stateful executors for ``Dataset.map_batches``: a backend and a cache per actor, rows in and out.

:class:`NvidiaExecutor` adds the column ``reference`` to the batch; :class:`AmdExecutor` reads it
where it is there, and takes it away. A row that kills its worker is tried alone, then rejected.
"""

from __future__ import annotations

import pyarrow as pa
import ray

from actors.compilers import Work, _Worker, result_cache, trees_from
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.backends.registry import candidate_backend
from cass_ray.execute.stage import REFERENCE_COLUMN, ExecuteStage, ReferenceStage
from cass_ray.pairs import Stage
from cass_ray.settings import BuildSettings
from cass_ray.stages import WORK_SCHEMA
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.translate.registry import make_translator
from cass_ray.unpacked import UnpackedTrees


class NvidiaExecutor:
    """Runs the CUDA side. For nodes that have an Nvidia GPU (resource ``GPU``)."""

    def __init__(self, settings: BuildSettings, coordinator: str) -> None:
        del settings
        trees = trees_from(ray.get_actor(coordinator))
        backend = NvidiaBackend()
        if problem := backend.problem():
            raise ToolMissing("An Nvidia GPU to execute on", "Run without --execute.", problem)
        self._stage_nvidia = ReferenceStage(backend, trees)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Fill in the reference column."""
        rows = self._stage_nvidia.measure(batch.to_pylist())
        schema = WORK_SCHEMA.append(pa.field(REFERENCE_COLUMN, pa.string()))
        return pa.Table.from_pylist(rows, schema=schema)


class AmdExecutor(_Worker):
    """Runs the AMD side, on a GPU or on the CPU, and compares. Resource ``amd``."""

    def __init__(self, settings: BuildSettings, coordinator: str) -> None:
        backend = candidate_backend()
        if isinstance(backend, Rdna3Backend):
            backend = backend.single_threaded()  # one slot is one core
        if problem := backend.problem():
            raise ToolMissing("A backend to execute on", "Run without --execute.", problem)

        def make(trees: UnpackedTrees) -> Work:
            return ExecuteStage(
                backend, trees, make_translator(settings.translator), cache=result_cache(settings)
            ).execute

        super().__init__(Stage.EXECUTE, coordinator, make)
