"""What the commands on programs share: naming one, reading it, and exit codes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from cass_ray.commands.tool_errors import tool_errors
from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.corpus.reading.unit_of_file import unit_of_file
from cass_ray.emulator.build import BuildFailed
from cass_ray.exit_codes import EXIT_TOOL_MISSING
from cass_ray.toolchain.sandbox.executable import INPUT_ENTRIES, Bounds
from cass_ray.toolchain.unit import Unit


def _few_enough(folder: Path | None) -> Path | None:
    if folder is not None and len(list(folder.iterdir())) > INPUT_ENTRIES:
        raise typer.BadParameter(
            f"{folder} holds more than {INPUT_ENTRIES} files and folders: put them into a folder"
            " inside of it"
        )
    return folder


InputFiles = Annotated[
    Path | None,
    typer.Option(
        "--inputs",
        exists=True,
        file_okay=False,
        callback=_few_enough,
        help="Folder whose files the program finds where it runs, read-only. [default: none]",
    ),
]
StandardInput = Annotated[
    Path | None,
    typer.Option(
        "--stdin",
        exists=True,
        dir_okay=False,
        allow_dash=True,
        help="File for the program's standard input; - for ours. [default: empty]",
    ),
]

IncludeFolders = Annotated[
    list[str] | None, typer.Option("-I", help="Include folder, relative to --root.")
]
Definitions = Annotated[list[str] | None, typer.Option("-D", help="NAME or NAME=VALUE.")]
SourceTree = Annotated[
    Path | None,
    typer.Option(help="Source tree that the compiler may read. [default: the file's folder]"),
]

MEMORY_GIB, FILES_MIB = 8.0, 256
"""Limits of a program where nothing is said."""
Memory = Annotated[
    float, typer.Option("--memory", min=0.0625, help="Limit of the program's memory, in GiB.")
]
FileSize = Annotated[
    int,
    typer.Option(
        "--file-size", min=1, help="Limit of what the program writes to files, in MiB of memory."
    ),
]


def memory_bytes(memory: float) -> int:
    """What the option ``--memory`` says."""
    return round(memory * (1 << 30))


def file_bytes(file_size: int) -> int:
    """What the option ``--file-size`` says."""
    return file_size << 20


def bounds_of(memory: float, file_size: int) -> Bounds:
    """Both, for the runs of a comparison."""
    return Bounds(memory_bytes=memory_bytes(memory), folder_bytes=file_bytes(file_size))


def standard_input(path: Path | None) -> bytes:
    """What the option ``--stdin`` names."""
    if path is None:
        return b""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def arguments_of(text: str) -> list[str]:
    """The arguments in ``text``, as a shell takes it apart. Raises ``typer.BadParameter``."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r}: {error}", param_hint="--with") from None


def existing(file: Path) -> Path:
    """``file``. Raises ``typer.BadParameter`` where there is none."""
    if not file.is_file():
        raise typer.BadParameter(f"{file} is not a file")
    return file


def unit_of(
    file: Path, root: Path | None, includes: Sequence[str], definitions: Sequence[str]
) -> Unit:
    """``file`` in the tree ``root``, with -I folders and -D definitions; without a root or folders
    in its own folder, or in its project where it includes headers of that.

    Raises ``typer.BadParameter`` where it lies outside, or a folder does.
    """
    if root is None and not includes:
        return replace(unit_of_file(file), definitions=tuple(definitions))
    tree = (root or file.parent).resolve()
    main = file.resolve()
    if not main.is_relative_to(tree):
        raise typer.BadParameter(f"{file} is not inside {tree}", param_hint="--root")
    try:
        return Unit(
            root=tree,
            main=PurePosixPath(main.relative_to(tree)),
            include_directories=tuple(PurePosixPath(folder) for folder in includes),
            definitions=tuple(definitions),
        )
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="-I") from None


def gather_program(file: Path) -> Sources:
    """``file`` with its headers. Raises ``typer.BadParameter`` where there is no such file."""
    return gather(unit_of_file(existing(file)))


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
