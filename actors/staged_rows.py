"""Staged rows as Ray Data sees them: blocks that only say where their rows are.

The first actor of the pipeline asks the coordinator for the rows of such a block. Nothing but
compilers' work is then a Ray task: no worker process reads, and the object store holds rows that
somebody works on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray

_PART, _START, _ROWS = "staged_part", "staged_start", "staged_rows"


def staged_blocks(folder: Path, rows_per_block: int) -> list[pa.Table]:
    """One block for every ``rows_per_block`` rows of the Parquet parts in ``folder``, in order.

    ``read_parquet`` would merge small files into one block, and one block is one actor's work.
    """
    blocks = []
    for path in sorted(folder.glob("*.parquet")):
        total = pq.read_metadata(path).num_rows
        for start in range(0, total, rows_per_block):
            rows = min(rows_per_block, total - start)
            blocks.append(pa.table({_PART: [str(path)], _START: [start], _ROWS: [rows]}))
    return blocks


def with_rows(batch: pa.Table, coordinator: Any) -> pa.Table:
    """The rows that ``batch`` stands for; a batch that has its rows already comes back as it is.

    ``coordinator`` is the handle of the job's :class:`~actors.coordinator.Coordinator`.
    """
    if _PART not in batch.column_names:
        return batch
    parts = [
        ray.get(coordinator.staged.remote(cut[_PART], cut[_START], cut[_ROWS]))
        for cut in batch.to_pylist()
    ]
    return pa.concat_tables(parts)
