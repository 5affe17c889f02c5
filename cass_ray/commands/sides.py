"""What the commands that run two programs share: reading sides, choosing backends, exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import typer

from cass_ray.commands.tool_errors import tool_errors
from cass_ray.emulator.build import BuildFailed
from cass_ray.execute.backends.base import Backend, Built, Language
from cass_ray.execute.backends.registry import candidate_backend, make_backend
from cass_ray.exit_codes import EXIT_TOOL_MISSING
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.sources import CUDA_SUFFIXES, Sources, gather, translated


def gather_program(file: Path) -> Sources:
    """``file`` with the headers beside it. Raises ``typer.BadParameter`` where there is none."""
    if not file.is_file():
        raise typer.BadParameter(f"{file} is not a file")
    return gather(Unit(file.resolve().parent, PurePosixPath(file.name)))


def as_hip(sources: Sources) -> Sources:
    """``sources``, translated by the rules if they are CUDA."""
    if sources.main.suffix not in CUDA_SUFFIXES:
        return sources
    return translated(sources, make_translator())


def usable_backends(candidate: str | None, reference: str | None) -> tuple[Backend, Backend]:
    """Where the candidate and where the reference runs; an Nvidia GPU has the reference, if any.

    Raises :class:`ToolMissing` where one of them cannot be used.
    """
    ours = make_backend(candidate) if candidate else candidate_backend()
    nvidia = make_backend(reference or "nvidia")
    theirs = nvidia if reference or nvidia.available() else ours
    for each in (ours, theirs):
        if problem := each.problem():
            raise ToolMissing(f"The backend {each.name}", "", problem)
    return ours, theirs


def build_reference(backend: Backend, original: Sources) -> Built:
    """The reference as ``backend`` can run it: CUDA as it is, or translated."""
    return backend.build(original if backend.language is Language.CUDA else as_hip(original))


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
