"""Launches written with blanks inside their brackets, ``kernel << <1, 32 >> > (p)``.

Formatters that do not know CUDA write them; nvcc reads them, clang does not.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from cass_ray.translate.rules.rewrite import Rewrite

_OPENED = re.compile(r"<<(\s*)<(?!<)")
_CLOSED = re.compile(r">>(\s+)>(?=\s*\()|>>>(?=\s*\()|;")


def join_brackets(unit: Rewrite) -> None:
    """Take the blanks out of ``<< <`` and of the ``>> >`` that belongs to it."""
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
        if blanks:
            unit.converted(opened.start())
