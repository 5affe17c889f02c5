"""What the commands that run two programs share: reading a program, and exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import typer

from cass_ray.commands.tool_errors import tool_errors
from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.emulator.build import BuildFailed
from cass_ray.exit_codes import EXIT_TOOL_MISSING
from cass_ray.toolchain.unit import Unit


def existing(file: Path) -> Path:
    """``file``. Raises ``typer.BadParameter`` where there is none."""
    if not file.is_file():
        raise typer.BadParameter(f"{file} is not a file")
    return file


def gather_program(file: Path) -> Sources:
    """``file`` with the headers beside it. Raises ``typer.BadParameter`` where there is none."""
    return gather(Unit(existing(file).resolve().parent, PurePosixPath(file.name)))


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what compilers and the sandbox raise into a message and an exit code."""
    try:
        with tool_errors():
            yield
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except BuildFailed as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_TOOL_MISSING) from None
