"""The option of commands that lift: who adds the products of floating-point matrices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

NativeMatrices = Annotated[
    bool,
    typer.Option(
        "--native-matrices",
        help="Multiply lifted floating-point matrices by AMD's matrix instructions: faster; the "
        "last digits of sums may differ.",
    ),
]


def report_native_matrices(command: str, kernels: Iterable[str]) -> None:
    """Name the kernels whose results may differ by that, on standard error."""
    for name in sorted(kernels):
        typer.echo(
            f"cass {command}: kernel {name} adds floating-point products as AMD's matrix "
            "instructions do: last digits may differ",
            err=True,
        )
