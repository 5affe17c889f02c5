"""The journal of finished rows: what makes a job resumable.

A job appends each finished block as one small Parquet shard, written under a temporary name and
renamed, so that a killed job leaves whole shards only. A later run asks which row ids are in and
computes the rest; at the end rows are read back in input order.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cass_ray.checked_entry import seal, warn

_OPEN_SHARDS = 8
"""Shards kept decoded while rows are read back; rows arrive nearly in order, so few are enough."""


class Journal:
    """Finished rows by ``id`` in ``directory``; one writer, rows of one schema."""

    def __init__(self, directory: Path, schema: pa.Schema) -> None:
        self.directory = directory
        self.schema = schema
        directory.mkdir(parents=True, exist_ok=True)
        for leftover in directory.glob("*.part"):
            leftover.unlink()
        self._where: dict[str, tuple[Path, int]] = {}
        self._decoded: OrderedDict[Path, pa.Table] = OrderedDict()
        shards = sorted(path for path in directory.glob("*.parquet") if _is_whole(path))
        for shard in shards:
            self._index(shard, pq.read_table(shard, columns=["id"]).column("id").to_pylist())
        self._next = 1 + max((int(shard.stem) for shard in shards), default=-1)

    def _index(self, shard: Path, ids: Iterable[str]) -> None:
        for position, row_id in enumerate(ids):
            self._where.setdefault(row_id, (shard, position))

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._where

    def __len__(self) -> int:
        return len(self._where)

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Write ``rows`` durably as one shard; an empty list is ignored."""
        if not rows:
            return
        shard = self.directory / f"{self._next:08}.parquet"
        self._next += 1
        part = shard.with_suffix(".part")
        table = pa.Table.from_pylist(rows, schema=self.schema)
        pq.write_table(table, part, compression="zstd", write_page_checksum=True)
        with part.open("rb") as handle:
            os.fsync(handle.fileno())
            _checksum(shard).write_bytes(seal(shard.name, handle.read()))
        part.replace(shard)
        self._index(shard, (row["id"] for row in rows))

    def read(self, row_ids: Iterable[str]) -> Iterator[dict[str, Any]]:
        """The rows of ``row_ids``, in that order. Raises ``KeyError`` for an unknown id."""
        for row_id in row_ids:
            shard, position = self._where[row_id]
            yield self._table(shard).slice(position, 1).to_pylist()[0]

    def _table(self, shard: Path) -> pa.Table:
        table = self._decoded.get(shard)
        if table is None:
            table = self._decoded[shard] = pq.read_table(shard, page_checksum_verification=True)
            if len(self._decoded) > _OPEN_SHARDS:
                self._decoded.popitem(last=False)
        else:
            self._decoded.move_to_end(shard)
        return table


def _checksum(shard: Path) -> Path:
    """Where the checksum of ``shard`` is; older versions wrote none."""
    return shard.with_suffix(".sha256")


def _is_whole(shard: Path) -> bool:
    """Whether ``shard`` is as it was written; rows of a damaged one are computed again."""
    checksum = _checksum(shard)
    if not checksum.exists() or checksum.read_bytes() == seal(shard.name, shard.read_bytes()):
        return True
    warn(shard)
    shard.unlink()
    return False
