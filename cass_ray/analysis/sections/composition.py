"""Where the programs come from, under which licence, and what they are about."""

from __future__ import annotations

import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section

_MOST = 25


def composition(data: Collected) -> Section:
    """Origins, licences, repositories and domains of the pairs."""
    rows = data.rows
    caption = f"Pairs; N = {data.pairs:,}."
    tables = [
        shares(rows["origin"], "origin", "Origin", caption),
        shares(rows["license"].replace("", "unknown"), "license", "Licence", caption),
        shares(
            rows["repository"].replace("", "none"),
            "repository",
            "Repository",
            f"{caption} The {_MOST} with the most pairs of {rows['repository'].nunique():,}.",
            folded=True,
        ),
        shares(
            rows["domain"].replace("", "unknown"),
            "domain",
            "Domain by the paper's keywords",
            f"{caption} The domain whose keywords occur most often (CASS, appendix A.3).",
        ),
    ]
    figures = []
    if data.pairs:
        counts = rows.groupby(["domain", "origin"]).size().reset_index(name="pairs")
        figures.append(
            Figure(
                key="domains",
                title="Domains by origin",
                caption=f"Number of pairs by keyword domain. {caption}",
                spec=charts.bars(counts, "domain", "pairs", "pairs", by="origin"),
            )
        )
    numbers: dict[str, Cell] = {
        "pairs": data.pairs,
        "kernels": int(rows["kernels"].sum()),
        "repositories": int(rows.loc[rows["repository"] != "", "repository"].nunique()),
        "without licence": int((rows["license"] == "").sum()),
    }
    return Section(
        key="composition",
        title="Composition",
        numbers=numbers,
        tables=tables,
        figures=figures,
    )


def shares(
    values: pd.Series[str], name: str, title: str, caption: str, *, folded: bool = False
) -> FigureTable:
    """How often each value occurs, most frequent first, at most 25."""
    counts = values.value_counts()
    counts = counts[sorted(counts.index, key=lambda value: (-counts[value], str(value)))]
    return FigureTable(
        key=name,
        title=title,
        caption=caption,
        columns=[Column(name=name), Column(name="pairs"), Column(name="share", unit="%", digits=1)],
        rows=[
            [str(value), int(number), float(number / len(values))]
            for value, number in counts.iloc[:_MOST].items()
        ],
        folded=folded,
    )
