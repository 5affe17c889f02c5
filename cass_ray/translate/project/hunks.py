"""Where two versions of a text differ, in whole blocks, so that both fit into one text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum


class SharedError(RuntimeError):
    """A tree that cannot be made one source for both; the message names the file."""


class Bound(Enum):
    """What a unit does to the blocks of its language: conditions, loops, definitions."""

    OPENS = "opens"
    DIVIDES = "divides"
    """It ends one part of a block and begins the next, as ``else`` does."""
    CLOSES = "closes"


@dataclass(frozen=True)
class TextUnit:
    """Whole lines before and after which others may be put.

    ``code`` is the text without comments and literals, where the language needs that.
    """

    text: str
    code: str = ""
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True)
class Range:
    """Units ``a`` to ``b`` of one text, to which ``c`` to ``d`` of the other correspond."""

    same: bool
    a: int
    b: int
    c: int
    d: int

    def single(self) -> list[Range]:
        pairs = zip(range(self.a, self.b), range(self.c, self.d), strict=True)
        return [Range(True, a, a + 1, c, c + 1) for a, c in pairs]

    def joined(self, following: Range) -> Range:
        return Range(False, self.a, following.b, self.c, following.d)


def opcodes(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Range]:
    """What is the same in both and what is not, in order."""
    return [
        Range(tag == "equal", a, b, c, d)
        for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    ]


def hunks(codes: list[Range], before: Sequence[TextUnit], after: Sequence[TextUnit]) -> list[Range]:
    """Ranges that are the same or not, with whole blocks.

    A block of the project is never cut: what differs grows until it holds all of it. Raises
    :class:`SharedError` where a block does not end.
    """
    steps: list[Range] = []
    for code in codes:
        steps += code.single() if code.same else [code]
    made: list[Range] = []
    steps.reverse()
    while steps:
        hunk = steps.pop()
        while not hunk.same:
            sides = (_open(before[hunk.a : hunk.b]), _open(after[hunk.c : hunk.d]))
            if any(side.before for side in sides) and made:
                hunk = made.pop().joined(hunk)
            elif any(side.after for side in sides) and steps:
                hunk = hunk.joined(steps.pop())
            elif any(side != _Open(False, False) for side in sides):
                raise SharedError("a change lies in a condition or a block that does not end")
            else:
                break
        made.append(hunk)
    return made


@dataclass(frozen=True)
class _Open:
    """Whether lines want the beginning, or the end, of a block that is not among them."""

    before: bool
    after: bool


def _open(units: Sequence[TextUnit]) -> _Open:
    depth, before = 0, False
    for bound in (bound for unit in units for bound in unit.bounds):
        if bound is Bound.OPENS:
            depth += 1
        elif depth == 0:
            before = True
        elif bound is Bound.CLOSES:
            depth -= 1
    return _Open(before, depth > 0)


def ended(text: str, newline: str) -> str:
    """``text`` with the end of its last line."""
    return text if not text or text.endswith("\n") else text + newline
