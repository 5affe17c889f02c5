"""The lines of a text, or in which two differ, with a bound on time and length."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import islice

from cass_ray.public.views import Mark, TextDiff

_COMPARED_LINES = 5000
"""Of each text: comparing takes quadratic time where many lines are alike."""


def first_lines(text: str, limit: int) -> list[str]:
    """The first ``limit`` lines of ``text``; one more says how many were left out."""
    lines = text.splitlines()
    rest = [f"… {len(lines) - limit} more lines"] if len(lines) > limit else []
    return [*lines[:limit], *rest]


def changed_lines(difference: TextDiff, limit: int) -> Iterator[tuple[Mark, str]]:
    """Lines with a sign before them (``+``, ``-``, a space), places between; ``limit`` at most.

    A last line says what was left out, as often as something was.
    """
    texts = [text.splitlines() for text in (difference.before, difference.after)]
    before, after = (text[:_COMPARED_LINES] for text in texts)
    lines = difflib.unified_diff(before, after, lineterm="", n=2)
    shown = islice(lines, 2, None)  # the names of files, of which there are none
    for line in islice(shown, limit):
        yield _MARKS.get(line[:1], Mark.PLAIN), line
    if left := sum(1 for _ in shown):
        yield Mark.WARNING, f"… {left} more lines"
    if longest := max(0, *(len(text) - _COMPARED_LINES for text in texts)):
        yield Mark.WARNING, f"… {longest} lines at the end were not compared"


_MARKS = {"+": Mark.GOOD, "-": Mark.BAD, "@": Mark.WARNING}
