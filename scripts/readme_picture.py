"""docs/assets/port.svg: what a terminal shows while one file is ported, run and verified.

Every line comes from a run of the commands. ``make docs`` calls it.
"""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/assets/port.svg"
COMMANDS = (
    "cass translate sum.cu -o sum.hip",
    "cass run sum.hip --arch mi300x -- 1000",
    "cass verify sum.cu sum.hip --with 1000",
)
_COLUMNS = 96
_LINE, _LETTER, _MARGIN = 19, 8.1, 16
_DARK, _TEXT, _TYPED, _VERDICT = "#16181d", "#d7dae0", "#8ab4f8", "#7ee787"


def lines() -> list[tuple[str, str]]:
    """What is typed and what is read, each with its color."""
    shown: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "examples/sum.cu", folder)
        for command in COMMANDS:
            done = subprocess.run(
                [sys.executable, "-m", "cass_ray.cli", *command.split()[1:]],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=True,
            )
            shown.append((f"$ {command}", _TYPED))
            for line in done.stdout.splitlines():
                color = _VERDICT if line.startswith("verified") else _TEXT
                parts = textwrap.wrap(line, _COLUMNS, subsequent_indent="           ")
                shown += [(part, color) for part in parts]
            shown.append(("", _TEXT))
    return shown[:-1]


def picture(shown: list[tuple[str, str]]) -> str:
    """The lines as SVG."""
    width = round(_COLUMNS * _LETTER + 2 * _MARGIN)
    height = len(shown) * _LINE + 2 * _MARGIN
    rows = [
        f'<text x="{_MARGIN}" y="{_MARGIN + (number + 1) * _LINE - 5}" fill="{color}"'
        f' xml:space="preserve">{html.escape(text)}</text>'
        for number, (text, color) in enumerate(shown)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
            ' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13.5">',
            "<title>One CUDA file is translated, run as on an MI300X, and verified</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{_DARK}"/>',
            *rows,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(lines()))
