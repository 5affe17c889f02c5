"""Functions that CUDA programs define because CUDA lacks them, and HIP has.

``float atomicMin(float*, float)`` is the commonest: the definition would be a second one. Where its
body does what HIP's does in one of the known ways, it goes behind a guard; else it is reported.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.text import Span
from cass_ray.translate.rules.vectors import GUARD, definition_start

_FLOATS = ("float", "double")
_WIDE = ("double", "long", "long long", "unsigned long", "unsigned long long")
_ATOMICS = dict.fromkeys(
    ("atomicMin", "atomicMax", "atomicSub", "atomicMin_system", "atomicMax_system"),
    tuple(f"{kind}*" for kind in _FLOATS),
)
_SHUFFLES = dict.fromkeys(("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor"), _WIDE)
_ATOMICS["atomicAdd"] = ("double*",)
_OF_HIP = {**_ATOMICS, **_SHUFFLES}
"""Function -> types of the first parameter for which HIP has it and CUDA 11, or CUDA for hardware
before sm_60, has not."""

_KNOWN = {
    # Through an atomic operation on the bits of the number, as HIP's own.
    **dict.fromkeys(_ATOMICS, re.compile(r"\batomic(?:CAS|Min|Max|Add)\w*\s*\(")),
    # A shuffle of each half.
    **dict.fromkeys(_SHUFFLES, re.compile(r"\b__shfl\w*\s*\(")),
}
_TYPE = re.compile(r"(?P<type>[\w\s]*\w\b)\s*+(?P<pointer>\*?)\s*+(?:__restrict__\b\s*+)?\w*\Z")
_TYPE_WORDS = {"int", "long", "double", "unsigned"}
_BODY = re.compile(r"\s*(?=[{;])")
_LINKAGE = re.compile(r"\bextern\s+\"[^\"]*\"\s*\Z")


def guard_own_functions(unit: Rewrite) -> None:
    """Guard or report definitions of what HIP defines at global scope."""
    if unit.is_hip:
        return
    for word, kinds in _OF_HIP.items():
        for offset in unit.words.get(word, ()):
            definition = _definition(unit, offset, word)
            if definition is None or _first_type(unit, definition[0]) not in kinds:
                continue
            _guard(unit, offset, word, definition[1])


def _definition(unit: Rewrite, offset: int, word: str) -> tuple[Span, int] | None:
    """First parameter and body's brace of the definition of ``word`` at global scope; of a
    declaration the semicolon."""
    code = unit.source.code
    call = unit.call(offset, word)
    if call is None or not call[0] or not unit.is_declaration(offset, word):
        return None
    body = _BODY.match(code, call[2] + 1)
    # The word "template" ends a statement there.
    is_template = code.startswith("<", definition_start(code, offset))
    if body is None or is_template or _is_nested(unit, offset):
        return None
    return call[0][0], body.end()


def _first_type(unit: Rewrite, parameter: Span) -> str:
    match = _TYPE.match(unit.source.code[slice(*parameter)])
    if match is None:
        return ""
    words = [word for word in match["type"].split() if word != "const"]
    if not match["pointer"] and len(words) > 1 and words[-1] not in _TYPE_WORDS:
        words.pop()  # The parameter's name.
    return " ".join(word for word in words if word != "int") + match["pointer"]


def _is_nested(unit: Rewrite, offset: int) -> bool:
    """Whether ``offset`` is inside of a class or a namespace."""
    return any(
        _LINKAGE.search(unit.source.text, max(0, opening - 40), opening) is None
        for opening in unit.source.enclosing_braces(offset)
    )


def _guard(unit: Rewrite, offset: int, word: str, brace: int) -> None:
    code = unit.source.code
    declared = code[brace] == ";"
    closing = brace if declared else unit.source.closing(brace)
    start = definition_start(code, offset)
    if closing < 0 or f"#ifndef {GUARD}" in code[max(0, start - 120) : start]:
        return
    if not declared and not _KNOWN[word].search(code, brace, closing):
        message = f"HIP has a function {word} of its own for this type: a second definition"
        advice = "give this function another name"
        unit.report(offset, word, Severity.ERROR, message, advice)
        return
    unit.guard(start, closing + 1, f"#ifndef {GUARD}  // HIP has {word} for this type")
    unit.handled.add(offset)
    unit.converted(start)
    message = f"HIP has a function {word} of its own for this type, which is called instead"
    unit.report(offset, word, Severity.NOTE, message, "check what this one does with NaN")
