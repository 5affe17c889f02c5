"""``cass inspect``: rows of a data set, as a table or one of them side by side."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cass_ray.browse.rows import (
    REJECT_SUMMARY,
    SIDE_BY_SIDE,
    SUMMARY,
    NotFoundError,
    RowSet,
    cell,
    plain,
)
from cass_ray.commands.endings import ending
from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.storage.location import parse_location

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_GIVE_WAY = ("filename", "diagnostic", "kernels")
"""Columns that are cut where a terminal is narrow; the others say what a row is, and stay."""

DEFAULT_TEXTS = ("cuda_source", "hip_source", "cuda_device", "hip_device")


@app.command()
@ending("inspect")
def inspect(
    dataset: Annotated[
        str, typer.Argument(help="Folder or URL of a data set (holds pairs/ and rejects/).")
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
    browse: Annotated[
        bool | None,
        typer.Option(
            "--browse/--table",
            help="A browser, or text; by default a browser where there is a terminal.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Browse the rows of a data set, or show one row with CUDA and HIP side by side."""
    if id_prefix and index is not None:
        raise typer.BadParameter("--id and --index exclude each other", param_hint="--index")
    try:
        place = parse_location(dataset)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    names = [name.strip() for name in columns.split(",") if name.strip()]
    is_one_row = bool(id_prefix) or index is not None
    if browse is None:
        browse = not (is_one_row or names or as_json) and _has_terminal()
    try:
        if browse:
            _browse(place, rejects)
            return
        part = RowSet.open(place, rejects)
        part.check_columns(names, computed=not is_one_row)
        if is_one_row:
            number = index if index is not None else _find(place, part, id_prefix)
            _show_row(part.row(number, _to_read(names)), names, as_json, lines)
        else:
            names = names or list(REJECT_SUMMARY if rejects else SUMMARY)
            _show_table(part.head(names, limit), part.rows, part.name, as_json)
    except NotFoundError as error:
        fail("inspect", plain(str(error)), EXIT_USAGE)
    except (pa.ArrowInvalid, OSError) as error:
        fail("inspect", plain(f"{dataset}: not readable as Parquet: {error}"), EXIT_USAGE)


def _has_terminal() -> bool:
    """Whether a person is there, and the browser."""
    textual = importlib.util.find_spec("textual") is not None
    return textual and sys.stdin.isatty() and sys.stdout.isatty()


def _browse(dataset: Path | str, rejects: bool) -> None:
    try:
        from cass_ray.browse.app import DatasetBrowser
    except ModuleNotFoundError as error:
        remedy = "pip install 'cass-ray[analysis]'"
        fail("inspect", f"the browser needs the package {error.name}: {remedy}", EXIT_USAGE)
    DatasetBrowser(dataset, rejects).run()


def _find(directory: Path | str, part: RowSet, prefix: str) -> int:
    """The row's index; when it is on the other side of the data set, the message says so."""
    try:
        return part.find(prefix)
    except NotFoundError as error:
        other = part.name == "pairs"
        try:
            RowSet.open(directory, rejects=other).find(prefix)
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
            facts.add_row(name, plain(value))
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
        written = plain(row[column]).expandtabs(4).splitlines()
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
    table.add_column("#", justify="right", style="dim", no_wrap=True)
    for name, value in rows[0].items():
        is_number = isinstance(value, int) and not isinstance(value, bool)
        table.add_column(
            name.removesuffix("_bytes").replace("_", " "),
            justify="right" if is_number else "left",
            no_wrap=name not in _GIVE_WAY,
            overflow="ellipsis",
        )
    for number, row in enumerate(rows):
        cells = {name: cell(name, value) for name, value in row.items()}
        for name in cells.keys() - {"kernels"}:
            cells[name].no_wrap = True
        table.add_row(str(number), *cells.values())
    console.print(table)
    if total > len(rows):
        console.print(f"{len(rows)} of {total} {part}; --limit {total} shows all")
    else:
        console.print(f"{total} {part}")
