"""Patterns of mnemonics: families of instructions written with alternatives in braces."""

from __future__ import annotations

import re
from itertools import product


def expand(pattern: str) -> list[str]:
    """Every mnemonic that ``pattern`` stands for: ``A{.B,.C}{,.D}`` is A.B, A.B.D, A.C, A.C.D."""
    parts = re.split(r"\{([^}]*)\}", pattern)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(chosen) for chosen in product(*choices)]
