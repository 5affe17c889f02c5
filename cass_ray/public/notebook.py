"""A view as HTML, for notebooks: escaped, without scripts, on light and dark backgrounds alike."""

from __future__ import annotations

from html import escape
from pathlib import Path

from cass_ray.printable import printable_text
from cass_ray.public.text_diff import changed_lines, first_lines
from cass_ray.public.views import Block, Cells, Listings, Mark, TextDiff, View

LINES = 2000
"""Of a text, as a notebook shows it; the whole is in the result's attributes."""

# Colors are tints of what is behind them, and text keeps the notebook's own: a notebook says
# nowhere whether it is dark (JupyterLab, VS Code and GitHub each do it in their own way).
_STYLE = (Path(__file__).parent / "notebook.css").read_text(encoding="utf-8")


def rendered(view: View) -> str:
    """An element with a style of its own."""
    blocks = "".join(_block(block) for block in view.blocks)
    headline = _text(view.headline)
    return (
        f'<div class="cass-result"><style>{_STYLE}</style>'
        f'<p class="{view.mark}">{headline}</p>{blocks}</div>'
    )


def _text(text: str) -> str:
    return escape(printable_text(text))


def _block(block: Block) -> str:
    match block:
        case Cells():
            return _fold(block.title, _table(block), opened=True)
        case TextDiff():
            return _fold(block.title, _difference(block), opened=True)
        case Listings():
            return _fold(block.title, _columns(block), opened=False)


def _fold(title: str, content: str, *, opened: bool) -> str:
    if not title:
        return content
    state = " open" if opened else ""
    return f"<details{state}><summary>{_text(title)}</summary>{content}</details>"


def _table(cells: Cells) -> str:
    heads = "".join(f"<th>{_text(head)}</th>" for head in cells.heads)
    marks = cells.marks or [Mark.PLAIN] * len(cells.rows)
    rows = "".join(
        f'<tr class="{mark}">' + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>"
        for row, mark in zip(cells.rows, marks, strict=True)
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _difference(difference: TextDiff) -> str:
    lines = changed_lines(difference, LINES)
    body = "".join(f'<span class="{mark}">{_text(line)}</span>' for mark, line in lines)
    return f"<pre>{body}</pre>"


def _columns(listings: Listings) -> str:
    columns = "".join(
        f"<div>{_text(caption)}<pre>{_beginning(text)}</pre></div>"
        for caption, text in listings.columns
    )
    return f'<div class="columns">{columns}</div>'


def _beginning(text: str) -> str:
    return _text("\n".join(first_lines(text, LINES)))
