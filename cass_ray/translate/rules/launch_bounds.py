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
            if "<" in code[start:end] and "," in code[start:end]:
                unit.edits.insert(start, "(")
                unit.edits.insert(end, ")")
