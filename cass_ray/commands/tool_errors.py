"""What every command that compiles does with an error of a compiler or of the sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from cass_ray.exit_codes import EXIT_FAILED, EXIT_TOOL_MISSING, EXIT_USAGE
from cass_ray.overwriting import WouldOverwriteError
from cass_ray.printable import printable_text
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.headers import missing_header_advice
from cass_ray.toolchain.nvidia.steps import NvccError
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.verbosity import next_step

_UNDEFINED = re.compile(r"undefined (?:hidden |protected )?symbol\b|undefined reference to\b")
"""Messages of lld and of GNU ld about a symbol that no file defines."""


@contextmanager
def tool_errors() -> Iterator[None]:
    """Turn what compilers and the sandbox raise into a message and an exit code.

    A program that does not compile is a failure (1); a file that may not be replaced is usage (2);
    a tool or a sandbox that is not there is 3.
    """
    try:
        yield
    except CompileFailure as failure:
        said = printable_text(failure.diagnostic)
        typer.echo(f"{said}\n{failure.tool}: {failure.reason.value}", err=True)
        if advice := missing_header_advice(failure):
            typer.echo(printable_text(advice), err=True)
        if _UNDEFINED.search(failure.diagnostic):
            next_step(
                "cass project FOLDER    # if other files of a project define what is missing here"
            )
        raise typer.Exit(EXIT_FAILED) from None
    except WouldOverwriteError as error:
        typer.echo(printable_text(str(error)), err=True)
        raise typer.Exit(EXIT_USAGE) from None
    except (ToolMissing, NvccError, IsolationUnavailableError) as error:
        typer.echo(printable_text(str(error)), err=True)
        raise typer.Exit(EXIT_TOOL_MISSING) from None
    except Starved as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_FAILED) from None
