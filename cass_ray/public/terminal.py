"""A view in the terminal, with rich."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cass_ray.printable import printable_text
from cass_ray.public.text_diff import changed_lines, first_lines
from cass_ray.public.views import Block, Cells, Listings, Mark, TextDiff, View

LINES = 60
"""Of a text, as a terminal shows it; the whole is in the result's attributes."""

_STYLES = {Mark.PLAIN: "", Mark.GOOD: "green", Mark.WARNING: "yellow", Mark.BAD: "red"}


def rendered(view: View) -> RenderableType:
    """Headline and blocks, one below the other."""
    headline = Text(printable_text(view.headline), style=f"bold {_STYLES[view.mark]}".strip())
    return Group(headline, *(_block(block) for block in view.blocks))


def _block(block: Block) -> RenderableType:
    match block:
        case Cells():
            return _table(block)
        case TextDiff():
            return _lines(block.title, list(changed_lines(block, LINES)))
        case Listings():
            return _columns(block)


def _table(cells: Cells) -> Table:
    table = Table(title=cells.title or None, title_justify="left")
    for head in cells.heads:
        table.add_column(head, overflow="fold")
    marks = cells.marks or [Mark.PLAIN] * len(cells.rows)
    for row, mark in zip(cells.rows, marks, strict=True):
        table.add_row(*(Text(printable_text(cell)) for cell in row), style=_STYLES[mark])
    return table


def _lines(title: str, lines: list[tuple[Mark, str]]) -> Text:
    text = Text(f"\n{title}\n", style="italic")
    for mark, line in lines:
        text.append(printable_text(line) + "\n", style=f"not italic {_STYLES[mark]}".strip())
    return text


def _columns(listings: Listings) -> Table:
    table = Table(title=listings.title or None, title_justify="left", expand=True)
    for caption, _ in listings.columns:
        table.add_column(caption, ratio=1, overflow="fold")
    table.add_row(*(_beginning(text) for _, text in listings.columns))
    return table


def _beginning(text: str) -> Text:
    lines = first_lines(text.expandtabs(4), LINES)
    return Text("\n".join(printable_text(line) for line in lines))
