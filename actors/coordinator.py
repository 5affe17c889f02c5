"""One actor a job: hands out rows and trees, and remembers which rows killed their worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from cass_ray.corpus.reading.trees import DirectoryTreeStore

ATTEMPTS = 2
"""A row may take its worker down this often on its own before it is rejected."""


class Coordinator:
    """Lives on the driver's node, beside the staged rows and tree archives that ingestion wrote."""

    def __init__(self, trees: str) -> None:
        self._trees = DirectoryTreeStore(trees)
        self._batches: Counter[tuple[str, str]] = Counter()
        self._rows: Counter[tuple[str, str]] = Counter()

    def staged(self, part: str, start: int, rows: int) -> pa.Table:
        """Rows ``start`` to ``start + rows`` of the staged Parquet file ``part``."""
        return pq.read_table(part).slice(start, rows)

    def tree(self, digest: str) -> bytes:
        """The archive of ``digest``; raises ``KeyError`` when ingestion never stored it."""
        return self._trees.get(digest)

    def begin_batch(self, stage: str, row_ids: Sequence[str]) -> bool:
        """Note that a worker starts on these rows; True when one of them was begun before."""
        self._batches.update((stage, row_id) for row_id in row_ids)
        return any(self._batches[stage, row_id] > 1 for row_id in row_ids)

    def begin_row(self, stage: str, row_id: str) -> bool:
        """Note a try of one row on its own; False when it has used up its attempts."""
        self._rows[stage, row_id] += 1
        return self._rows[stage, row_id] <= ATTEMPTS
