"""A report as Markdown and as one self-contained HTML page."""

from __future__ import annotations

from pathlib import Path

import jinja2

from cass_ray.bench.reporting.plots import plots
from cass_ray.bench.reporting.report import BenchReport, ReportTable

_LONGEST_NUMBER = len("100.0% (100.0–100.0)")


def markdown(report: BenchReport) -> str:
    """Headings, notes and tables."""
    parts = [f"# {report.title}", "", *(f"- {note}" for note in report.notes), ""]
    for table in report.tables:
        parts += [f"## {table.title}", "", *_markdown_table(table), ""]
        if table.note:
            parts += [table.note, ""]
    return "\n".join(parts)


def _markdown_table(table: ReportTable) -> list[str]:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    ruler = ["---:" if number else "---" for number in numeric_columns(table)]
    return [line(table.head), line(ruler), *map(line, table.rows)]


def numeric_columns(table: ReportTable) -> list[bool]:
    """Which columns hold numbers only, and are set flush right; the first never is."""
    columns = list(zip(*table.rows, strict=True))
    return [
        position > 0 and any(column) and all(_is_number(cell) for cell in column if cell)
        for position, column in enumerate(columns)
    ]


def html(report: BenchReport) -> str:
    """One page: no script, no other file, light and dark."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.j2")
    return template.render(report=report, plots=plots(report.runs), numeric_columns=numeric_columns)


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() and len(cell) <= _LONGEST_NUMBER
