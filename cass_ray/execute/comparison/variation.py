"""Finds what differs between a reference's own runs, which is therefore free in a comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from cass_ray.execute.comparison.tokens import Line, OutputToken, OutputTokenKind
from cass_ray.execute.comparison.volatile import NOTHING, Freedom

_WILD_SPREAD = 1e-2
_WILD_LINES = 8
WILD_SHARE = 0.75
"""So many lines of a column, of those that vary, vary by more: then all that vary do so freely."""


@dataclass
class TokenColumn:
    """The numbers at one place of all lines of the reference that are alike but for numbers."""

    has_floats: bool = False
    scale: float = 0.0

    def add(self, token: OutputToken) -> None:
        self.has_floats |= token.kind is OutputTokenKind.FLOAT
        if math.isfinite(token.value):
            self.scale = max(self.scale, abs(token.value))


@dataclass(frozen=True)
class Expected:
    """One line of the reference: what is free in it, and how far its floats vary by themselves."""

    text: str
    tokens: Line
    free: Freedom = NOTHING
    varying: frozenset[int] = frozenset()
    spread: tuple[float, ...] = ()
    columns: tuple[TokenColumn, ...] = ()


def shape_of(line: Line) -> tuple[str, ...]:
    """A line without its numbers."""
    return tuple(token.text if token.kind is OutputTokenKind.TEXT else "" for token in line)


def with_variation(block: list[Expected], other: list[tuple[str, Line]]) -> list[Expected]:
    """``block`` with the tokens marked that another run of the reference prints differently."""
    merged = []
    for line, (_, tokens) in zip(block, other, strict=True):
        varying = set(line.varying)
        spread = list(line.spread or [0.0] * len(tokens))
        for position, (one, two) in enumerate(zip(line.tokens, tokens, strict=True)):
            if one.text != two.text:
                varying.add(position)
                spread[position] = max(spread[position], _distance(one, two))
        merged.append(
            Expected(line.text, line.tokens, line.free, frozenset(varying), tuple(spread))
        )
    return merged


def with_wild_columns(blocks: list[list[Expected]], share: float) -> list[list[Expected]]:
    """``blocks`` with numbers free that vary little by chance alone.

    In a table of times nearly all of a column is another number in each run, and one or the other
    happens to be nearly the same. ``share`` is how much of a column varies much; 0: whatever
    varies, and all numbers of lines like those that vary: some are the same by chance.
    """
    if not share:
        drawn = {shape_of(line.tokens) for block in blocks for line in block if line.varying}
        return [
            [_with_all_free(line) if shape_of(line.tokens) in drawn else line for line in block]
            for block in blocks
        ]
    seen: Counter[tuple[tuple[str, ...], int]] = Counter()
    wild: Counter[tuple[tuple[str, ...], int]] = Counter()
    lines = [line for block in blocks for line in block if line.varying]
    for line in lines:
        seen.update((shape_of(line.tokens), position) for position in line.varying)
        free = [each for each in line.varying if math.isinf(line.spread[each])]
        wild.update((shape_of(line.tokens), position) for position in free)
    columns = {key for key in seen if wild[key] >= max(_WILD_LINES, share * seen[key])}
    if not columns:
        return blocks
    return [[_with_wild(line, columns) for line in block] for block in blocks]


def _with_wild(line: Expected, columns: Collection[tuple[tuple[str, ...], int]]) -> Expected:
    shape = shape_of(line.tokens)
    free = [each for each in line.varying if (shape, each) in columns]
    spread = [math.inf if place in free else each for place, each in enumerate(line.spread)]
    return replace(line, spread=tuple(spread)) if free else line


def _with_all_free(line: Expected) -> Expected:
    numbers = {
        place for place, token in enumerate(line.tokens) if token.kind is not OutputTokenKind.TEXT
    }
    free = numbers | line.varying
    spread = tuple(math.inf if place in free else 0.0 for place in range(len(line.tokens)))
    return replace(line, varying=frozenset(free), spread=spread)


def _distance(one: OutputToken, two: OutputToken) -> float:
    """How far two runs of the reference are apart; infinite where they are not both floats."""
    if OutputTokenKind.FLOAT not in (one.kind, two.kind) or OutputTokenKind.TEXT in (
        one.kind,
        two.kind,
    ):
        return math.inf
    distance = abs(one.value - two.value)
    scale = max(abs(one.value), abs(two.value))
    return distance if distance <= _WILD_SPREAD * scale else math.inf
