"""Conditions about CUDA's compiler without which a CMake file ends: HIP's compiler satisfies them.

``if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")`` with an error for the others wants the compiler
that the build knows. A condition that only chooses flags stays: they are nvcc's.
"""

from __future__ import annotations

import re

from cass_ray.translate.project.build_text import commands

_ASKS = re.compile(
    r"(\bCMAKE_CUDA_COMPILER_ID\b\"?\}?\"?\s+(?:STREQUAL|MATCHES)\s+\"?)NVIDIA\b", re.IGNORECASE
)
_OLDER = re.compile(
    r"(?<!NOT )\"?(?:\$\{)?\bCUDA(?:Toolkit)?_VERSION(?:_STRING)?\b\}?\"?"
    r"\s+VERSION_LESS(?:_EQUAL)?\s+\"?[\w.${}]+\"?"
)
_ENDS = re.compile(r"\b(?:FATAL_ERROR|SEND_ERROR)\b")
_NOT = re.compile(r"\(\s*NOT\b", re.IGNORECASE)


def accept_compiler(text: str) -> str:
    """``text`` with Clang as the compiler, and any version of CUDA as new enough, that conditions
    with an error for others ask for."""
    edits: list[tuple[int, int, str]] = []
    chains: list[_Chain] = []
    for name, start, end in commands(text):
        lower = name.lower()
        if lower == "if":
            chains.append(_Chain())
        if not chains:
            continue
        if lower in {"if", "elseif", "else"}:
            chains[-1].next(text[start:end], start, end)
        elif lower == "endif":
            edits += [(a, b, _accepted(text[a:b])) for a, b in chains.pop().wanted]
        elif lower == "message" and _ENDS.search(text[start:end]):
            for chain in chains:
                chain.end(directly=chain is chains[-1])
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _accepted(condition: str) -> str:
    return _OLDER.sub("FALSE", _ASKS.sub(r"\1Clang", condition))


class _Chain:
    """An ``if`` with its other branches."""

    def __init__(self) -> None:
        self._asked: tuple[int, int] | None = None
        self._for_others = False
        self._older: tuple[int, int] | None = None
        self.wanted: list[tuple[int, int]] = []

    def next(self, condition: str, start: int, end: int) -> None:
        """Go on to the branch of ``condition``."""
        self._older = (start, end) if _OLDER.search(condition) else None
        if self._asked is not None:
            self._for_others = True
        elif _ASKS.search(condition):
            self._asked = (start, end)
            self._for_others = _NOT.search(condition) is not None

    def end(self, *, directly: bool) -> None:
        """CMake ends in the present branch; not ``directly``: on a condition of its own."""
        for place in (self._asked if self._for_others else None, self._older if directly else None):
            if place is not None and place not in self.wanted:
                self.wanted.append(place)
