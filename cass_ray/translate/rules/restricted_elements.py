"""``const __restrict__ T x[N]`` as a parameter: nvcc takes the word for the pointer that the array
is, clang for its element, which cannot be restricted."""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

_ARRAY = re.compile(
    r"\s+(?:(?:const|volatile|unsigned|signed|struct|typename)\s+)*"
    r"(?:::\s*)?\w+(?:\s*::\s*\w+)*(?:<[^<>;(){}]{0,200}>)?\s+\w+\s*\["
)
_BEHIND = re.compile(r"\s*(?:(?:\(\s*\*+\s*\w*\s*\)|\w+)\s*\[|\*)")
"""``T __restrict__ x[N]``, ``T __restrict__ (*x)[N]`` and ``T __restrict__ *x``: what follows."""
_POINTER = re.compile(r"[*&]\s*(?:(?:const|volatile)\s*)*\Z")
_LOOK_BACK = 80


def drop_restricted_elements(unit: Rewrite) -> None:
    """Remove ``__restrict__`` from the elements of arrays: a promise, without which the code is
    right."""
    code = unit.source.code
    for word in ("__restrict__", "__restrict"):
        for offset in unit.words.get(word, ()):
            end = offset + len(word)
            behind_a_pointer = _POINTER.search(code, max(0, offset - _LOOK_BACK), offset)
            if behind_a_pointer or not (_ARRAY.match(code, end) or _BEHIND.match(code, end)):
                continue
            unit.drop(offset, end)
