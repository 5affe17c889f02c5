"""A view as HTML, for notebooks: escaped, without scripts, on light and dark backgrounds alike."""

from __future__ import annotations

from html import escape

from cass_ray.printable import printable_text
from cass_ray.public.text_diff import changed_lines, first_lines
from cass_ray.public.views import Block, Cells, Listings, Mark, TextDiff, View

LINES = 2000
"""Of a text, as a notebook shows it; the whole is in the result's attributes."""

# Colors are tints of what is behind them, and text keeps the notebook's own: a notebook says
# nowhere whether it is dark (JupyterLab, VS Code and GitHub each do it in their own way).
_STYLE = """\
.cass-result { font-family: system-ui, sans-serif; line-height: 1.45 }
.cass-result > p { font-weight: 600; padding: .2em .7em; margin: .3em 0;
  border-left: 4px solid rgba(128, 128, 128, .6) }
.cass-result > p.good { border-color: #2da44e; background: rgba(45, 164, 78, .12) }
.cass-result > p.warning { border-color: #bf8700; background: rgba(191, 135, 0, .12) }
.cass-result > p.bad { border-color: #cf222e; background: rgba(207, 34, 46, .12) }
.cass-result table { border-collapse: collapse; margin: .3em 0; color: inherit }
.cass-result th, .cass-result td { text-align: left; vertical-align: top; padding: .2em .7em;
  border: 0 solid rgba(128, 128, 128, .35); border-width: 1px 0; overflow-wrap: anywhere }
.cass-result tr.good { background: rgba(45, 164, 78, .12) }
.cass-result tr.warning { background: rgba(191, 135, 0, .12) }
.cass-result tr.bad { background: rgba(207, 34, 46, .12) }
.cass-result pre { margin: .3em 0; max-height: 32em; overflow: auto; font-size: .85em;
  color: inherit; background: rgba(128, 128, 128, .07); padding: .5em }
.cass-result pre span { display: block; min-height: 1.2em }
.cass-result pre .good { background: rgba(45, 164, 78, .2) }
.cass-result pre .bad { background: rgba(207, 34, 46, .2) }
.cass-result pre .warning { opacity: .7 }
.cass-result .columns { display: flex; flex-wrap: wrap; gap: .8em }
.cass-result .columns > div { flex: 1 1 20em; min-width: 0 }
.cass-result summary { cursor: pointer; font-weight: 600; margin: .3em 0 }
"""


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
