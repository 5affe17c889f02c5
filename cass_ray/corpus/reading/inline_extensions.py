"""Sources that Python hands to PyTorch's ``load_inline``, which puts a header before them."""

from __future__ import annotations

import re
from collections.abc import Iterable

NOTE = "with the header that load_inline adds"
"""The field ``encoding`` of a row says this of such a source."""

_HEADER = "#include <torch/types.h>\n"
_USES = re.compile(r"\b(?:torch|at)::(?:Tensor|empty|zeros|kCUDA|kFloat)\b|\bTORCH_CHECK\b")
_BRINGS = ("torch/", "ATen/")


def as_load_inline_compiles(source: str, headers: Iterable[str]) -> str:
    """``source`` with PyTorch's header, where it uses PyTorch's names and none of the ``headers``
    that it includes from outside of the tree brings them."""
    if not _USES.search(source) or any(name.startswith(_BRINGS) for name in headers):
        return source
    return _HEADER + source
