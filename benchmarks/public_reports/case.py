"""A case: a folder with ``program.cu``, what it must print, and how it is run."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Self

import yaml
from pydantic import Field, model_validator

from cass_ray.config import StrictModel

PROGRAM = "program.cu"
EXPECTED = "expected.txt"
_SETTINGS = "case.yaml"


class Way(StrEnum):
    """How a CUDA program comes to run as AMD code."""

    SOURCE = "source"
    """``cass run``: the source is translated."""
    LIFTED = "lifted"
    """``cass run-binary``: nvcc's executable is lifted."""


class Case(StrictModel):
    """The content of ``case.yaml``."""

    title: str = ""
    """A few words say what a user sees go wrong."""
    report: str = ""
    """Address of the public report that it was made from."""
    arguments: list[str] = []
    targets: list[str] = Field(default=["gfx1100", "gfx942"], min_length=1)
    ways: list[Way] = Field(default=[Way.SOURCE], min_length=1)
    status: int = 0
    """The exit code that the command must end with."""
    refused: str = ""
    """A text of the message that says by name what cannot be done; output is not compared then."""
    refused_runs: list[str] = []
    """The runs ("lifted gfx942") that are refused, where not all of them are."""
    open_runs: list[str] = []
    """The runs ("source gfx1100") that fail today; the note says why."""
    note: str = ""

    @model_validator(mode="after")
    def _refusal_fails(self) -> Self:
        if self.refused_runs and not self.refused:
            raise ValueError("refused runs need the text that refuses them")
        if bool(self.open_runs) != self.note.startswith("open: "):
            raise ValueError("open runs need a note that begins with 'open: ', and it needs them")
        return self

    def refuses(self, way: Way, target: str) -> bool:
        """Whether the run by ``way`` for ``target`` must be refused by name."""
        return bool(self.refused) and f"{way} {target}" in (
            self.refused_runs or [f"{way} {target}"]
        )

    def status_of(self, way: Way, target: str) -> int:
        """The exit code that the run by ``way`` for ``target`` must end with."""
        return self.status if not self.refused_runs or self.refuses(way, target) else 0


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
        """The output that CUDA gives; a program that is refused has none."""
        path = self.folder / EXPECTED
        whole = self.case.refused and not self.case.refused_runs
        return b"" if whole and not path.exists() else path.read_bytes()

    def runs(self) -> Iterator[tuple[Way, str]]:
        """Each way with each target."""
        for way in self.case.ways:
            for target in self.case.targets:
                yield way, target


def cases_below(folder: Path) -> list[CaseFolder]:
    """All cases below ``folder``, by path."""
    return [CaseFolder(path.parent) for path in sorted(folder.resolve().rglob(PROGRAM))]
