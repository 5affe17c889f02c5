"""What a system is asked, and what it answers.

A :class:`Question` is made from a task and holds the code to translate and nothing else: no
arguments, visible or hidden, and no outputs. ``tests/bench/test_integrity.py`` holds it to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

from pydantic import Field, field_validator

from cass_ray.config import StrictModel
from cass_ray.port.replacement import OriginalProgram
from cass_ray.task import Direction


class BenchLevel(StrEnum):
    """What is translated."""

    SOURCE = "source"
    ASSEMBLY = "assembly"
    """The device code of a program."""
    HOST = "host"
    """The host assembly of a program."""


class HostPart(StrEnum):
    """Whose host code a program has whose device code was translated."""

    PORT = "reference port"
    """The HIP host of the task's port."""
    ORIGINAL = "CUDA program"
    """What nvcc made of the CUDA program's host code, over a CUDA runtime that calls HIP."""


SASS_FILE, RDNA3_FILE, PTX_FILE, HOST_FILE = "device.sass", "device.s", "device.ptx", "host.s"
"""Names of assembly texts in questions and answers."""


@dataclass(frozen=True)
class QuestionKind:
    """Level, direction and, for Nvidia machine code, the architecture such as ``sm_80``."""

    level: BenchLevel = BenchLevel.SOURCE
    direction: Direction = Direction.CUDA_TO_HIP
    architecture: str = ""

    def __post_init__(self) -> None:
        if self.level is BenchLevel.HOST and self.direction is not Direction.CUDA_TO_HIP:
            raise ValueError("host assembly is translated from CUDA to HIP only")
        if (self.level is BenchLevel.ASSEMBLY) != bool(self.architecture):
            raise ValueError("an architecture goes with device assembly, and only with it")

    def __str__(self) -> str:
        parts = [self.level.value]
        if self.direction is not Direction.CUDA_TO_HIP:
            parts.append(self.direction.value)
        return " ".join([*parts, self.architecture]).strip()


@dataclass(frozen=True)
class Question:
    """``files`` is the program; ``asked`` names those of it that are to be translated.

    At the assembly level ``files`` is one listing, and ``cubin`` the machine code it shows.
    ``names`` are the symbols that the HIP host calls differently, by the cubin's names: they are
    the interface that an answer has to fit.

    ``original`` is the CUDA program with its host code, where the HIP host launches kernels that
    the machine code does not have: there no translation of device code alone can fit that host.
    """

    task: str
    kind: QuestionKind
    files: Mapping[str, str]
    main: str
    asked: tuple[str, ...]
    cubin: bytes = b""
    names: Mapping[str, str] = field(default_factory=dict)
    original: OriginalProgram | None = None

    @property
    def fitting_host(self) -> HostPart:
        """Whose host code the translated device code runs under."""
        return HostPart.PORT if self.original is None else HostPart.ORIGINAL


@dataclass(frozen=True)
class Draw:
    """Which of several samples this is, and how it is drawn."""

    sample: int = 0
    seed: int = 0
    temperature: float = 0.0


class AnswerUsage(StrictModel):
    """What an answer took. ``cost`` is in US dollars where a price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    calls: int = 1
    """Requests made, failed ones too: a retry is no second answer."""


class BenchAnswer(StrictModel):
    """``files`` replace those of the question that they are called like.

    ``host`` says whose host code translated device code is for: there are these two, and none of
    them is the answer's. ``problem`` says why there is no answer: the engine failed or a service
    did not reply.
    """

    files: dict[str, str] = Field(default_factory=dict)
    host: HostPart = HostPart.PORT
    findings: list[str] = Field(default_factory=list)
    problem: str = ""
    usage: AnswerUsage = AnswerUsage()
    seconds: float = 0.0
    steps: list[str] = Field(default_factory=list)
    """What a system with several stages did, in order."""

    @field_validator("files")
    @classmethod
    def _inside(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise ValueError(f"{name} leads out of the program's folder")
        return value
