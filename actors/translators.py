"""Translation as a stateful stage of ``Dataset.map_batches``."""

from __future__ import annotations

import pyarrow as pa
import ray

from actors.compilers import trees_from
from actors.staged import with_rows
from cass_ray.stages import WORK_SCHEMA, translate
from cass_ray.translate.registry import make_translator


class SourceTranslator:
    """CUDA -> HIP by the named engine; the engine's tables are loaded once per actor."""

    def __init__(self, engine: str, coordinator: str) -> None:
        self._translator = make_translator(engine)
        self._coordinator = ray.get_actor(coordinator)
        self._trees = trees_from(self._coordinator)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Translate the rows of ``batch``; rows without a translation come back rejected."""
        staged = with_rows(batch, self._coordinator).to_pylist()
        rows = [translate(row, self._translator, self._trees) for row in staged]
        return pa.Table.from_pylist(rows, schema=WORK_SCHEMA)
