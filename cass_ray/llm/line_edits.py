"""Numbered edits: the question's lines bear marks, the answer names the lines that change.

A translation leaves most lines of a program as they are. The answer is a list of edits, each a mark
and what the line becomes: other text (of one or more lines) or nothing. Marks are tokens of their
own, so a model points at a line instead of counting; which mark the first line bears is free
(``first``), so that a model learns all of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

MARKS = 1024
"""Marks there are, and so the most lines of a question."""

DELETED = "<|deleted|>"
"""Stands for an edit that removes its line."""

Edits = Mapping[int, Sequence[str] | None]
"""Line number, from 0, to its new lines; None where the line goes."""

Region = tuple[int, int, int, int]
"""Lines ``[a, b)`` of the one text that are lines ``[c, d)`` of the other."""


class EditError(ValueError):
    """Edits that cannot be made: a line that the question does not have."""


def mark(number: int) -> str:
    """The mark of ``number``, as text of the tokenizer's vocabulary."""
    return f"<|line{number % MARKS}|>"


def regions(old: Sequence[str], new: Sequence[str]) -> list[Region]:
    """Where the two texts differ, in order."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(left) == len(right):  # most often, and then no search is needed
        result = [(i, i + 1, i, i + 1) for i in range(len(left)) if left[i] != right[i]]
    else:
        matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
        result = [codes[1:] for codes in matcher.get_opcodes() if codes[0] != "equal"]
    return [(a + head, b + head, c + head, d + head) for a, b, c, d in result]


def edits_of(old: Sequence[str], new: Sequence[str], changes: Sequence[Region]) -> Edits:
    """Return the edits that make ``new`` of ``old``; ``changes`` are their :func:`regions`."""
    edits: dict[int, list[str] | None] = {}
    for a, b, c, d in changes:
        lines = list(new[c:d])
        if a == b and a < len(old):  # inserted before line a
            edits[a] = [*lines, *(edits.get(a) or [old[a]])]
        elif a == b:  # inserted behind the last line
            edits[a - 1] = [*(edits.get(a - 1) or [old[a - 1]]), *lines]
        elif len(lines) == b - a:
            edits |= {a + i: [line] for i, line in enumerate(lines) if old[a + i] != line}
        else:
            edits |= dict.fromkeys(range(a, b), None)
            if lines:
                edits[a] = lines
    return edits


def apply_edits(lines: Sequence[str], edits: Edits) -> list[str]:
    """The lines after ``edits``. Raises ``EditError``."""
    for number in edits:
        if not 0 <= number < len(lines):
            raise EditError(f"an edit of line {number + 1}; the program has {len(lines)}")
    result: list[str] = []
    for number, line in enumerate(lines):
        result += (edits[number] or ()) if number in edits else [line]
    return result
