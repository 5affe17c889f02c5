"""``cass compare``: two analyses or two benchmark results, number by number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cass_ray.analysis.comparison import NotComparableError, compare
from cass_ray.analysis.document import Section
from cass_ray.analysis.report.write import shown, write
from cass_ray.commands.endings import ending
from cass_ray.commands.output import Overwrite
from cass_ray.overwriting import check_outputs, remember

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def main(
    first: Annotated[Path, typer.Argument(help="Folder of `cass analyze` or `cass bench`.")],
    second: Annotated[Path, typer.Argument(help="Another of the same kind.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write report.html and report.json there.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Equal numbers, too.")] = False,
    overwrite: Overwrite = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the document as JSON, not tables.")
    ] = False,
) -> None:
    """Compare two analysed data sets or two benchmark results."""
    console = Console()
    with ending("compare", usage=(NotComparableError,)):
        document = compare(first, second)
        if as_json:
            typer.echo(document.model_dump_json(indent=2))
        for section in document.sections if not as_json else ():
            _show(console, section, everything=everything)
        if out is not None:
            written = [out / "report.html", out / "report.json"]
            check_outputs(written, overwrite=overwrite)
            page = write(document, out, images=False, done=lambda _: None)
            remember(written)
            console.print(f"-> [bold]{page}[/bold]", soft_wrap=True)


def _show(console: Console, section: Section, *, everything: bool) -> None:
    table = section.tables[0]
    rows = [row for row in table.rows if everything or row[3] != 0]
    if not rows:
        return
    drawn = Table(title=section.title, title_justify="left")
    for column in table.columns:
        drawn.add_column(column.name, justify="left" if column.digits is None else "right")
    for row in rows:
        drawn.add_row(*map(shown, row, table.columns))
    console.print(drawn)
