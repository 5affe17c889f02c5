"""The option of every command that writes files."""

from __future__ import annotations

from typing import Annotated

import typer

Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace files that cass did not write as they are."),
]
