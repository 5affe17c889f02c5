"""Changes of data that passes between a program's host and the device, asked of the device process.

The rule is in ``device/perturbation.cpp``: changes follow from the seed and the place in memory
alone, so that a program and its port get the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Where(StrEnum):
    """What is changed."""

    OUT = "out"
    """Some of what kernels wrote, on its way to the host."""
    OUT_ALL = "out-all"
    """All of it becomes zero."""
    OUT_WIDE = "out-wide"
    """The small integers of it become large ones."""
    IN = "in"
    """Some of what the host sends, on its way to the device."""
    IN_ALL = "in-all"
    """All of it becomes something else."""
    BETWEEN = "between"
    """Some of what kernels wrote, in device memory, before a launch."""


EVERYWHERE = frozenset({Where.OUT_ALL, Where.OUT_WIDE, Where.IN_ALL})
"""Changes of all data: they meet a port that moves its data by other copies, too."""
RESULTS = frozenset({Where.OUT, Where.OUT_ALL, Where.OUT_WIDE})
"""Changes of what kernels have computed, on its way to the host."""

_PHRASES = {
    Where.OUT: "some results changed on their way to the host",
    Where.OUT_ALL: "all results set to zero on their way to the host",
    Where.OUT_WIDE: "all small integers among results made large on their way to the host",
    Where.IN: "some inputs changed on their way to the device",
    Where.IN_ALL: "all inputs changed on their way to the device",
    Where.BETWEEN: "some device memory changed before launch {launch}",
}


@dataclass(frozen=True)
class Perturbation:
    """One change; ``launch`` counts from 0 and belongs to :attr:`Where.BETWEEN`."""

    where: Where
    seed: int = 0
    launch: int = 0

    @property
    def option(self) -> str:
        """The option of the device process for it."""
        if self.where in EVERYWHERE:
            return self.where.value
        if self.where is Where.BETWEEN:
            return f"{self.where.value}:{self.seed}:{self.launch}"
        return f"{self.where.value}:{self.seed}"

    def format(self) -> str:
        phrase = _PHRASES[self.where].format(launch=self.launch + 1)
        return phrase if self.where in EVERYWHERE else f"{phrase} ({self.seed})"

    @classmethod
    def parse(cls, option: str) -> Perturbation:
        """What :attr:`option` wrote. Raises :class:`ValueError`."""
        name, *numbers = option.split(":")
        seed, launch = (*map(int, numbers), 0, 0)[:2]
        return cls(Where(name), seed, launch)
