"""CUDA's types as headers declare them that include nothing of CUDA's.

``typedef unsigned long long cudaTextureObject_t;`` is a pointer in HIP, and ``hipDeviceProp_t`` a
macro of HIP's own header for the structure's name.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

_NUMBER = r"unsigned\s+long\s+long(?:\s+int)?"
_OBJECT = r"cuda(?:Texture|Surface)Object_t"
_OBJECTS = re.compile(
    rf"\btypedef\s+{_NUMBER}\s+(?P<name>{_OBJECT})\s*;"
    rf"|\busing\s+(?P<alias>{_OBJECT})\s*=\s*{_NUMBER}\s*;"
)
_PROPERTIES = re.compile(r"\bstruct\s+(?P<name>cudaDeviceProp)\s*;")


def rewrite_forward_declarations(unit: Rewrite) -> None:
    """Declare them as HIP's headers do."""
    if unit.is_hip or not {"typedef", "using", "struct"} & unit.words.keys():
        return
    for match in _OBJECTS.finditer(unit.source.code):
        group = "name" if match["name"] else "alias"
        kind = "texture" if "Texture" in match[group] else "surface"
        made = f"typedef struct __hip_{kind}* hip{kind.capitalize()}Object_t;"
        _replace(unit, match, group, made)
    for match in _PROPERTIES.finditer(unit.source.code):
        made = "struct hipDeviceProp_tR0600;"
        _replace(unit, match, "name", f"{made}\n#define hipDeviceProp_t hipDeviceProp_tR0600\n")


def _replace(unit: Rewrite, match: re.Match[str], name: str, made: str) -> None:
    unit.edits.replace(match.start(), match.end(), made)
    unit.handled.add(match.start(name))
    unit.converted(match.start(name))
