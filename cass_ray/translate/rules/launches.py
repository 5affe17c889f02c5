"""Launches that nvcc reads and clang does not.

Blanks inside their brackets, ``kernel << <1, 32 >> > (p)``: formatters that do not know CUDA write
them. Braces in place of a ``dim3``: ``kernel<<<{2, 2}, 32>>>(p)``.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from cass_ray.translate.rules.rewrite import Rewrite

_OPENED = re.compile(r"<<(\s*)<(?!<)")
_LONGEST = 1000
"""Characters of one argument."""
_BRACES = re.compile(r"\s*(\{)(?!\{)")
"""Two are a value that a template of Jinja puts there."""
_CLOSED = re.compile(r">>(\s+)>(?=\s*\()|>>>(?=\s*\()|;")


def repair_launches(unit: Rewrite) -> None:
    """Take the blanks out of ``<< <`` and of the ``>> >`` that belongs to it; name ``dim3``."""
    code = unit.source.code
    ends = list(_CLOSED.finditer(code))
    starts = [end.start() for end in ends]
    for opened in _OPENED.finditer(code):
        index = bisect_left(starts, opened.end())
        if index == len(ends) or (closed := ends[index])[0] == ";":
            continue
        blanks = [match.span(1) for match in (opened, closed) if match[1]]
        for start, end in blanks:
            unit.edits.replace(start, end, "")
        named = _name_dimensions(unit, opened.end())
        if blanks or named:
            unit.converted(opened.start())


def _name_dimensions(unit: Rewrite, start: int) -> bool:
    """Make the grid and the block behind ``<<<``, where they are lists in braces, calls of
    ``dim3``: braces behind the name would be errors where a list narrows, which nvcc allows."""
    code, found = unit.source.code, False
    for _ in range(2):
        braces = _BRACES.match(code, start)
        end = unit.source.closing(braces.start(1)) if braces else start
        if braces and end > 0:
            unit.edits.replace(braces.start(1), braces.end(), "dim3(")
            unit.edits.replace(end, end + 1, ")")
            found = True
        start = _next_argument(code, max(end, start))
        if start < 0:
            break
    return found


def _next_argument(code: str, start: int) -> int:
    """Behind the next comma of a launch; -1 where its brackets close before."""
    depth = 0
    for place in range(start, min(len(code), start + _LONGEST)):
        mark = code[place]
        if depth == 0 and (mark == "," or code.startswith(">>>", place)):
            return place + 1 if mark == "," else -1
        depth += (mark in "([{") - (mark in ")]}" and depth > 0)
    return -1
