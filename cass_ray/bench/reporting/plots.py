"""Plots of a report as SVG text, by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure

from cass_ray.bench.features import CATEGORIES
from cass_ray.bench.reporting.report import STEP_TAG, SystemRun
from cass_ray.bench.scoring.scores import Share

# Okabe and Ito's colors, told apart by everyone.
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8c8c8c", "#000000")
_MARKERS = "osD^vPX*"
_LONGEST_LABEL = 34
_MEASURES = (("compiled", "compiles"), ("exact", "exact"), ("passed", "right on all inputs"))


def plots(runs: Sequence[SystemRun]) -> dict[str, str]:
    """Title -> SVG; those without data are left out."""
    result = {
        "Share of tasks, with 95% intervals": by_system(runs),
        "Right answers by category": by_category(runs),
        "Right answers by length of the SASS": by_length(runs),
        "Compile errors by class": by_error(runs),
        "By training step": by_step(runs),
    }
    return {title: svg for title, svg in result.items() if svg}


def by_system(runs: Sequence[SystemRun]) -> str:
    """A dot and an interval for each measure of each run."""
    figure, axes = _figure(8.5, 0.9 + 0.62 * len(runs))
    for row, run in enumerate(runs):
        for number, (measure, name) in enumerate(_MEASURES):
            share = run.scores.measures[measure]
            _dot(axes, share, row + 0.22 * (number - 1), number, name if row == 0 else "")
    axes.set_yticks(range(len(runs)), [_short(run) for run in runs])
    axes.set_ylim(len(runs) - 0.45, -0.55)
    _percent_axis(axes.xaxis, axes.set_xlim)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    return _svg(figure)


def _dot(axes: Any, share: Share, position: float, number: int, label: str) -> None:
    value = 100 * share.share
    errors = [[value - 100 * share.low], [100 * share.high - value]]
    axes.errorbar(
        [value],
        [position],
        xerr=[[max(0.0, side[0])] for side in errors],
        fmt=_MARKERS[number],
        color=_COLORS[number],
        capsize=3,
        markersize=5,
        label=label or None,
    )


def by_category(runs: Sequence[SystemRun]) -> str:
    """A matrix of shares; rows are categories, columns runs."""
    names = [
        name for name in CATEGORIES if any(name in run.scores.strata["category"] for run in runs)
    ]
    figure, axes = _figure(3.2 + 1.15 * len(runs), 1.3 + 0.34 * len(names))
    shares = [[run.scores.strata["category"].get(name) for run in runs] for name in names]
    values = [[100 * share.share if share else float("nan") for share in row] for row in shares]
    axes.imshow(values, cmap="cividis", vmin=0, vmax=100, aspect="auto")
    for y, row in enumerate(shares):
        for x, share in enumerate(row):
            if share is not None:
                color = "black" if share.share > 0.55 else "white"
                text = f"{share.right}/{share.total}"
                axes.text(x, y, text, ha="center", va="center", color=color, fontsize=9)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(runs)), [_short(run) for run in runs], rotation=30, ha="left")
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return _svg(figure)


def by_length(runs: Sequence[SystemRun]) -> str:
    """Shares over the length bins, with intervals."""
    names = [
        name
        for name in ("1-100", "101-250", "251-500", "501-750", "> 750")
        if any(name in run.scores.strata["length"] for run in runs)
    ]
    if not names:
        return ""
    figure, axes = _figure(8.5, 4.0)
    for number, run in enumerate(runs):
        places = [(x, run.scores.strata["length"].get(name)) for x, name in enumerate(names)]
        points = [(x, share) for x, share in places if share is not None]
        shift = 0.06 * (number - (len(runs) - 1) / 2)
        values = [100 * share.share for _, share in points]
        low = [max(0.0, v - 100 * s.low) for v, (_, s) in zip(values, points, strict=True)]
        high = [max(0.0, 100 * s.high - v) for v, (_, s) in zip(values, points, strict=True)]
        axes.errorbar(
            [x + shift for x, _ in points],
            values,
            yerr=[low, high],
            marker=_MARKERS[number % len(_MARKERS)],
            color=_COLORS[number % len(_COLORS)],
            capsize=3,
            markersize=5,
            linewidth=1.2,
            label=_short(run),
        )
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel("lines of SASS")
    _percent_axis(axes.yaxis, axes.set_ylim)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return _svg(figure)


def by_error(runs: Sequence[SystemRun]) -> str:
    """Samples with an error of each class, one stacked bar a run."""
    shown = [run for run in runs if run.scores.errors]
    names = sorted({name for run in shown for name in run.scores.errors})
    if not names:
        return ""
    figure, axes = _figure(8.5, 1.1 + 0.5 * len(shown))
    left = [0.0] * len(shown)
    for number, name in enumerate(names):
        counts = [float(run.scores.errors.get(name, 0)) for run in shown]
        axes.barh(
            range(len(shown)),
            counts,
            left=left,
            height=0.6,
            label=name,
            color=_COLORS[number % len(_COLORS)],
            hatch="//" if number >= len(_COLORS) else None,
            edgecolor="white",
        )
        left = [one + other for one, other in zip(left, counts, strict=True)]
    axes.set_yticks(range(len(shown)), [_short(run) for run in shown])
    axes.invert_yaxis()
    axes.set_xlabel("samples with an error of the class (a sample may have several)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return _svg(figure)


def by_step(runs: Sequence[SystemRun]) -> str:
    """Shares over the tag ``step``, one line for each measure of each series of checkpoints."""
    stepped = [run for run in runs if run.scores.tags.get(STEP_TAG, "").isdigit()]
    if len(stepped) < 2:
        return ""
    figure, axes = _figure(8.5, 4.0)
    series: dict[str, list[SystemRun]] = {}
    for run in stepped:
        rest = [f"{key}={value}" for key, value in run.scores.tags.items() if key != STEP_TAG]
        family = run.scores.system.rpartition("/")[0] or run.scores.system
        series.setdefault(" · ".join([family, run.scores.kind, *rest]), []).append(run)
    for number, (name, group) in enumerate(series.items()):
        group.sort(key=lambda run: int(run.scores.tags[STEP_TAG]))
        steps = [int(run.scores.tags[STEP_TAG]) for run in group]
        color = _COLORS[number % len(_COLORS)]
        for style, (measure, word) in zip(("-", "--", ":"), _MEASURES, strict=True):
            values = [100 * run.scores.share(measure) for run in group]
            axes.plot(steps, values, style, color=color, marker="o", label=f"{name}: {word}")
    axes.set_xlabel("training step")
    _percent_axis(axes.yaxis, axes.set_ylim)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return _svg(figure)


def _short(run: SystemRun) -> str:
    """The label, its middle left out where it would take the room of the plot."""
    label = run.label
    if len(label) <= _LONGEST_LABEL:
        return label
    half = _LONGEST_LABEL // 2
    return f"{label[: half - 1]}…{label[-half:]}"


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _percent_axis(axis: Any, set_limits: Any) -> None:
    set_limits(-3, 103)
    axis.set_major_formatter(lambda value, _: f"{value:.0f}%")


def _svg(figure: Figure) -> str:
    """The figure as an ``<svg>`` element: text stays text, and equal figures are equal bytes."""
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cass-bench"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
