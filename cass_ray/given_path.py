"""A path where a program's text is wanted: nothing is read by mistake, nothing translated."""

from __future__ import annotations

import re

_PATH = re.compile(
    r"[\w.~/\\:+@-]*\w\.(?:cu|cuh|hip|c|cc|cpp|cxx|h|hh|hpp|hxx|inl|inc|cl|ptx|s)", re.IGNORECASE
)


def is_path(text: str) -> bool:
    """Whether ``text`` is one word that is named like a source file, and no program."""
    return len(text) < 4096 and _PATH.fullmatch(text.strip()) is not None
