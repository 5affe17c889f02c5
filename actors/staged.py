"""Staged rows as a Ray Data source whose blocks have a set number of rows.

``read_parquet`` merges small files into one block, and one block is one actor's work: blocks are
cut here instead, which also saves the stages that would cut them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask


def _read(path: str, start: int, rows: int) -> Iterable[pa.Table]:
    yield pq.read_table(path).slice(start, rows)


class StagedRows(Datasource):  # type: ignore[misc]  # Ray has no types
    """Rows of the Parquet parts in ``folder``, in order, ``rows_per_block`` a block."""

    def __init__(self, folder: Path, rows_per_block: int) -> None:
        super().__init__()
        self._cuts: list[tuple[str, int, int, int]] = []
        for path in sorted(folder.glob("*.parquet")):
            metadata = pq.read_metadata(path)
            width = path.stat().st_size // max(1, metadata.num_rows)
            for start in range(0, metadata.num_rows, rows_per_block):
                rows = min(rows_per_block, metadata.num_rows - start)
                self._cuts.append((str(path), start, rows, rows * width))

    def estimate_inmemory_data_size(self) -> int:
        """Bytes on disk; decoded rows take a few times that."""
        return sum(size for *_, size in self._cuts)

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: object | None = None,
    ) -> list[ReadTask]:
        """One task a block, whatever ``parallelism`` says."""
        return [
            ReadTask(
                partial(_read, path, start, rows),
                BlockMetadata(num_rows=rows, size_bytes=size, input_files=[path], exec_stats=None),
            )
            for path, start, rows, size in self._cuts
        ]
