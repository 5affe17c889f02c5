"""Estimates and tests for shares of tasks: Wilson intervals, McNemar's test, pass@k."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

_Z95 = 1.959963984540054
"""The 97.5% quantile of the normal distribution."""


class Interval(NamedTuple):
    """A confidence interval of a share."""

    low: float
    high: float


def wilson(successes: int, trials: int, z: float = _Z95) -> Interval:
    """The score interval of a binomial share (E. B. Wilson, JASA 22, 1927).

    Without trials it is (0, 1). Raises :class:`ValueError` unless ``0 <= successes <= trials``.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if trials == 0:
        return Interval(0.0, 1.0)
    share = successes / trials
    weight = z * z / trials
    centre = (share + weight / 2) / (1 + weight)
    margin = z * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    # Rounding must not put the share itself outside.
    low, high = min(share, centre - margin), max(share, centre + margin)
    return Interval(max(0.0, low), min(1.0, high))


@dataclass(frozen=True)
class McNemar:
    """Two systems on the same tasks. ``p`` is two-sided and exact."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


def mcnemar(first: Mapping[str, bool], second: Mapping[str, bool]) -> McNemar:
    """Compare right and wrong answers to the tasks that both have.

    The discordant tasks follow a binomial distribution with share one half if the systems are
    equally good (Q. McNemar, Psychometrika 12, 1947; the exact form).
    """
    tasks = first.keys() & second.keys()
    pairs = [(first[task], second[task]) for task in tasks]
    only_first = sum(one and not other for one, other in pairs)
    only_second = sum(other and not one for one, other in pairs)
    return McNemar(
        both=sum(one and other for one, other in pairs),
        only_first=only_first,
        only_second=only_second,
        neither=sum(not one and not other for one, other in pairs),
        p=_sign_test(only_first, only_second),
    )


def _sign_test(first: int, second: int) -> float:
    trials = first + second
    tail = sum(math.comb(trials, count) for count in range(min(first, second) + 1))
    return min(1.0, 2 * tail / (1 << trials))


def pass_at_k(samples: int, right: int, k: int) -> float:
    """Chance that one of ``k`` samples drawn from ``samples`` is right, of which ``right`` are.

    Unbiased: ``1 - C(n - c, k) / C(n, k)`` (Chen et al., arXiv 2107.03374). Raises
    :class:`ValueError` unless ``0 <= right <= samples`` and ``1 <= k <= samples``.
    """
    if not 0 <= right <= samples or not 1 <= k <= samples:
        raise ValueError(f"pass@{k} of {right} right in {samples} samples")
    return 1.0 - math.comb(samples - right, k) / math.comb(samples, k)


def mean(values: Iterable[float]) -> float:
    """The mean; 0 of nothing."""
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else 0.0
