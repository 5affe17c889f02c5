"""Rows of real lengths: examples of the shipped programs, packed as training packs them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.train.shapes import WINDOW
from cass_ray.train.data.packing import best_fit

LENGTHS = Path(__file__).with_name("lengths.json")
"""Tokens of the examples of the demo's pairs, by task (``python -m benchmarks.train.lengths``)."""

DRAWN = 10_000
ROWS = 8
"""Rows of a measured step."""


def draw(task: str) -> list[int]:
    """Lengths drawn, with a seed, from those of the shipped programs' examples of ``task``."""
    known = json.loads(LENGTHS.read_text())
    tasks = ("source", "assembly") if task == "both" else (task,)
    lengths = [length * WINDOW // 16384 for name in tasks for length in known[name]]
    chosen: list[int] = np.random.default_rng(0).choice(lengths, DRAWN).tolist()
    return chosen


def packed_rows(task: str) -> list[tuple[int, ...]]:
    """Lengths of the examples of each row of a step, drawn from all rows that packing makes."""
    drawn = draw(task)
    windows = best_fit(drawn, range(len(drawn)), WINDOW)
    chosen = np.random.default_rng(1).choice(len(windows), ROWS, replace=False)
    return [tuple(drawn[example] for example in windows[int(number)]) for number in chosen]
