"""A case: a folder with ``program.cu``, what it must print, and how it is run."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import yaml
from pydantic import Field

from cass_ray.config import StrictModel

PROGRAM = "program.cu"
EXPECTED = "expected.txt"
_SETTINGS = "case.yaml"


class Way(StrEnum):
    """How a CUDA program comes to run as AMD code."""

    SOURCE = "source"
    """``cass run``: the source is translated."""
    LIFTED = "lifted"
    """``cass port``: nvcc's executable is lifted."""


class Case(StrictModel):
    """The content of ``case.yaml``."""

    title: str = ""
    """What a user sees go wrong, in a few words."""
    report: str = ""
    """Address of the public report that it was made from."""
    arguments: list[str] = []
    targets: list[str] = Field(default=["gfx1100", "gfx942"], min_length=1)
    ways: list[Way] = Field(default=[Way.SOURCE], min_length=1)
    status: int = 0
    """The exit code that the command must end with."""
    refused: str = ""
    """A text of the message that says by name what cannot be done; output is not compared then."""
    note: str = ""


class CaseFolder:
    """A folder that holds a case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        settings = self.folder / _SETTINGS
        values = yaml.safe_load(settings.read_text("utf-8")) if settings.exists() else {}
        self.case = Case.model_validate(values or {})

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def program(self) -> Path:
        """The CUDA program."""
        return self.folder / PROGRAM

    @property
    def expected(self) -> bytes:
        """What CUDA prints; empty for a program that is refused."""
        path = self.folder / EXPECTED
        return b"" if self.case.refused and not path.exists() else path.read_bytes()

    def runs(self) -> Iterator[tuple[Way, str]]:
        """Each way with each target."""
        for way in self.case.ways:
            for target in self.case.targets:
                yield way, target


def cases_below(folder: Path) -> list[CaseFolder]:
    """All cases below ``folder``, by path."""
    return [CaseFolder(path.parent) for path in sorted(folder.rglob(PROGRAM))]
