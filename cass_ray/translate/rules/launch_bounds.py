"""Launch bounds: a macro in HIP, which splits its arguments at the commas of templates."""

from __future__ import annotations

from cass_ray.translate.rules.rewrite import Rewrite

_WORD = "__launch_bounds__"


def bracket_templates(unit: Rewrite) -> None:
    """Put brackets around bounds such as ``blocks<A, B>()``."""
    code = unit.source.code
    for offset in unit.words.get(_WORD, ()):
        opening = offset + len(_WORD)
        while code[opening : opening + 1].isspace():
            opening += 1
        parsed = unit.source.arguments(opening) if code.startswith("(", opening) else None
        for start, end in parsed[0] if parsed else ():
            bound = code[start:end].strip()
            if "<" in bound and "," in bound and not _is_bracketed(bound):
                unit.edits.insert(start, "(")
                unit.edits.insert(end, ")")


def _is_bracketed(bound: str) -> bool:
    """Whether one pair of brackets is around all of ``bound``."""
    depth = 0
    for place, letter in enumerate(bound):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return letter == ")" and place == len(bound) - 1
    return False
