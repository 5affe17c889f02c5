"""Runs of lines that two outputs share, found in bounded time."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

Run = tuple[int, int, int]
"""Where it begins in the one and in the other, and its length."""

_MOST_STEPS = 1 << 25
"""Of the search for the longest runs, at its worst; about two seconds."""


def common_runs(one: Sequence[str], other: Sequence[str]) -> list[Run]:
    """Runs of equal lines in the order of both.

    The longest run first, then those on both sides of it (``difflib``), as long as that is surely
    quick: with many equal lines it takes time cubic in their number. Else the common beginning and
    end, and between them what surrounds the lines that each prints exactly once.
    """
    if _steps(one, other) <= _MOST_STEPS:
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
        return [(run.a, run.b, run.size) for run in matcher.get_matching_blocks() if run.size]
    return _around_unique_lines(one, other)


def _steps(one: Sequence[str], other: Sequence[str]) -> int:
    """An upper bound: in each call every line of ``one`` meets every equal line of ``other``."""
    counts = Counter(other)
    meetings = sum(counts[line] for line in one)
    calls = 2 * min(len(one), len(other), meetings) + 1
    return calls * (len(one) + meetings)


def _around_unique_lines(one: Sequence[str], other: Sequence[str]) -> list[Run]:
    """Linear but for a binary search a line: no run is taken back once it is found."""
    ends = (len(one), len(other))
    runs: list[Run] = []
    position = other_position = 0
    for anchor, other_anchor in [(0, 0), *_anchors(one, other), ends]:
        if anchor < position or other_anchor < other_position:
            continue  # inside the run before
        start, other_start = anchor, other_anchor
        while (
            start > position
            and other_start > other_position
            and one[start - 1] == other[other_start - 1]
        ):
            start -= 1
            other_start -= 1
        end, other_end = anchor, other_anchor
        while end < ends[0] and other_end < ends[1] and one[end] == other[other_end]:
            end += 1
            other_end += 1
        if end == start:
            continue
        runs.append((start, other_start, end - start))
        position, other_position = end, other_end
    return _joined(runs)


def _joined(runs: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for start, other_start, length in runs:
        if joined and (start, other_start) == (
            joined[-1][0] + joined[-1][2],
            joined[-1][1] + joined[-1][2],
        ):
            joined[-1] = (joined[-1][0], joined[-1][1], joined[-1][2] + length)
        else:
            joined.append((start, other_start, length))
    return joined


def _anchors(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that both print exactly once: the most of them that are in one order on both sides."""
    counts, other_counts = Counter(one), Counter(other)
    where = {line: at for at, line in enumerate(other) if other_counts[line] == 1}
    pairs = [
        (at, where[line]) for at, line in enumerate(one) if line in where and counts[line] == 1
    ]
    tails: list[int] = []  # the smallest end of an increasing sequence of each length
    tail_pairs: list[int] = []
    before: list[int] = []
    for number, (_, at) in enumerate(pairs):
        length = bisect_left(tails, at)
        before.append(tail_pairs[length - 1] if length else -1)
        tails[length : length + 1] = [at]
        tail_pairs[length : length + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = tail_pairs[-1] if tail_pairs else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]
