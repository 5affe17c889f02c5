"""What the drawings say: lines that are told apart, one colour for one class."""

from __future__ import annotations

import altair as alt
import pandas as pd

from cass_ray.analysis import charts
from cass_ray.analysis.report.write import longest_word


def test_lines_of_one_colour_are_not_joined() -> None:
    """Two fits of one side were once drawn as one line with kinks."""
    lines = pd.DataFrame(
        {"x": [1, 10, 5, 50], "y": [1, 2, 3, 4], "side": "CUDA", "origin": [*"aabb"]}
    )
    x, y = alt.X("x:Q"), alt.Y("y:Q")
    made = charts.points(lines, x, y, "side", ["side"], lines, dashed="origin")
    assert made["layer"][1]["encoding"]["strokeDash"]["field"] == "origin"


def test_a_class_has_one_colour_whatever_else_is_drawn() -> None:
    order = ["memory", "integer", "move"]
    for there in (["move"], ["integer", "move"]):
        data = pd.DataFrame({"name": there, "share": 0.5, "class": there})
        color = charts.colored_bars(data, "name", "share", "class", order)["encoding"]["color"]
        assert color["scale"]["domain"] == order
        assert color["legend"]["values"] == there


def test_only_very_long_words_of_a_table_are_broken() -> None:
    assert longest_word("Physics Simulation") == 10
    assert longest_word("a" * 64) == 64
    assert longest_word("") == 0
