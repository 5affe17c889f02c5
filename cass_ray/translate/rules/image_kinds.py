"""Texture objects in variables of the type of surface objects, and the other way round.

Both are one integer type in CUDA and two in HIP. What a variable holds is known by the function
that makes it, in whichever file of the tree that is.
"""

from __future__ import annotations

import re

from cass_ray.translate.declared import object_kinds
from cass_ray.translate.rules.rewrite import Rewrite

_TYPES = {"texture": "cudaTextureObject_t", "surface": "cudaSurfaceObject_t"}
_HIP = {"texture": "hipTextureObject_t", "surface": "hipSurfaceObject_t"}
_DECLARED = re.compile(r"\s+(\w+)\s*(?:\[[^\[\]]*\]\s*)*[;={]")


def name_image_kinds(unit: Rewrite) -> None:
    """Declare a variable as what it holds."""
    known: set[str] | None = None
    for kind, other in (("texture", "surface"), ("surface", "texture")):
        word = _TYPES[other]
        for offset in unit.words.get(word, ()):
            match = _DECLARED.match(unit.source.code, offset + len(word))
            if match is None:
                continue
            if known is None:
                known = {*object_kinds([unit.source.code]), *unit.context.declared}
            name = match[1]
            if f"{kind} object {name}" in known and f"{other} object {name}" not in known:
                unit.rename(offset, word, _HIP[kind])
