"""How alike the two vendors' texts are: chrF and edit similarity."""

from __future__ import annotations

import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section, plain_columns

_MEASURES = ("chrf", "edit")
_TITLES = {"chrf": "chrF", "edit": "edit similarity"}
_QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}


def alike(data: Collected, characters: int) -> Section:
    """Similarity by level and origin, of the sampled rows."""
    similarities = data.similarities
    sampled = int(similarities["id"].nunique())
    if not sampled:
        return Section(key="similarity", title="Similarity of the two sides", text="No sample.")
    caption = (
        f"0 to 100; of the first {characters:,} characters of both texts, first architectures; "
        f"N = {sampled:,} of {data.pairs:,} pairs, chosen by a hash of their ids."
    )
    rows: list[list[Cell]] = []
    drawn = []
    for (level, origin), group in similarities.groupby(["level", "origin"], sort=True):
        values: list[str | int | float | None] = [str(level), str(origin), len(group)]
        for measure in _MEASURES:
            values += [float(group[measure].mean()), float(group[measure].median())]
        rows.append(values)
        quantiles = [float(x) for x in group["chrf"].quantile(list(_QUANTILES.values()))]
        named = dict(zip(_QUANTILES, quantiles, strict=True))
        drawn.append({"level": level, "origin": origin, **named})
    columns = plain_columns("level", "origin", "N")
    for measure in _MEASURES:
        name = _TITLES[measure]
        columns += [
            Column(name=f"{name}, mean", digits=1),
            Column(name=f"{name}, median", digits=1),
        ]
    return Section(
        key="similarity",
        title="Similarity of the two sides",
        text="chrF is the F score of character n-grams up to six (Popović 2015), edit similarity "
        "100 × (1 − Levenshtein distance / length of the longer text).",
        numbers={
            f"{measure}, {level}": float(group[measure].mean())
            for level, group in similarities.groupby("level", sort=True)
            for measure in _MEASURES
        },
        tables=[
            FigureTable(
                key="similarity", title="Similarity", caption=caption, columns=columns, rows=rows
            )
        ],
        figures=[
            Figure(
                key="chrf",
                title="chrF of HIP against CUDA",
                caption=f"Median, quartiles, 5th to 95th percentile. {caption}",
                spec=charts.ranges(pd.DataFrame(drawn), "level", "chrF", "origin"),
            )
        ],
    )
