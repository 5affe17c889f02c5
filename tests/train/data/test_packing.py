"""Packing into windows, and the plan that workers and restarts share."""

import json
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.train.data.packing import (
    PackingPlan,
    best_fit,
    fill_rate,
    worker_windows,
)
from tests.folders import REPOSITORY

LENGTHS = json.loads((REPOSITORY / "benchmarks/train/lengths.json").read_text())


@given(st.lists(st.integers(1, 100), max_size=60))
def test_every_example_is_packed_once_and_fits(lengths):
    windows = best_fit(lengths, range(len(lengths)), 100)
    assert sorted(example for window in windows for example in window) == list(range(len(lengths)))
    assert all(sum(lengths[example] for example in window) <= 100 for window in windows)


def test_the_fullest_window_with_room_is_taken():
    # Worked by hand: 6 and 5 open windows; 4 fits exactly beside 6 (rooms 4 and 5), then 3 and 1
    # beside 5.
    assert best_fit([6, 5, 4, 3, 1], range(5), 10) == [(0, 2), (1, 3, 4)]


def test_an_example_longer_than_a_window_is_an_error():
    with pytest.raises(ValueError, match="11 tokens, a window 10"):
        best_fit([11], [0], 10)


@pytest.mark.parametrize(
    ("tasks", "least"),
    [
        (("source", "assembly"), 0.97),
        (("source",), 0.96),
        # Two thirds of the listings are longer than half a window, which bounds any packing.
        (("assembly",), 0.89),
    ],
)
def test_windows_of_real_lengths_are_full(tasks, least):
    """Ten thousand examples drawn from the lengths that the shipped programs' pairs have."""
    lengths = [length for task in tasks for length in LENGTHS[task]]
    drawn = np.random.default_rng(0).choice(lengths, 10_000).tolist()
    windows = best_fit(drawn, range(len(drawn)), 16384)
    assert fill_rate(windows, drawn, 16384) >= least


def make_plan(**changes) -> PackingPlan:
    lengths = np.random.default_rng(1).integers(10, 90, 57)
    values = {
        "lengths": lengths,
        "weights": np.ones(57),
        "capacity": 100,
        "batch": 6,
        "seed": 3,
    }
    return PackingPlan(**(values | changes))


def test_a_step_is_the_same_wherever_reading_begins():
    plan = make_plan()
    steps = list(islice(plan.from_step(0), 30))
    for first in (1, 7, 29):
        assert next(plan.from_step(first)) == steps[first]


def test_an_epoch_shows_every_example_once_in_an_order_of_its_own():
    plan = make_plan()
    first, second = plan.epoch(0), plan.epoch(1)
    for windows in (first, second):
        assert sorted(example for window in windows for example in window) == list(range(57))
    assert first != second
    assert first == make_plan().epoch(0)
    assert first != make_plan(seed=4).epoch(0)


def test_a_weight_is_how_often_an_epoch_shows_an_example():
    weights = np.full(57, 0.5)
    weights[0] = 2.0
    epochs = [make_plan(weights=weights).epoch(number) for number in range(40)]
    shown = [[example for window in epoch for example in window] for epoch in epochs]
    assert all(numbers.count(0) == 2 for numbers in shown)
    assert 0.4 < sum(len(numbers) - 2 for numbers in shown) / (40 * 56) < 0.6


@pytest.mark.parametrize(("workers", "micro_batch_size"), [(1, 1), (2, 1), (3, 2), (6, 1)])
def test_workers_share_a_step_without_gap_or_overlap(workers, micro_batch_size):
    windows = next(make_plan().from_step(0))
    parts = [
        worker_windows(windows, worker, workers, micro_batch_size) for worker in range(workers)
    ]
    assert sorted(w for part in parts for batch in part for w in batch) == sorted(windows)
    assert len({len(part) for part in parts}) == 1
