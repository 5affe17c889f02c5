"""Translation as a stateful stage of ``Dataset.map_batches``."""

from __future__ import annotations

import pyarrow as pa
import ray

from actors.compilers import trees_from
from cass_ray.stages import WORK_SCHEMA, translate
from cass_ray.translate.registry import make_translator


class SourceTranslator:
    """CUDA -> HIP by the named engine; the engine's tables are loaded once per actor."""

    def __init__(self, engine: str, coordinator: str) -> None:
        self._translator = make_translator(engine)
        self._trees = trees_from(ray.get_actor(coordinator))

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Translate the rows of ``batch``; rows without a translation come back rejected."""
        rows = [translate(row, self._translator, self._trees) for row in batch.to_pylist()]
        return pa.Table.from_pylist(rows, schema=WORK_SCHEMA)
