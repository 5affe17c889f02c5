"""Specifiers of declarations that nvcc takes and clang does not: ``register``, which C++17 has no
longer, ``alignas`` and ``[[nodiscard]]`` behind words such as ``__shared__``: C++ wants them at the
beginning; and a size of memory that a launch sizes, ``extern __shared__ int a[64]``."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cass_ray.translate.rules.regions import DEVICE_WORDS
from cass_ray.translate.rules.rewrite import Rewrite

_OF_THE_HOST = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++"})
_IN_A_REGISTER = re.compile(r"[^;{}()]{0,240}?\b(?:asm|__asm__|__asm)\b")
"""``register long a asm("rax")``: GNU's variables that live in a named register."""

_SPECIFIERS = re.compile(
    r"(?:\b(?:extern|static|inline|constexpr|const|volatile|explicit|virtual|friend|__shared__"
    r"|__device__|__constant__|__managed__|__host__|__global__|__(?:force|no)?inline__)\s+)+\Z"
)
_LIST = re.compile(r"\[\[[\w:, ]+(?:\([^()\[\]\n]*\))?\]\]")
_LOOK_BACK = 160
_SIZED = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\s*\(\s*\w+\s*\)\s*)?[\w:<>, ]{0,99}?\w\s+\w+\s*"
    r"\[(?P<size>[^\[\];]+)\]"
)


def drop_sizes(unit: Rewrite) -> None:
    """``extern __shared__ int a[64]`` is ``a[]``: the launch says how much there is."""
    if unit.is_hip:
        return
    for match in _SIZED.finditer(unit.source.code):
        unit.edits.replace(*match.span("size"), "")
        unit.converted(match.start())


def move_attributes(unit: Rewrite) -> None:
    """``__shared__ alignas(16) T x`` is ``alignas(16) __shared__ T x``."""
    code = unit.source.code
    calls = ((offset, unit.call(offset, "alignas")) for offset in unit.words.get("alignas", ()))
    spans = [(offset, call[2] + 1) for offset, call in calls if call is not None]
    spans += [match.span() for match in _LIST.finditer(code)]
    for offset, end in spans:
        before = _SPECIFIERS.search(code, max(0, offset - _LOOK_BACK), offset)
        if before is None or "__" not in before[0]:
            continue
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
