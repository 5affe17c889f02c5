"""Rows that are worth a look by hand, each with the reason and its id."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, FigureTable, Section, plain_columns

_EACH = 5


def outliers(data: Collected) -> Section:
    """The extremes of each measure: lengths, ratios, similarity, coverage, error."""
    rows: list[list[Cell]] = []
    if data.pairs:
        rows += _ratios(data)
        rows += _of_rows(data)
        rows += _alike(data)
    return Section(
        key="outliers",
        title="Outliers to look at",
        text="cass inspect DATASET --id ID shows a row.",
        tables=[
            FigureTable(
                key="outliers",
                title="Extremes",
                caption=f"The {_EACH} most extreme rows of each measure; N = {data.pairs:,} pairs "
                "(similarities: the sample).",
                columns=[
                    Column(name="measure"),
                    Column(name="value", digits=2),
                    *plain_columns("file", "id"),
                ],
                rows=rows,
            )
        ],
    )


def _named(data: Collected, measure: str, values: pd.Series[float]) -> list[list[Cell]]:
    """``values`` by position of the row, in the order in which they are shown."""
    ids, files = data.rows["id"], data.rows["filename"]
    return [
        [measure, float(value), str(files.iloc[row]), str(ids.iloc[row])]
        for row, value in zip(values.index.to_numpy(int), values, strict=True)
    ]


def _ratios(data: Collected) -> list[list[Cell]]:
    device = data.texts[data.texts["level"] == "device"]
    first = device.drop_duplicates(["row", "vendor"])
    both = first.pivot(index="row", columns="vendor", values="instructions").dropna()
    if not {"CUDA", "HIP"} <= set(both.columns):
        return []
    ratio = (both["HIP"] / both["CUDA"].clip(lower=1)).astype(float)
    middle = max(float(ratio.median()), 1e-3)
    distance = pd.Series(np.abs(np.log(ratio.clip(lower=1e-3) / middle)), index=ratio.index)
    furthest = ratio.loc[distance.nlargest(_EACH).index]
    longest = first.groupby("row")["instructions"].max().astype(float)
    return [
        *_named(data, "AMD's instructions for one of Nvidia's", furthest),
        *_named(data, "instructions of device code", pd.Series(longest).nlargest(_EACH)),
    ]


def _of_rows(data: Collected) -> list[list[Cell]]:
    rows = data.rows
    outliers = _named(data, "kernels", rows["kernels"].astype(float).nlargest(_EACH))
    errors = rows["max_error"].dropna()
    outliers += _named(data, "largest error, executed", errors[errors > 0].nlargest(_EACH))
    coverage = rows.loc[rows["coverage"].fillna(0) > 0, "coverage"]
    outliers += _named(data, "least coverage of kernels' code", coverage.nsmallest(_EACH))
    return outliers


def _alike(data: Collected) -> list[list[Cell]]:
    source = data.similarities[data.similarities["level"] == "source"]
    least = source.nsmallest(_EACH, "chrf")
    return [
        ["least chrF of the sources", float(chrf), str(file), str(one)]
        for one, file, chrf in least[["id", "filename", "chrf"]].itertuples(index=False)
    ]
