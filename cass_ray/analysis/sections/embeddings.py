"""Device assembly as a map: what lies near each other uses the same instructions."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section, plain_columns
from cass_ray.analysis.embedding import project, vectors
from cass_ray.analysis.settings import AnalysisSettings

_FEWEST = 8


def embeddings(data: Collected, settings: AnalysisSettings) -> Section:
    """Projections for each projection asked for, by target and by domain."""
    documents = [each for each in data.documents if each["words"]]
    rows = len({each["id"] for each in documents})
    if len(documents) < _FEWEST:
        return Section(key="embeddings", title="Map of device assembly", text="Too few rows.")
    words = [_own_words(each["words"], each["vendor"]) for each in documents]
    points = vectors(words, settings.encoder)
    by = "encoder " + settings.encoder.name if settings.encoder else "TF-IDF of mnemonics and SVD"
    base = pd.DataFrame(
        {
            name: [each[name] for each in documents]
            for name in ("filename", "target", "domain", "origin")
        }
    )
    figures: list[Figure] = []
    for method in settings.projections:
        plane = project(points, method)
        drawn = base.assign(x=plane[:, 0].round(3), y=plane[:, 1].round(3))
        caption = (
            f"{by}, {method}; a point is one listing; N = {len(documents):,} of {rows:,} rows."
        )
        figures += [
            Figure(
                key=f"{method.lower()}-{field}",
                title=f"{method}, by {field}",
                caption=f"Axes have no unit: distances within a cloud mean likeness. {caption}",
                spec=_map(drawn, field),
            )
            for field in ("target", "domain")
        ]
    table, numbers = _neighbours(points, base, [each["id"] for each in documents])
    return Section(
        key="embeddings",
        title="Map of device assembly",
        numbers=numbers,
        tables=[table],
        figures=figures,
    )


def _own_words(words: dict[str, int], vendor: str) -> dict[str, int]:
    """Mnemonics of both vendors differ; that they do is no finding, so each keeps its own."""
    return {f"{vendor} {name}": count for name, count in words.items()}


def _map(drawn: pd.DataFrame, field: str) -> dict[str, object]:
    axis = alt.Axis(labels=False, ticks=False, grid=False)
    return charts.points(
        drawn,
        alt.X("x:Q", title=None, axis=axis),
        alt.Y("y:Q", title=None, axis=axis),
        field,
        ["filename", "target", "domain", "origin"],
        None,
    )


def _neighbours(
    points: np.ndarray[tuple[int, int], np.dtype[np.float64]], base: pd.DataFrame, ids: list[str]
) -> tuple[FigureTable, dict[str, Cell]]:
    """Share of listings whose nearest other listing of the same target has the same class."""
    rows: list[list[Cell]] = []
    numbers: dict[str, Cell] = {}
    for target, group in base.groupby("target", sort=True):
        index = group.index.to_numpy()
        if len(index) < 3:
            continue
        alike = points[index] @ points[index].T
        np.fill_diagonal(alike, -np.inf)
        nearest = index[alike.argmax(axis=1)]
        values: list[str | int | float | None] = [str(target), len(index)]
        for field in ("domain", "origin"):
            labels = base[field].to_numpy()
            share = float((labels[index] == labels[nearest]).mean())
            counts = group[field].value_counts(normalize=True)
            values += [share, float((counts**2).sum())]
            numbers[f"nearest has the same {field}, {target}"] = share
        rows.append(values)
    columns = plain_columns("target", "N")
    for field in ("domain", "origin"):
        columns.append(Column(name=f"nearest has the same {field}", unit="%", digits=1))
        columns.append(Column(name="by chance", unit="%", digits=1))
    table = FigureTable(
        key="neighbours",
        title="What near listings share",
        caption="Cosine of the vectors before projection; among listings of the same target.",
        columns=columns,
        rows=rows,
    )
    return table, numbers
