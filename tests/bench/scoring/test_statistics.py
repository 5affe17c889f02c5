"""Intervals, tests and pass@k against hand computations and published tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.bench.scoring.statistics import mcnemar, mean, pass_at_k, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3 (score interval).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # All right: low is n / (n + z²) = 108 / 111.8415.
        (108, 108, 0.9657, 1.0),
    ],
)
def test_wilson_intervals(successes: int, trials: int, low: float, high: float) -> None:
    interval = wilson(successes, trials)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_wilson_by_hand() -> None:
    # With z = 2 and 5 of 10: centre (0.5 + 0.2) / 1.4 = 0.5, margin 2·√(0.025 + 0.01) / 1.4.
    low, high = wilson(5, 10, z=2.0)
    assert low == pytest.approx(0.5 - 2 * math.sqrt(0.035) / 1.4)
    assert high == pytest.approx(0.5 + 2 * math.sqrt(0.035) / 1.4)


def test_wilson_of_nothing_and_of_nonsense() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="3 successes of 2"):
        wilson(3, 2)


@given(st.integers(1, 400), st.data())
def test_wilson_holds_the_share(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = wilson(successes, trials)
    assert 0.0 <= low <= successes / trials <= high <= 1.0


def _answers(right: str) -> dict[str, bool]:
    """``"+-"``: the first task right, the second wrong."""
    return {str(number): mark == "+" for number, mark in enumerate(right)}


def test_mcnemar_counts_and_p_by_hand() -> None:
    #  both, both, only first ×6, only second ×1, neither
    result = mcnemar(_answers("++++++++--"), _answers("++------+-"))
    assert (result.both, result.only_first, result.only_second, result.neither) == (2, 6, 1, 1)
    # Two-sided: 2 · (C(7,0) + C(7,1)) / 2^7 = 16 / 128.
    assert result.p == pytest.approx(0.125)


def test_mcnemar_without_a_difference() -> None:
    assert mcnemar(_answers("++-"), _answers("++-")).p == 1.0
    # One against one: 2 · (1 + 2) / 4 is more than one.
    assert mcnemar(_answers("+-"), _answers("-+")).p == 1.0


def test_mcnemar_is_about_common_tasks_only() -> None:
    result = mcnemar({"a": True, "b": True}, {"b": False, "c": True})
    assert (result.both, result.only_first, result.only_second, result.neither) == (0, 1, 0, 0)
    assert result.p == 1.0


def test_mcnemar_of_a_clear_case() -> None:
    # Twelve tasks that only the first has right: 2 / 2^12.
    result = mcnemar(_answers("+" * 12), _answers("-" * 12))
    assert result.p == pytest.approx(2 / 4096)


@pytest.mark.parametrize(
    ("samples", "right", "k", "expected"),
    [
        (5, 2, 1, 2 / 5),
        (5, 2, 2, 1 - 3 / 10),  # C(3,2) / C(5,2)
        (10, 3, 5, 1 - 21 / 252),  # C(7,5) / C(10,5)
        (10, 0, 10, 0.0),
        (10, 1, 10, 1.0),
        (4, 3, 2, 1.0),  # one wrong sample cannot fill two places
    ],
)
def test_pass_at_k(samples: int, right: int, k: int, expected: float) -> None:
    assert pass_at_k(samples, right, k) == pytest.approx(expected)


def test_pass_at_k_needs_enough_samples() -> None:
    with pytest.raises(ValueError, match="pass@3 of 1 right in 2 samples"):
        pass_at_k(2, 1, 3)


def test_mean() -> None:
    assert mean([]) == 0.0
    assert mean([1.0, 2.0, 6.0]) == 3.0
