"""How long the texts are, and how assembly grows with source."""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, Figure, FigureTable, Section, plain_columns

_DRAWN = 1_500
_QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}


class Fit(NamedTuple):
    """log10(y) = intercept + slope × log10(x), by least squares."""

    slope: float
    intercept: float
    r_squared: float
    points: int


def lengths(data: Collected) -> Section:
    """Lines, tokens and instructions by level, vendor and target; fits of assembly on source."""
    if not data.pairs:
        return Section(key="lengths", title="Lengths", text="No pairs.")
    texts = data.texts.assign(side=_names(data.texts))
    fits, figures = _growth(texts)
    tables = [_table(texts), _fit_table(fits), _ratio_table(texts)]
    figures = [_ranges(texts), *figures]
    numbers: dict[str, Cell] = {
        f"slope, {side}, {origin}": fit.slope for (side, origin), fit in fits.items()
    }
    return Section(
        key="lengths",
        title="Lengths",
        text="Lines hold anything but white space; tokens are words and single marks; instructions "
        "are those of the assembly. Normalised SASS has no padding and no encodings.",
        numbers=numbers,
        tables=tables,
        figures=figures,
    )


def fit(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> Fit | None:
    """The line through the logarithms of the points above zero; None for fewer than three."""
    kept = (x > 0) & (y > 0)
    a, b = np.log10(x[kept]), np.log10(y[kept])
    if len(a) < 3 or np.ptp(a) == 0:
        return None
    slope, intercept = np.polyfit(a, b, 1)
    spread = float(((b - b.mean()) ** 2).sum())
    left = float(((b - (intercept + slope * a)) ** 2).sum())
    return Fit(float(slope), float(intercept), 1 - left / spread if spread else 1.0, len(a))


def _names(texts: pd.DataFrame) -> pd.Series[str]:
    target = np.where(texts["target"] != "", ", " + texts["target"], "")
    return texts["vendor"] + " " + texts["level"] + target


def _quantiles(values: pd.Series[float]) -> list[float]:
    return [float(each) for each in values.quantile(list(_QUANTILES.values()))]


def _table(texts: pd.DataFrame) -> FigureTable:
    rows: list[list[Cell]] = []
    for (side, origin), group in texts.groupby(["side", "origin"], sort=True):
        for unit in ("lines", "tokens", "instructions"):
            if unit == "instructions" and group["level"].iloc[0] == "source":
                continue
            mean, total = float(group[unit].mean()), int(group[unit].sum())
            names = [str(side), str(origin), unit]
            rows.append([*names, len(group), total, mean, *_quantiles(group[unit])])
    columns = [Column(name=name) for name in ("text", "origin", "unit", "texts", "sum")]
    columns += [Column(name="mean", digits=1)]
    columns += [Column(name=name, digits=0) for name in ("5%", "25%", "median", "75%", "95%")]
    caption = f"Of each text; N = {texts['row'].nunique():,} pairs."
    return FigureTable(
        key="lengths", title="Lengths", caption=caption, columns=columns, rows=rows, folded=True
    )


def _ranges(texts: pd.DataFrame) -> Figure:
    rows = []
    for (side, origin), group in texts.groupby(["side", "origin"], sort=True):
        values = dict(zip(_QUANTILES, _quantiles(group["lines"].clip(lower=1)), strict=True))
        rows.append({"text": side, "origin": origin, **values})
    return Figure(
        key="lines",
        title="Lines by level, vendor and origin",
        caption="Median, quartiles and 5th to 95th percentile of lines that are not empty, "
        f"logarithmic; N = {texts['row'].nunique():,} pairs.",
        spec=charts.ranges(pd.DataFrame(rows), "text", "lines", "origin", log=True),
    )


def _source_lines(texts: pd.DataFrame) -> pd.DataFrame:
    """Device texts with ``source_lines``, those of the source of the same vendor."""
    source = texts[texts["level"] == "source"].set_index(["row", "vendor"])["lines"]
    device = texts[texts["level"] == "device"].copy()
    index = pd.MultiIndex.from_frame(device[["row", "vendor"]])
    device["source_lines"] = source.reindex(index).to_numpy()
    return device.dropna(subset=["source_lines"])


def _growth(texts: pd.DataFrame) -> tuple[dict[tuple[str, str], Fit], list[Figure]]:
    device = _source_lines(texts)
    fits: dict[tuple[str, str], Fit] = {}
    lines = []
    for (side, origin), group in device.groupby(["side", "origin"], sort=True):
        x, y = group["source_lines"].to_numpy(float), group["instructions"].to_numpy(float)
        curve = fit(x, y)
        if curve is None:
            continue
        fits[str(side), str(origin)] = curve
        ends = [max(1.0, float(x.min())), float(x.max())]
        lines += [
            {"x": at, "y": 10**curve.intercept * at**curve.slope, "side": side, "origin": origin}
            for at in ends
        ]
    drawn = device[(device["source_lines"] > 0) & (device["instructions"] > 0)]
    if len(drawn) > _DRAWN:
        drawn = drawn.sample(_DRAWN, random_state=0)
    drawn = drawn[["source_lines", "instructions", "side", "origin"]]
    if drawn.empty:
        return fits, []
    log = alt.Scale(type="log")
    figure = Figure(
        key="growth",
        title="Device assembly against source",
        caption=f"Instructions against lines of source, both logarithmic; {len(drawn):,} of "
        f"{len(device):,} texts drawn; lines: least squares through all, by side and origin.",
        spec=charts.points(
            drawn,
            alt.X("source_lines:Q", title="lines of source", scale=log),
            alt.Y("instructions:Q", title="instructions", scale=log),
            "side",
            ["side", "origin", "source_lines", "instructions"],
            pd.DataFrame(lines) if lines else None,
            dashed="origin",
        ),
    )
    return fits, [figure]


def _fit_table(fits: dict[tuple[str, str], Fit]) -> FigureTable:
    return FigureTable(
        key="fits",
        title="Growth of device assembly with source",
        caption="instructions = a × (lines of source)^slope, least squares on logarithms.",
        columns=[
            *plain_columns("text", "origin"),
            Column(name="slope", digits=3),
            Column(name="a", digits=2),
            Column(name="R²", digits=3),
            Column(name="N"),
        ],
        rows=[
            [side, origin, each.slope, 10**each.intercept, each.r_squared, each.points]
            for (side, origin), each in fits.items()
        ],
    )


def _ratio_table(texts: pd.DataFrame) -> FigureTable:
    """Instructions of AMD's device assembly for one of Nvidia's, by pair of targets."""
    device = texts[texts["level"] == "device"]
    rows: list[list[Cell]] = []
    cuda, hip = device[device["vendor"] == "CUDA"], device[device["vendor"] == "HIP"]
    both = cuda.merge(hip, on=["row", "origin"], suffixes=("_cuda", "_hip"))
    both = both[both["instructions_cuda"] > 0]
    for key, group in both.groupby(["target_cuda", "target_hip", "origin"], sort=True):
        ratio = group["instructions_hip"] / group["instructions_cuda"]
        sums = group["instructions_hip"].sum() / group["instructions_cuda"].sum()
        mean_log = float(np.exp(np.log(ratio[ratio > 0]).mean()))
        names = [str(each) for each in key]
        rows.append([*names, len(group), float(ratio.median()), mean_log, float(sums)])
    titles = ("Nvidia target", "AMD target", "origin", "N")
    measures = ("median", "geometric mean", "of the sums")
    return FigureTable(
        key="ratios",
        title="AMD's instructions for one of Nvidia's",
        caption="Device assembly of the same program.",
        columns=[
            *plain_columns(*titles),
            *(Column(name=name, digits=2) for name in measures),
        ],
        rows=rows,
    )
