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
_ENDS = re.compile(r"\b(?:FATAL_ERROR|SEND_ERROR)\b")
_NOT = re.compile(r"\(\s*NOT\b", re.IGNORECASE)


def accept_compiler(text: str) -> str:
    """``text`` with Clang as the compiler that conditions with an error for others ask for."""
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
            edits += [(a, b, _ASKS.sub(r"\1Clang", text[a:b])) for a, b in chains.pop().wanted]
        elif lower == "message" and _ENDS.search(text[start:end]):
            for chain in chains:
                chain.end()
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class _Chain:
    """An ``if`` with its other branches."""

    def __init__(self) -> None:
        self._asked: tuple[int, int] | None = None
        self._for_others = False
        self.wanted: list[tuple[int, int]] = []

    def next(self, condition: str, start: int, end: int) -> None:
        """Go on to the branch of ``condition``."""
        if self._asked is not None:
            self._for_others = True
        elif _ASKS.search(condition):
            self._asked = (start, end)
            self._for_others = _NOT.search(condition) is not None

    def end(self) -> None:
        """CMake ends in the present branch."""
        if self._asked is not None and self._for_others and self._asked not in self.wanted:
            self.wanted.append(self._asked)
