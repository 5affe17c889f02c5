"""A data set on disk: ``pairs/*.parquet``, ``rejects/*.parquet``, ``report.json``, ``README.md``.

Parts are written in row order with fixed row counts, so the same rows give the same bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA, is_rejected

ROWS_PER_PART = 2000
_ROWS_PER_GROUP = 50


class PartWriter:
    """Writes rows of ``schema`` as ``part-00000.parquet`` … under ``directory``.

    At most one row group (50 rows) is held in memory; ``rows_per_part`` is a multiple of that.
    Without a row there is still one part, so that readers find a schema. ``first`` is the number of
    the first part.
    """

    def __init__(
        self,
        directory: Path,
        schema: pa.Schema,
        rows_per_part: int = ROWS_PER_PART,
        first: int = 0,
    ) -> None:
        self.directory = directory
        self.schema = schema
        self.rows = 0
        self._rows_per_part = rows_per_part
        self._first = first
        self._pending: list[dict[str, Any]] = []
        self._writer: pq.ParquetWriter | None = None
        directory.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and (self._pending or self.rows == 0):
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def write(self, row: dict[str, Any]) -> None:
        """Append ``row``; columns outside the schema are left out."""
        self._pending.append(row)
        if len(self._pending) == _ROWS_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._writer is None:
            number = self._first + self.rows // self._rows_per_part
            path = self.directory / f"part-{number:05}.parquet"
            self._writer = pq.ParquetWriter(path, self.schema, compression="zstd")
        self._writer.write_table(pa.Table.from_pylist(self._pending, schema=self.schema))
        self.rows += len(self._pending)
        self._pending = []
        if self.rows and self.rows % self._rows_per_part == 0:
            self._writer.close()
            self._writer = None


@contextmanager
def replaced(directory: Path) -> Iterator[Path]:
    """A folder for ``pairs`` and ``rejects``, which take the place of those in ``directory``.

    That happens when everything is out, so a reader never sees half of a data set; after an error
    the old ones stay.
    """
    fresh = directory / ".fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        yield fresh
        for name in ("pairs", "rejects"):
            shutil.rmtree(directory / name, ignore_errors=True)
            (fresh / name).rename(directory / name)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write_rows(rows: Iterable[dict[str, Any]], directory: Path) -> Iterator[dict[str, Any]]:
    """Write ``rows`` as pairs and rejects under ``directory``, yielding each as it is written."""
    with (
        replaced(directory) as fresh,
        PartWriter(fresh / "pairs", PAIR_SCHEMA) as pairs,
        PartWriter(fresh / "rejects", REJECT_SCHEMA) as rejects,
    ):
        for row in rows:
            (rejects if is_rejected(row) else pairs).write(row)
            yield row


def read_rows(
    directory: Path, part: str = "pairs", columns: list[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Rows of ``directory/part`` (``pairs`` or ``rejects``), streamed in order.

    Raises ``FileNotFoundError`` when there is no such data set.
    """
    folder = directory / part
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no data set here (build one with `cass build-dataset`)")
    for path in sorted(folder.glob("*.parquet")):
        for batch in pads.dataset(path).to_batches(columns=columns, batch_size=64):
            yield from batch.to_pylist()
