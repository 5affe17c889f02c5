"""The option of every command that writes files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace files that cass did not write as they are."),
]


def file_to_write(output: Path, source: Path, *, back: bool = False) -> Path:
    """``output``, or where that is a folder, the file in it that the port of ``source`` is called.

    ``back``: the port is CUDA, of HIP.
    """
    if not output.is_dir():
        return output
    before, after = (".hip", ".cu") if back else (".cu", ".hip")
    return output / (source.with_suffix(after) if source.suffix == before else source).name
