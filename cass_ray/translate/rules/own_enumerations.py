"""Enumerations of a program's own with names of CUDA's, as programs have that load a library
themselves."""

from __future__ import annotations

import re

from cass_ray.translate.rules import tables
from cass_ray.translate.rules.rewrite import Rewrite

_ENUMERATION = re.compile(
    r"\benum\b(?:\s+(?:class|struct)\b)?(?:\s+\w+)?(?:\s*:\s*[\w:]+)?\s*(?P<body>\{)"
)
_ENUMERATOR = re.compile(r"\s*(?P<name>\w+)")
_BRACKETS = re.compile(r"[(){}\[\],]")


def keep_enumerators(unit: Rewrite) -> None:
    """Leave enumerators as they are whose counterpart in HIP is no name, or that of one before.

    What cuBLAS counts apart may be one in hipBLAS, and an enumeration has each name once. Names
    that no rule knows are the program's own from then on.
    """
    if unit.is_hip:
        return
    for match in _ENUMERATION.finditer(unit.source.code):
        seen: set[str] = set()
        for offset, name in _enumerators(unit, match.start("body")):
            hip = tables.names().get(name)
            if hip is None:
                unit.declare(name)
            if hip in seen or name in tables.absent():
                unit.handled.add(offset)
            seen.add(hip or name)


def _enumerators(unit: Rewrite, opening: int) -> list[tuple[int, str]]:
    """Offset and name of each enumerator of the body that begins at ``opening``."""
    code, end = unit.source.code, unit.source.closing(opening)
    starts, position = [opening + 1], opening + 1
    while (bracket := _BRACKETS.search(code, position, max(end, 0))) is not None:
        position = bracket.end()
        if bracket[0] == ",":
            starts.append(position)
        elif (closing := unit.source.closing(bracket.start())) > 0:
            position = closing + 1
    names = (_ENUMERATOR.match(code, start, max(end, 0)) for start in starts)
    return [(name.start("name"), name["name"]) for name in names if name]
