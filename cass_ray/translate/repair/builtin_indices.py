"""``threadIdx`` and its kin where a template or an operator asks for their type.

They are ``uint3`` and ``dim3`` in CUDA, and classes of HIP's own that become those.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_HIPS = "__hip_builtin_"
_TYPES = {
    "threadIdx": "make_uint3",
    "blockIdx": "make_uint3",
    "blockDim": "dim3",
    "gridDim": "dim3",
}
_WHOLE = re.compile(rf"(?<![\w.:<>])({'|'.join(_TYPES)})\b(?!\s*[.\w])")


def name_index_types(
    text: SourceText, edits: Edits, message: str, notes: str, line: int, offset: int
) -> str:
    """Give whole indices on the line of ``offset`` the types that they have in CUDA."""
    if _HIPS not in message and _HIPS not in notes:
        return ""
    start = text.code.rfind("\n", 0, offset) + 1
    end = text.code.find("\n", offset)
    done = False
    for found in _WHOLE.finditer(text.code, start, end if end >= 0 else len(text.code)):
        if not edits.within(text.text, found.start(), found.start()):
            elements = ", ".join(f"{found[1]}.{each}" for each in "xyz")
            edits.replace(*found.span(), f"{_TYPES[found[1]]}({elements})")
            done = True
    return f"name the type of whole indices on line {line}" if done else ""
