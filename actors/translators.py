"""Translation as a stateful stage of ``Dataset.map_batches``."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import ray

from cass_ray.stages import WORK_SCHEMA, translate
from cass_ray.translate.registry import make_translator
from cass_ray.unpacked import UnpackedTrees


class SourceTranslator:
    """CUDA -> HIP by the named engine; the engine's tables are loaded once per actor."""

    def __init__(self, engine: str, coordinator: Any) -> None:
        self._translator = make_translator(engine)
        self._trees = UnpackedTrees(lambda digest: ray.get(coordinator.tree.remote(digest)))

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Translate the rows of ``batch``; rows without a translation come back rejected."""
        rows = [translate(row, self._translator, self._trees) for row in batch.to_pylist()]
        return pa.Table.from_pylist(rows, schema=WORK_SCHEMA)
