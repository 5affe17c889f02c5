"""Two data sets, or two results of CASS-Bench, number by number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from cass_ray.analysis.document import Cell, Column, Document, FigureTable, Section
from cass_ray.bench.reporting.publish import SCORES_FILE
from cass_ray.bench.scoring.scores import Scores
from cass_ray.version import __version__

REPORT_FILE = "report.json"
_KINDS = f"{REPORT_FILE} of `cass analyze` or {SCORES_FILE} of `cass bench`"

Key = tuple[str, ...]
"""Section, table, then the words that name the row, then the column."""


class NotComparableError(ValueError):
    """A folder without figures, or two of different kinds."""


class FigureDifference(NamedTuple):
    """One number on both sides; None where a side lacks it."""

    name: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """Second less first."""
        if self.first is None or self.second is None:
            return None
        return self.second - self.first


def compare(first: Path, second: Path) -> Document:
    """Every number of both, by section. Raises :class:`NotComparableError`."""
    (kind, one), (other_kind, other) = read(first), read(second)
    if kind != other_kind:
        raise NotComparableError(f"{first} holds {kind} and {second} holds {other_kind}")
    sections: dict[str, dict[Key, None]] = {}
    for key in [*one, *other]:
        sections.setdefault(key[0], {})[key] = None
    return Document(
        title=f"{first} and {second}",
        subtitle=kind,
        made_by=f"cass compare, cass-ray {__version__}",
        sections=[
            _section(title, (first, second), _differences(keys, one, other))
            for title, keys in sections.items()
        ],
    )


def read(folder: Path) -> tuple[str, dict[Key, float]]:
    """What the folder holds, and its numbers. Raises :class:`NotComparableError`."""
    try:
        if (folder / REPORT_FILE).exists() and not (folder / SCORES_FILE).exists():
            document = Document.model_validate(_with_figures(folder / REPORT_FILE))
            return "analyses of data sets", dict(_of_document(document))
        if (folder / SCORES_FILE).exists():
            text = (folder / SCORES_FILE).read_text("utf-8")
            return "results of CASS-Bench", dict(
                _of_scores(TypeAdapter(list[Scores]).validate_json(text))
            )
    except (OSError, ValueError) as error:
        raise NotComparableError(f"{folder}: not readable as {_KINDS}: {error}") from None
    raise NotComparableError(f"{folder}: no {_KINDS} is here")


def _with_figures(path: Path) -> Any:
    """The report's numbers are written without its drawings."""
    return json.loads(path.read_text("utf-8"))


def _of_document(document: Document) -> Iterator[tuple[Key, float]]:
    for section in document.sections:
        for name, value in section.numbers.items():
            if isinstance(value, int | float):
                yield (section.title, "", name), float(value)
        for table in section.tables:
            yield from _of_table(section.title, table)


def _of_table(section: str, table: FigureTable) -> Iterator[tuple[Key, float]]:
    """Rows are known by their words; a number in a row without words by its place."""
    for place, row in enumerate(table.rows):
        words = [cell for cell in row if isinstance(cell, str)] or [f"row {place + 1}"]
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, int | float):
                yield (section, table.title, *words, column.name), float(cell)


def _of_scores(scores: Iterable[Scores]) -> Iterator[tuple[Key, float]]:
    for each in scores:
        tags = " ".join(f"{name}={value}" for name, value in sorted(each.tags.items()))
        section = f"{each.system}, {each.kind}" + (f" ({tags})" if tags else "")
        yield (section, "", "tasks"), float(each.tasks)
        yield (section, "", "samples"), float(each.samples)
        for name, share in each.measures.items():
            yield (section, "", f"{name}, share"), share.share
        for count, passed in each.pass_at.items():
            yield (section, "", f"pass at {count}"), passed
        yield (section, "", "best of all samples, share"), each.best_of.share
        for name, number in each.errors.items():
            yield (section, "compile errors", name), float(number)
        for stratum, parts in each.strata.items():
            for name, share in parts.items():
                yield (section, stratum, name), share.share
        if each.chrf is not None:
            yield (section, "", "chrF"), each.chrf


def _differences(
    keys: Iterable[Key], one: dict[Key, float], other: dict[Key, float]
) -> list[FigureDifference]:
    return [
        FigureDifference(": ".join(part for part in key[1:] if part), one.get(key), other.get(key))
        for key in keys
    ]


def _section(
    title: str, folders: tuple[Path, Path], differences: list[FigureDifference]
) -> Section:
    changed = sum(each.difference != 0 for each in differences)
    rows: list[list[Cell]] = [
        [each.name, each.first, each.second, each.difference, _ratio(each)] for each in differences
    ]
    return Section(
        key=title.lower().replace(" ", "-"),
        title=title,
        tables=[
            FigureTable(
                key="differences",
                title="Differences",
                caption=f"{changed} of {len(differences)} numbers differ.",
                columns=[
                    Column(name="figure"),
                    *(Column(name=str(folder), digits=3) for folder in folders),
                    Column(name="difference", digits=3),
                    Column(name="ratio", digits=3),
                ],
                rows=rows,
            )
        ],
    )


def _ratio(figure: FigureDifference) -> float | None:
    if not figure.first or figure.second is None:
        return None
    return figure.second / figure.first
