"""Specifiers of declarations that nvcc takes and clang does not: ``register``, which C++17 has no
longer, and ``alignas`` behind ``__shared__``, which C++ wants at the beginning."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cass_ray.translate.rules.regions import DEVICE_WORDS
from cass_ray.translate.rules.rewrite import Rewrite

_OF_THE_HOST = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++"})
_IN_A_REGISTER = re.compile(r"[^;{}()]{0,240}?\b(?:asm|__asm__|__asm)\b")
"""``register long a asm("rax")``: GNU's variables that live in a named register."""

_SPECIFIERS = re.compile(
    r"(?:\b(?:extern|static|inline|constexpr|const|volatile|__shared__|__device__|__constant__"
    r"|__managed__)\s+)+\Z"
)
_LOOK_BACK = 160


def move_alignments(unit: Rewrite) -> None:
    """``__shared__ alignas(16) T x`` is ``alignas(16) __shared__ T x``."""
    code = unit.source.code
    for offset in unit.words.get("alignas", ()):
        before = _SPECIFIERS.search(code, max(0, offset - _LOOK_BACK), offset)
        call = unit.call(offset, "alignas")
        if before is None or "__" not in before[0] or call is None:
            continue
        end = call[2] + 1
        words = unit.edits.within(unit.source.text, offset, end)
        unit.edits.insert(before.start(), f"{words} ")
        unit.drop(offset, end)


def drop_register(unit: Rewrite) -> None:
    """Remove ``register`` from what hipcc compiles: it says nothing to a compiler of today."""
    code = unit.source.code
    suffix = PurePosixPath(unit.filename).suffix.lower()
    if suffix in _OF_THE_HOST and not any(word in unit.words for word in DEVICE_WORDS):
        return
    for offset in unit.words.get("register", ()):
        end = offset + len("register")
        if _IN_A_REGISTER.match(code, end):
            continue
        unit.drop(offset, end)
