"""``cass inspect``: rows of a data set, as a table or one of them side by side."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA
from cass_ray.exit_codes import EXIT_USAGE, fail

app = typer.Typer(add_completion=False, rich_markup_mode=None)

SIDE_BY_SIDE = (
    ("cuda_source", "hip_source"),
    ("cuda_host", "hip_host"),
    ("cuda_device", "hip_device"),
)
"""Column pairs that one row shows next to each other."""

DEFAULT_TEXTS = ("cuda_source", "hip_source", "cuda_device", "hip_device")

SUMMARY = (
    "id",
    "filename",
    "domain",
    "kernels",
    "cuda_device_bytes",
    "hip_device_bytes",
    "verified",
)
REJECT_SUMMARY = ("id", "filename", "stage", "reason", "diagnostic")

_SIZES = {
    f"{column}_bytes": pc.binary_length(pc.field(column))
    for pair in SIDE_BY_SIDE
    for column in pair
}
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), 127, *range(128, 160)), "�")


class NotFoundError(Exception):
    """What was asked for is not in the data set; the message says what is."""


@dataclass(frozen=True)
class Part:
    """The pairs or the rejects of a data set on disk; rows are read only when asked for."""

    folder: Path
    schema: pa.Schema

    @classmethod
    def open(cls, directory: Path, rejects: bool) -> Part:
        """Raises ``NotFoundError`` when ``directory`` holds no data set."""
        name = "rejects" if rejects else "pairs"
        folder = directory / name
        if any(folder.glob("*.parquet")):
            return cls(folder, REJECT_SCHEMA if rejects else PAIR_SCHEMA)
        if not directory.exists():
            near = difflib.get_close_matches(directory.name, _names_in(directory.parent), n=1)
            hint = f"; did you mean {directory.parent / near[0]}?" if near else ""
            raise NotFoundError(f"{directory}: no such folder{hint}")
        hint = " (is this its pairs or rejects folder? name the folder above)"
        is_part = directory.name in ("pairs", "rejects")
        raise NotFoundError(f"{directory}: no {name}/*.parquet in it{hint if is_part else ''}")

    @cached_property
    def _dataset(self) -> pads.Dataset:
        files = sorted(str(path) for path in self.folder.glob("*.parquet"))
        return pads.dataset(files, schema=self.schema, format="parquet")

    @property
    def rows(self) -> int:
        """Number of rows, from the files' metadata."""
        return int(self._dataset.count_rows())

    def check_columns(self, names: list[str], computed: bool) -> None:
        """Raise ``NotFoundError`` for a name that is no column, with the nearest that is."""
        known = [*self.schema.names, *(_SIZES if computed else ())]
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
                raise NotFoundError(f"no column {name!r}; {_either(near or known)}")

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
                    found: dict[str, Any] = table.slice(left, 1).to_pylist()[0]
                    return found
                left -= size
        raise NotFoundError(f"no row {index}; there are {self.rows} ({self.folder.name})")

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
        raise NotFoundError(f"no id in {self.folder.name} starts with {prefix!r}{hint}")

    def _ids(self) -> Iterator[tuple[int, str]]:
        index = 0
        for batch in self._dataset.to_batches(columns=["id"]):
            for id_ in batch.column("id").to_pylist():
                yield index, id_ or ""
                index += 1


@app.command()
def inspect(
    dataset: Annotated[
        Path, typer.Argument(help="Folder of a data set (holds pairs/ and rejects/).")
    ],
    id_prefix: Annotated[str, typer.Option("--id", help="Show the row whose id starts so.")] = "",
    index: Annotated[int | None, typer.Option(min=0, help="Show row number N, from 0.")] = None,
    columns: Annotated[str, typer.Option(help="Columns to show, separated by commas.")] = "",
    rejects: Annotated[
        bool, typer.Option("--rejects", help="Rejected rows, with the reason.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, texts uncut.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Rows in the table.")] = 20,
    lines: Annotated[int, typer.Option(min=1, help="Lines of each text that a row shows.")] = 40,
) -> None:
    """Show the rows of a data set, or one row with CUDA and HIP side by side."""
    if id_prefix and index is not None:
        raise typer.BadParameter("--id and --index exclude each other", param_hint="--index")
    names = [name.strip() for name in columns.split(",") if name.strip()]
    is_one_row = bool(id_prefix) or index is not None
    try:
        part = Part.open(dataset, rejects)
        part.check_columns(names, computed=not is_one_row)
        if is_one_row:
            number = index if index is not None else _find(dataset, part, id_prefix)
            _show_row(part.row(number, _to_read(names)), names, as_json, lines)
        else:
            names = names or list(REJECT_SUMMARY if rejects else SUMMARY)
            _show_table(part.head(names, limit), part.rows, part.folder.name, as_json)
    except NotFoundError as error:
        fail("inspect", _plain(str(error)), EXIT_USAGE)
    except (pa.ArrowInvalid, OSError) as error:
        fail("inspect", _plain(f"{dataset}: not readable as Parquet: {error}"), EXIT_USAGE)


def _find(directory: Path, part: Part, prefix: str) -> int:
    """The row's index; when it is on the other side of the data set, the message says so."""
    try:
        return part.find(prefix)
    except NotFoundError as error:
        other = part.folder.name == "pairs"
        try:
            Part.open(directory, rejects=other).find(prefix)
        except NotFoundError:
            raise error from None
        advice = "add --rejects" if other else "leave out --rejects"
        raise NotFoundError(
            f"{error}, but one in {'rejects' if other else 'pairs'}: {advice}"
        ) from None


def _to_read(names: list[str]) -> list[str] | None:
    """Columns to read for one row: those named with the identifying ones; None: all."""
    return list(dict.fromkeys(["id", "filename", *names])) if names else None


def _show_row(row: dict[str, Any], names: list[str], as_json: bool, lines: int) -> None:
    if as_json:
        typer.echo(json.dumps({name: row[name] for name in names} if names else row, indent=2))
        return
    console = Console()
    texts = {column for pair in SIDE_BY_SIDE for column in pair} | {"opencl_source"}
    facts = Table(box=None, show_header=False, pad_edge=False)
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in row.items():
        if name not in texts and name != "cuda_device_by_arch" and value not in (None, "", [], {}):
            facts.add_row(name, _plain(value))
    console.print(facts)
    wanted = set(names or DEFAULT_TEXTS)
    for pair in SIDE_BY_SIDE:
        shown = [column for column in pair if column in wanted and row.get(column)]
        if shown:
            console.print(_beside(row, shown, lines))
    if row.get("opencl_source") and "opencl_source" in (names or texts):
        console.print(_beside(row, ["opencl_source"], lines))
    listings = row.get("cuda_device_by_arch") or []
    if listings and "cuda_device_by_arch" in names:
        by_architecture = {listing["arch"]: listing["sass"] for listing in listings}
        console.print(_beside(by_architecture, list(by_architecture), lines))


def _beside(row: dict[str, Any], columns: list[str], lines: int) -> Table:
    """Texts next to each other, one line a line, cut to ``lines`` with a note of what is left."""
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
    cells = []
    for column in columns:
        table.add_column(column, ratio=1, no_wrap=True, overflow="ellipsis")
        written = _plain(row[column]).expandtabs(4).splitlines()
        cell = Text("\n".join(written[:lines]))
        if len(written) > lines:
            cell.append(
                f"\n… {len(written) - lines} more lines (--lines {len(written)})", style="dim"
            )
        cells.append(cell)
    table.add_row(*cells)
    return table


def _show_table(rows: list[dict[str, Any]], total: int, part: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"rows": total, part: rows}, indent=2))
        return
    console = Console()
    if not rows:
        console.print(f"no rows in {part}")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, value in rows[0].items():
        is_number = isinstance(value, int) and not isinstance(value, bool)
        table.add_column(
            name.removesuffix("_bytes").replace("_", " "),
            justify="right" if is_number else "left",
            no_wrap=name != "kernels",
            overflow="ellipsis",
        )
    for row in rows:
        table.add_row(*(_cell(name, value) for name, value in row.items()))
    console.print(table)
    if total > len(rows):
        console.print(f"{len(rows)} of {total} {part}; --limit {total} shows all")
    else:
        console.print(f"{total} {part}")


def _cell(name: str, value: Any) -> Text:
    if name == "id":
        return Text(_plain(value)[:12])
    if name == "kernels":
        return Text(", ".join(_plain(kernel) for kernel in value or []))
    if name.endswith("_bytes"):
        return Text("" if value is None else f"{value:,}")
    return Text(next(iter(_plain(value).splitlines()), ""))


def _plain(value: Any) -> str:
    """``value`` as text for a terminal: sources are untrusted, escape sequences must not act."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\r\n", "\n").translate(_CONTROL)


def _either(names: list[str]) -> str:
    return f"did you mean {names[0]}?" if len(names) == 1 else f"there are {', '.join(names)}"


def _names_in(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()] if directory.is_dir() else []
