"""What became of every program that was read: the funnel, and why rows were left out."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section
from cass_ray.dataset.row import DUPLICATE_REASONS, Stage

_GAP = 0.02
_STEPS = np.linspace(0.0, 1.0, 25)


def yields(data: Collected) -> Section:
    """Rows that each stage let through; reasons of the others."""
    rejects, total = data.rejects, data.pairs + len(data.rejects)
    remaining, rows = total, []
    for stage in Stage:
        left_out = int((rejects["stage"] == stage.value).sum())
        rows.append([stage.value, remaining, left_out, remaining - left_out])
        remaining -= left_out
    duplicates = rejects["reason"].isin([each.value for each in DUPLICATE_REASONS])
    reasons = rejects.groupby(["stage", "reason"], sort=True).size().reset_index(name="rows")
    reasons = reasons.sort_values(["rows", "stage", "reason"], ascending=[False, True, True])
    tables = [
        FigureTable(
            key="funnel",
            title="Stage by stage",
            caption=f"Rows that came to each stage, and that it left out; N = {total:,} rows read.",
            columns=[Column(name=name) for name in ("stage", "rows in", "left out", "rows out")],
            rows=[list(row) for row in rows],
        ),
        FigureTable(
            key="reasons",
            title="Reasons",
            caption=f"Rejects and duplicates; N = {len(rejects):,}.",
            columns=[Column(name=name) for name in ("stage", "reason", "rows")],
            rows=[
                [str(stage), str(reason), int(number)]
                for stage, reason, number in reasons.itertuples(index=False)
            ],
        ),
    ]
    figures = []
    if total:
        caption = (
            "A band is as high as it has rows: from what was read (left) to pairs, or to the stage "
            f"and reason of what was left out. N = {total:,} rows read."
        )
        spec = _flow(data.pairs, reasons)
        figures = [Figure(key="flow", title="Yield", caption=caption, spec=spec)]
    numbers: dict[str, Cell] = {
        "rows read": total,
        "pairs": data.pairs,
        "duplicates": int(duplicates.sum()),
        "rejects": int((~duplicates).sum()),
        "yield": data.pairs / total if total else None,
        "yield without duplicates": (
            data.pairs / (total - int(duplicates.sum())) if data.pairs else None
        ),
    }
    return Section(key="yield", title="Yield", numbers=numbers, tables=tables, figures=figures)


def _flow(pairs: int, reasons: pd.DataFrame) -> dict[str, Any]:
    """A Sankey diagram from what was read (left) to pairs and reasons (right)."""
    ends = [("pairs", pairs)]
    ends += [(f"{stage}: {reason}", int(n)) for stage, reason, n in reasons.itertuples(index=False)]
    total = sum(number for _, number in ends)
    bands, labels, left, right = [], [], 0.0, 0.0
    for name, number in ends:
        height = number / total
        bands += _band(name, number, (left, right), height)
        labels.append({"end": name, "rows": number, "y": right + height / 2})
        left += height
        right += max(height, _GAP) + _GAP
    scale = alt.Scale(domain=[0, max(right, 1.0)], reverse=True)
    area = (
        alt.Chart(pd.DataFrame(bands))
        .mark_area(opacity=0.75)
        .encode(
            x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1.9])),
            y=alt.Y("top:Q", axis=None, scale=scale),
            y2="bottom:Q",
            color=alt.Color("end:N", legend=None, scale=alt.Scale(range=charts.COLORS)),
            tooltip=["end", "rows"],
        )
    )
    text = (
        alt.Chart(pd.DataFrame(labels))
        .transform_calculate(label="datum.end + '  ' + format(datum.rows, ',')")
        .mark_text(align="left", dx=6, fontSize=11)
        .encode(x=alt.datum(1.0, type="quantitative"), y=alt.Y("y:Q", scale=scale), text="label:N")
    )
    return charts.finished(area + text, height=24 * len(ends) + 120)


def _band(name: str, number: int, tops: tuple[float, float], height: float) -> list[dict[str, Any]]:
    """A band from its place on the left to that on the right, along a cosine."""
    curve = (1 - np.cos(np.pi * _STEPS)) / 2
    upper = tops[0] + (tops[1] - tops[0]) * curve
    return [
        {"end": name, "rows": number, "x": float(x), "top": float(y), "bottom": float(y + height)}
        for x, y in zip(_STEPS, upper, strict=True)
    ]
