"""What there is to see of a result, described once for terminals and notebooks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.console import RenderableType


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
class Difference:
    """Two texts, of which what changed is shown."""

    title: str
    before: str
    after: str


@dataclass(frozen=True)
class Listings:
    """Texts beside each other: (caption, text), two at most."""

    title: str
    columns: Sequence[tuple[str, str]]


Block = Cells | Difference | Listings


@dataclass(frozen=True)
class View:
    """A line that says how it came out, and what stands behind it."""

    headline: str
    mark: Mark
    blocks: Sequence[Block] = ()


class Shown:
    """A result that shows itself: in one line, in a terminal, in a notebook."""

    __slots__ = ()

    @abstractmethod
    def view(self) -> View:
        """What there is to see."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.view().headline}>"

    def __rich__(self) -> RenderableType:
        from cass_ray.public.terminal import rendered

        return rendered(self.view())

    def _repr_html_(self) -> str:
        from cass_ray.public.notebook import rendered

        return rendered(self.view())
