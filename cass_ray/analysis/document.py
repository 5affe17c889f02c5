"""A report as data: sections of tables and figures, before any of it is drawn."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from cass_ray.config import StrictModel

Cell = str | int | float | None


class Column(StrictModel):
    """A column of a table."""

    name: str
    unit: str = ""
    """Shown behind the name; ``%`` for shares, which are given as 0 to 1."""
    digits: int | None = None
    """Digits after the point; None where the column holds words or whole numbers."""


def plain_columns(*names: str) -> list[Column]:
    """Columns of words or whole numbers."""
    return [Column(name=name) for name in names]


class FigureTable(StrictModel):
    """Rows of cells; ``None`` is a value that is not known."""

    key: str
    title: str
    caption: str
    """What is counted, and of how many (N)."""
    columns: list[Column]
    rows: list[list[Cell]]
    folded: bool = False
    """Shown only when asked for."""


class Figure(StrictModel):
    """A drawing in the language of Vega-Lite, its data inside."""

    key: str
    title: str
    caption: str
    """What is drawn, with units and N."""
    spec: dict[str, Any]


class Section(StrictModel):
    """A part of the report under one heading."""

    key: str
    title: str
    text: str = ""
    """Paragraphs of plain text."""
    numbers: dict[str, Cell] = Field(default_factory=dict)
    """Single figures that the text or a comparison needs, by name."""
    tables: list[FigureTable] = Field(default_factory=list)
    figures: list[Figure] = Field(default_factory=list)


class Document(StrictModel):
    """A whole report."""

    title: str
    subtitle: str
    made_by: str
    """Command and version."""
    sections: list[Section]

    def section(self, key: str) -> Section | None:
        """The section of that key, or None."""
        return next((each for each in self.sections if each.key == key), None)
