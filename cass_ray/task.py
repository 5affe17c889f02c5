"""What is translated (:class:`Level`), which way (:class:`Direction`), and both at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cass_ray.nearest import did_you_mean


class Level(StrEnum):
    """What is translated: program text, or the assembly of its kernels."""

    SOURCE = "source"
    ASSEMBLY = "assembly"


class Direction(StrEnum):
    """The vendor whose code is translated, and the one whose code comes out."""

    CUDA_TO_HIP = "cuda-to-hip"
    HIP_TO_CUDA = "hip-to-cuda"


@dataclass(frozen=True, slots=True)
class Task:
    """A level and a direction, written ``source:cuda-to-hip``."""

    level: Level = Level.SOURCE
    direction: Direction = Direction.CUDA_TO_HIP

    def __str__(self) -> str:
        return f"{self.level}:{self.direction}"

    @property
    def columns(self) -> tuple[str, str]:
        """The columns of a pair that hold the question's and the answer's code."""
        part = "source" if self.level is Level.SOURCE else "device"
        sides = (f"cuda_{part}", f"hip_{part}")
        return sides if self.direction is Direction.CUDA_TO_HIP else (sides[1], sides[0])


TASKS = tuple(Task(level, direction) for level in Level for direction in Direction)
"""All four tasks, source first."""


def parse_task(text: str) -> Task:
    """``source:cuda-to-hip`` (or ``source`` alone, which means CUDA to HIP) as a task.

    Raises ``ValueError``, which names the nearest task.
    """
    level, _, direction = text.partition(":")
    try:
        return Task(Level(level), Direction(direction or Direction.CUDA_TO_HIP))
    except ValueError:
        names = [*map(str, Level), *map(str, TASKS)]
        raise ValueError(f"no task `{text}`; {did_you_mean(text, names)}") from None
