"""A data set on disk: ``pairs/*.parquet``, ``rejects/*.parquet``, ``report.json``, ``README.md``.

Parts are written in row order with fixed row counts, so the same rows give the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from cass_ray.storage.location import SEPARATOR, below
from cass_ray.storage.store import opened

if TYPE_CHECKING:
    import pyarrow.dataset as pads

CHECKED: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}
"""How Parquet is written here: readers that ask for it see a damaged page."""
ROWS_PER_PART = 2000
LINES_PER_GROUP = 1 << 15
_ROWS_PER_GROUP = 50


def part_name(number: int) -> str:
    """File name of a part."""
    return f"part-{number:05}.parquet"


class PartWriter:
    """Writes rows of ``schema`` as ``part-00000.parquet`` … under ``directory``.

    At most one row group (50 rows) is held in memory; ``rows_per_part`` is a multiple of that.
    Without a row there is still one part, so that readers find a schema.
    """

    def __init__(
        self,
        directory: Path,
        schema: pa.Schema,
        rows_per_part: int = ROWS_PER_PART,
    ) -> None:
        self.directory = directory
        self.schema = schema
        self.rows = 0
        self._rows_per_part = rows_per_part
        self._pending: list[dict[str, Any]] = []
        self._writer: pq.ParquetWriter | None = None
        directory.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
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
            path = self.directory / part_name(self.rows // self._rows_per_part)
            self._writer = pq.ParquetWriter(path, self.schema, **CHECKED)
        self._writer.write_table(pa.Table.from_pylist(self._pending, schema=self.schema))
        self.rows += len(self._pending)
        self._pending = []
        if self.rows and self.rows % self._rows_per_part == 0:
            self._writer.close()
            self._writer = None


def part_bytes(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> bytes:
    """The bytes that a :class:`PartWriter` writes of one part."""
    buffer = io.BytesIO()
    left = iter(rows)
    group = list(islice(left, _ROWS_PER_GROUP))
    with pq.ParquetWriter(buffer, schema, **CHECKED) as writer:
        writer.write_table(pa.Table.from_pylist(group, schema=schema))
        while group := list(islice(left, _ROWS_PER_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
    return buffer.getvalue()


class LineWriter:
    """One Parquet file of short rows, which come as tables of any number of them.

    Row groups have :data:`LINES_PER_GROUP` rows whatever the tables have: the file's index, which
    is in memory until the end, takes several kilobytes for each.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(path, schema, **CHECKED)
        self._pending: list[pa.Table] = []
        self._rows = 0

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._rows:
            self._flush()
        self._writer.close()

    def write(self, table: pa.Table) -> None:
        if not table.num_rows:
            return
        self._pending.append(table)
        self._rows += table.num_rows
        while self._rows >= LINES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        rows = pa.concat_tables(self._pending)
        # In one chunk: where tables ended must not be seen in the bytes.
        self._writer.write_table(rows.slice(0, LINES_PER_GROUP).combine_chunks())
        left = rows.slice(LINES_PER_GROUP)
        self._pending, self._rows = [left], left.num_rows


def parquet_files(location: Path | str, part: str = "pairs") -> list[str]:
    """Paths or URLs of the files of ``location/part``, in order; none where there is no such
    folder."""
    folder = below(location, part)
    if isinstance(folder, Path):
        return sorted(str(path) for path in folder.glob("*.parquet"))
    files, root = opened(folder)
    return sorted(files.unstrip_protocol(path) for path in files.glob(f"{root}/*.parquet"))


def parquet_dataset(files: Sequence[str], schema: pa.Schema | None = None) -> pads.Dataset:
    """``files``, all local or all of one storage, as one; damaged pages are errors of pyarrow."""
    import pyarrow.dataset as pads  # brings pandas, which takes longer than a small build

    filesystem, paths = of_one_storage(files)
    checked = pads.ParquetFragmentScanOptions(page_checksum_verification=True)
    form = pads.ParquetFileFormat(default_fragment_scan_options=checked)
    return pads.dataset(paths, schema=schema, format=form, filesystem=filesystem)


def of_one_storage(files: Sequence[str]) -> tuple[Any, list[str]]:
    """The fsspec file system of ``files``, None for local ones, and their paths there.

    ``files`` are all local or all of one storage.
    """
    if not files or SEPARATOR not in files[0]:
        return None, list(files)
    filesystem, _ = opened(files[0])
    return filesystem, [filesystem._strip_protocol(path) for path in files]


def file_version(file: str) -> tuple[int, int | str]:
    """Bytes of ``file``, a path or URL, and what differs once it was written again: for a path the
    time in nanoseconds, for a URL what its storage tells changes by. Raises ``FileNotFoundError``.
    """
    filesystem, (path,) = of_one_storage([file])
    if filesystem is None:
        status = Path(path).stat()
        return status.st_size, status.st_mtime_ns
    return int(filesystem.size(path)), str(filesystem.ukey(path))


def read_rows(
    location: Path | str, part: str = "pairs", columns: list[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Rows of ``location/part`` (``pairs`` or ``rejects``), streamed in order.

    Raises ``FileNotFoundError`` when there is no such data set.
    """
    files = parquet_files(location, part)
    if not files:
        raise FileNotFoundError(
            f"{below(location, part)}: no data set here (build one with `cass build-dataset`)"
        )
    for path in files:
        for batch in parquet_dataset([path]).to_batches(columns=columns, batch_size=64):
            yield from batch.to_pylist()
