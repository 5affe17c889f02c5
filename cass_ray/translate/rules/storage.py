"""The storage class ``register``, which C++17 has no longer: nvcc warns of it, clang refuses it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cass_ray.translate.rules.regions import DEVICE_WORDS
from cass_ray.translate.rules.rewrite import Rewrite

_OF_THE_HOST = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++"})
_IN_A_REGISTER = re.compile(r"[^;{}()]{0,240}?\b(?:asm|__asm__|__asm)\b")
"""``register long a asm("rax")``: GNU's variables that live in a named register."""


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
        while code[end : end + 1] in {" ", "\t"}:
            end += 1
        unit.edits.replace(offset, end, "")
        unit.converted(offset)
