"""A program and its translation as machine code: what is asked for and what is answered."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from cass_ray.api.schema import ARCHITECTURES, as_text
from cass_ray.architectures import DEFAULT_NVIDIA_ARCHITECTURE, NVIDIA_ARCHITECTURES, known_instead
from cass_ray.config import StrictModel


class AssemblyRequest(StrictModel):
    """A program and its translation, to be shown as the machine code that they become."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    source: str = Field(max_length=1 << 20)
    """CUDA."""
    translation: str = Field(max_length=1 << 20)
    """HIP."""
    arch: str = Field(default=ARCHITECTURES[0], max_length=16)
    nvidia_arch: str = Field(default=DEFAULT_NVIDIA_ARCHITECTURE, max_length=16)

    @field_validator("source", "translation")
    @classmethod
    def _text(cls, value: str) -> str:
        return as_text(value)

    @model_validator(mode="after")
    def _known(self) -> AssemblyRequest:
        for name, targets in (
            (self.arch, ARCHITECTURES),
            (self.nvidia_arch, NVIDIA_ARCHITECTURES),
        ):
            if name not in targets:
                raise ValueError(f"arch {name}: {known_instead(name, targets)}")
        return self


class AssemblyFunction(StrictModel):
    """A function of machine code; ``lines`` has, for each instruction, the line of the program's
    text that it is from, or 0."""

    name: str
    """Mangled."""
    instructions: list[str]
    lines: list[int]


class AssemblySide(StrictModel):
    """What one vendor's compiler made of a program, or why nothing."""

    vendor: Literal["nvidia", "amd"]
    architecture: str
    compiler: str = ""
    functions: list[AssemblyFunction] = []
    left_out: int = 0
    """Instructions beyond what is shown."""
    problem: str = ""


class AssemblyResponse(StrictModel):
    """Both sides of a translation as machine code."""

    nvidia: AssemblySide
    amd: AssemblySide
