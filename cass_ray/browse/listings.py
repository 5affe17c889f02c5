"""A device listing as it is shown: where its functions and their instructions stand in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cass_ray.assembly import rdna3
from cass_ray.assembly.rdna3 import Rdna3LineKind

_HEADERS = ("Function : ", "Device function : ")


class Place(NamedTuple):
    """The ``position``-th instruction of a function (mangled name)."""

    function: str
    position: int


@dataclass(frozen=True)
class Listing:
    """Text and, by line (from 0), the instruction that stands there."""

    text: str
    starts: dict[str, int]
    """Line of each function's beginning."""
    places: dict[int, Place]

    @property
    def counts(self) -> dict[str, int]:
        """Instructions of each function."""
        counts = dict.fromkeys(self.starts, 0)
        for place in self.places.values():
            counts[place.function] += 1
        return counts

    def lines_of(self, places: set[Place]) -> list[int]:
        """Where these instructions stand, in order."""
        return [line for line, place in self.places.items() if place in places]


def sass_listing(text: str) -> Listing:
    """Of normalized SASS (:mod:`cass_ray.assembly.sass`)."""
    starts: dict[str, int] = {}
    places: dict[int, Place] = {}
    function, position = "", 0
    for number, line in enumerate(text.splitlines()):
        header = next((each for each in _HEADERS if line.startswith(each)), None)
        if header is not None:
            function, position = line.removeprefix(header), 0
            starts[function] = number
        elif function and line and not line.startswith(".target") and not line.endswith(":"):
            places[number] = Place(function, position)
            position += 1
    return Listing(text, starts, places)


def amd_listing(text: str) -> Listing:
    """The listing of AMD device assembly as clang writes it."""
    module = rdna3.parse(text)
    starts: dict[str, int] = {}
    places: dict[int, Place] = {}
    for name, function in module.functions.items():
        starts[name] = function.lines.start
        places.update(_instructions(module, name, function.lines))
    return Listing(text, starts, dict(sorted(places.items())))


def _instructions(
    module: rdna3.Rdna3Module, name: str, lines: range
) -> Iterator[tuple[int, Place]]:
    numbers = (line for line in lines if module.lines[line].kind is Rdna3LineKind.INSTRUCTION)
    for position, line in enumerate(numbers):
        yield line, Place(name, position)
