"""What there is to see of a result, described once for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """How a line is meant; its color follows from it."""

    PLAIN = "plain"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True)
class Cells:
    """A table. ``marks`` has one for each row, or is empty."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    marks: Sequence[Mark] = ()


@dataclass(frozen=True)
class TextDiff:
    """Two texts, of which what changed is shown."""

    title: str
    before: str
    after: str


@dataclass(frozen=True)
class Listings:
    """Texts beside each other: (caption, text), two at most."""

    title: str
    columns: Sequence[tuple[str, str]]


Block = Cells | TextDiff | Listings


@dataclass(frozen=True)
class View:
    """A line that says how it came out, and what stands behind it."""

    headline: str
    mark: Mark
    blocks: Sequence[Block] = ()
