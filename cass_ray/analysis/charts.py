"""Drawings in Vega-Lite, by Altair: one look for all, for light and dark pages alike."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

alt.data_transformers.disable_max_rows()

# Okabe and Ito's colours, told apart by everyone.
COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999"]
WIDTH = 620
"""A drawing has so many pixels; the page scales it down on narrow screens."""


def color(field: str, title: str = "", domain: list[str] | None = None) -> alt.Color:
    """Classes by colour."""
    scale = alt.Scale(range=COLORS, domain=domain) if domain else alt.Scale(range=COLORS)
    return alt.Color(f"{field}:N", title=title or field, scale=scale)


def bars(data: pd.DataFrame, name: str, value: str, unit: str, *, by: str = "") -> dict[str, Any]:
    """Horizontal bars, longest first, of ``value`` for each ``name``; grouped by colour ``by``."""
    chart = alt.Chart(data).mark_bar()
    encoding: dict[str, Any] = {
        "x": alt.X(f"{value}:Q", title=unit),
        "y": alt.Y(f"{name}:N", sort="-x", title=None, axis=alt.Axis(labelLimit=260)),
        "tooltip": [each for each in (name, by, value) if each],
    }
    if by:
        encoding["color"] = color(by)
        encoding["yOffset"] = alt.YOffset(f"{by}:N")
    names = data[name].nunique()
    return finished(chart.encode(**encoding), height=18 * max(1, names) * (2 if by else 1))


def colored_bars(
    data: pd.DataFrame, name: str, share: str, by: str, order: list[str]
) -> dict[str, Any]:
    """Horizontal bars of shares, longest first, each in the colour of its class.

    ``order`` has all classes, so that one has the same colour as in :func:`stacked`.
    """
    there = [each for each in order if each in set(data[by])]
    chart = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X(f"{share}:Q", title=share, axis=alt.Axis(format="%")),
            y=alt.Y(f"{name}:N", sort="-x", title=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color(
                f"{by}:N",
                title=by,
                scale=alt.Scale(scheme="tableau20", domain=order),
                legend=alt.Legend(values=there),
            ),
            tooltip=[name, by, alt.Tooltip(f"{share}:Q", format=".2%")],
        )
    )
    return finished(chart, height=17 * max(1, len(data)))


def stacked(
    data: pd.DataFrame, name: str, value: str, by: str, unit: str, order: list[str]
) -> dict[str, Any]:
    """Bars of one length, divided by the share of each class ``by``."""
    ranks = {each: rank for rank, each in enumerate(order)}
    data = data.assign(_rank=data[by].map(ranks))
    chart = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X(f"{value}:Q", stack="normalize", title=unit, axis=alt.Axis(format="%")),
            y=alt.Y(f"{name}:N", title=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color(
                f"{by}:N", title=by, sort=order, scale=alt.Scale(scheme="tableau20", domain=order)
            ),
            order="_rank:O",
            tooltip=[name, by, alt.Tooltip(f"{value}:Q")],
        )
    )
    return finished(chart, height=26 * max(1, data[name].nunique()))


def ranges(
    data: pd.DataFrame, name: str, unit: str, by: str, *, log: bool = False
) -> dict[str, Any]:
    """Median, quartiles and 5th to 95th percentile: columns low, q1, median, q3 and high.

    On a logarithmic axis all of them are above zero.
    """
    scale = alt.Scale(type="log") if log else alt.Scale()
    base = alt.Chart(data).encode(
        y=alt.Y(f"{name}:N", title=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset(f"{by}:N"),
        color=color(by),
        tooltip=[name, by, "low", "q1", "median", "q3", "high"],
    )
    axis = {"title": unit, "scale": scale}
    whiskers = base.mark_rule().encode(x=alt.X("low:Q", **axis), x2="high:Q")
    boxes = base.mark_bar(size=9, opacity=0.7).encode(x=alt.X("q1:Q", **axis), x2="q3:Q")
    middle = base.mark_point(shape="stroke", angle=90, size=120, opacity=1, strokeWidth=2).encode(
        x=alt.X("median:Q", **axis), color=alt.value("#222")
    )
    height = (14 * data[by].nunique() + 14) * max(1, data[name].nunique())
    return finished(whiskers + boxes + middle, height=height)


def points(
    data: pd.DataFrame,
    x: alt.X,
    y: alt.Y,
    by: str,
    tooltip: list[str],
    lines: pd.DataFrame | None,
    dashed: str = "",
) -> dict[str, Any]:
    """A cloud of points by colour; ``lines`` (columns x, y and ``by``) are drawn over it, one for
    each colour and value of the column ``dashed``."""
    cloud = (
        alt.Chart(data)
        .mark_circle(size=14, opacity=0.5)
        .encode(x=x, y=y, color=color(by), tooltip=tooltip)
    )
    if lines is None:
        return finished(cloud, height=420)
    drawn = (
        alt.Chart(lines)
        .mark_line(strokeWidth=2)
        .encode(
            x="x:Q",
            y="y:Q",
            color=color(by),
            strokeDash=alt.StrokeDash(f"{dashed}:N", title=f"line of {dashed}"),
        )
    )
    return finished(cloud + drawn, height=420)


def histogram(data: pd.DataFrame, value: str, unit: str, by: str, *, log: bool) -> dict[str, Any]:
    """Counts in 40 bins of ``value`` (``data`` holds ``low``, ``high``, ``count`` and ``by``)."""
    scale = alt.Scale(type="log") if log else alt.Scale()
    chart = (
        alt.Chart(data)
        .mark_bar(opacity=0.6)
        .encode(
            x=alt.X("low:Q", title=unit, scale=scale),
            x2="high:Q",
            y=alt.Y("count:Q", title=f"rows by {value}", stack=None),
            color=color(by),
            tooltip=["low", "high", "count", by],
        )
    )
    return finished(chart, height=240)


def finished(chart: alt.TopLevelMixin, **size: int) -> dict[str, Any]:
    """The drawing as a specification, with this report's size and without colours of its own."""
    drawing = chart.properties(width=WIDTH, **size)
    specification: dict[str, Any] = drawing.to_dict()
    for unused in ("config", "$schema"):
        specification.pop(unused, None)
    return specification


def columns(data: pd.DataFrame, name: str, value: str, by: str, order: list[str]) -> dict[str, Any]:
    """Upright bars in a given order, by colour."""
    chart = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X(f"{name}:O", sort=order, title=name),
            y=alt.Y(f"{value}:Q", title=value),
            color=color(by),
            tooltip=[name, by, value],
        )
    )
    return finished(chart, height=260)
