"""Rows of a data set on disk, read only when asked for."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
from rich.text import Text

from cass_ray.browse.filters import RowFilter
from cass_ray.dataset.parquet import parquet_dataset, parquet_files
from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA
from cass_ray.printable import printable_text

SIDE_BY_SIDE = (
    ("cuda_source", "hip_source"),
    ("cuda_host", "hip_host"),
    ("cuda_device", "hip_device"),
)
"""Column pairs that one row shows next to each other."""

SUMMARY = (
    "id",
    "filename",
    "domain",
    "kernels",
    "cuda_device_bytes",
    "hip_device_bytes",
    "level",
    "verified",
)
REJECT_SUMMARY = ("filename", "stage", "reason", "diagnostic")

_SIZES = {
    f"{column}_bytes": pc.binary_length(pc.field(column))
    for pair in SIDE_BY_SIDE
    for column in pair
}


class NotFoundError(Exception):
    """What was asked for is not in the data set; the message says what is."""


@dataclass(frozen=True)
class RowSet:
    """The pairs or the rejects of a data set; rows are read only when asked for."""

    name: str
    files: list[str]
    schema: pa.Schema

    @classmethod
    def open(cls, directory: Path | str, rejects: bool) -> RowSet:
        """Raises ``NotFoundError`` when ``directory``, a folder or a URL, holds no data set."""
        name = "rejects" if rejects else "pairs"
        if files := parquet_files(directory, name):
            return cls(name, files, REJECT_SCHEMA if rejects else PAIR_SCHEMA)
        if isinstance(directory, str):
            raise NotFoundError(f"{directory}: no data set, no {name}/*.parquet in it")
        if not directory.exists():
            near = difflib.get_close_matches(directory.name, _names_in(directory.parent), n=1)
            hint = f"; did you mean {directory.parent / near[0]}?" if near else ""
            raise NotFoundError(f"{directory}: no such folder{hint}")
        hint = " (is this its pairs or rejects folder? name the folder above)"
        is_part = directory.name in ("pairs", "rejects")
        raise NotFoundError(
            f"{directory}: no data set, no {name}/*.parquet in it{hint if is_part else ''}"
        )

    @cached_property
    def _dataset(self) -> pads.Dataset:
        return parquet_dataset(self.files, self.schema)

    @property
    def rows(self) -> int:
        return int(self._dataset.count_rows())

    def check_columns(self, names: list[str], computed: bool) -> None:
        """Raise ``NotFoundError`` for a name that is no column, with the nearest that is."""
        columns = [*self.schema.names, *(_SIZES if computed else ())]
        for name in names:
            if name not in columns:
                near = difflib.get_close_matches(name, columns, n=3, cutoff=0.4)
                raise NotFoundError(f"no column {name!r}; {_either(near or columns)}")

    def head(self, columns: list[str], limit: int) -> list[dict[str, Any]]:
        """The first ``limit`` rows; ``…_bytes`` columns are the sizes of text columns."""
        projection = {name: _SIZES.get(name, pc.field(name)) for name in columns}
        table = self._dataset.scanner(columns=projection).head(limit)
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows

    def row(self, index: int, columns: list[str] | None = None) -> dict[str, Any]:
        """Row number ``index``; only its row group is read.

        Raises ``NotFoundError`` when there are fewer rows.
        """
        left = index
        for fragment in self._dataset.get_fragments():
            for group in fragment.split_by_row_group():
                size = group.row_groups[0].num_rows
                if left < size:
                    table = group.to_table(schema=self.schema, columns=columns)
                    row: dict[str, Any] = table.slice(left, 1).to_pylist()[0]
                    return row
                left -= size
        raise NotFoundError(f"no row {index}; there are {self.rows} ({self.name})")

    def matching(self, condition: RowFilter, most: int) -> tuple[list[int], int]:
        """Numbers of the first ``most`` rows that ``condition`` holds for; how many there are."""
        result: list[int] = []
        total = at = 0
        for batch in self._dataset.to_batches(columns=condition.columns or ["id"]):
            here = np.flatnonzero(condition.mask(batch).to_numpy(zero_copy_only=False))
            total += len(here)
            result += (at + here[: most - len(result)]).tolist()
            at += batch.num_rows
        return result, total

    def some(self, numbers: list[int], columns: list[str]) -> list[dict[str, Any]]:
        """The rows with these numbers, in their order."""
        rows: list[dict[str, Any]] = self._dataset.take(numbers, columns=columns).to_pylist()
        return rows

    def find(self, prefix: str) -> int:
        """Index of the one row whose id starts with ``prefix``.

        Raises ``NotFoundError`` when there is none, or more than one.
        """
        matches = [(index, id_) for index, id_ in self._ids() if id_.startswith(prefix)]
        if len({id_ for _, id_ in matches}) == 1:
            return matches[0][0]
        if matches:
            names = [id_[: len(prefix) + 8] for _, id_ in matches[:5]]
            raise NotFoundError(f"{len(matches)} rows start with {prefix!r}: {', '.join(names)}, …")
        near = difflib.get_close_matches(
            prefix, {id_[: len(prefix)] for _, id_ in self._ids()}, n=3
        )
        hint = f"; {_either(near)}" if near else ""
        raise NotFoundError(f"no id in {self.name} starts with {prefix!r}{hint}")

    def _ids(self) -> Iterator[tuple[int, str]]:
        index = 0
        for batch in self._dataset.to_batches(columns=["id"]):
            for id_ in batch.column("id").to_pylist():
                yield index, id_ or ""
                index += 1


_PLACE = re.compile(r"\S+:\d+(?::\d+)?: (?:(?:fatal )?error: )?")
"""Where a compiler's message says that something is: in a narrow column the place is all of it."""


def cell(name: str, value: Any) -> Text:
    """``value`` of a column as one line of a table."""
    if name == "id":
        return Text(plain(value)[:12])
    if name == "kernels":
        return Text(", ".join(plain(kernel) for kernel in value or []))
    if isinstance(value, int) and not isinstance(value, bool):
        return Text(f"{value:,}", justify="right")
    first = next(iter(plain(value).splitlines()), "")
    return Text(_PLACE.sub("", first) if name == "diagnostic" else first)


def plain(value: Any) -> str:
    """``value`` as text for a terminal: sources are untrusted, what steers one is written out."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable_text(text)


def _either(names: list[str]) -> str:
    return f"did you mean {names[0]}?" if len(names) == 1 else f"there are {', '.join(names)}"


def _names_in(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()] if directory.is_dir() else []
