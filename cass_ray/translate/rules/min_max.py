"""``min`` and ``max`` of two types.

CUDA has an overload for each pair and compares in the common type, as C does. HIP has one for two
arguments of one type; two types are compared as ``double`` (``__clang_hip_cmath.h``): ``max(i,
n) % 4`` does not compile then, ``min(-1, 1u)`` is -1, and integers above 2^53 are rounded. Calls
whose arguments may differ in type go to a function that does what CUDA's does. Found by compiling
generated programs. PyTorch's ``scalar_t`` beside a ``double`` may be ``c10::Half``, which is a
float to both: CUDA has ``max(float, double)``, HIP an ambiguity.

For the host HIP has ``min`` and ``max`` of two ints alone, to which ``min(1.5f, x)`` converts its
arguments: a snippet has CUDA's others. Found by a public project's test. Where nothing is CUDA's a
host's compiler calls the standard library's or the project's own.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cass_ray.translate.rules import headers
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.text import Span

_FLOATING = frozenset({"float", "double", "half", "__half", "__nv_bfloat16"})
_WHOLE = frozenset({"int", "unsigned", "long", "long long", "unsigned long", "unsigned long long"})
"""Types that arithmetic keeps, unlike ``short`` and ``char``."""
_ALIASES = {
    "uint": "unsigned",
    "uint32_t": "unsigned",
    "int32_t": "int",
    "size_t": "unsigned long",
    "uint64_t": "unsigned long",
    "int64_t": "long",
}
_INTEGER = r"(?:(?:un)?signed\s+)?(?:long\s+long|long|short|char|int)(?:\s+int)?|unsigned"
_TYPE = rf"(?:{_INTEGER}|{'|'.join(sorted(_FLOATING | _ALIASES.keys()))}|bool|u?int(?:8|16)_t)"
_DECLARED = re.compile(rf"(?<![\w.>])(?P<type>{_TYPE})\s+(?P<names>[^;(){{}}]*)")
_DECLARATOR = re.compile(r"\s*(?:const\s+|__restrict__\s+|[*&]\s*)*(?P<name>[A-Za-z_]\w*)")
_CAST = re.compile(rf"\(\s*(?P<type>{_TYPE})\s*\)\s*(?:[A-Za-z_][\w.]*\s*)?(?P<tail>\(|\d[\w.]*)?")
_SUBSCRIPT = re.compile(r"\[[^\[\]]*\]")
_COORDINATE = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\s*\.\s*[xyz]\b")
_OPERAND = re.compile(
    r"(?P<floating>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|\d+[eE][+-]?\d+[fF]?)"
    r"|(?P<number>0[xX][\da-fA-F]+|\d+)(?P<suffix>[uUlL]*)"
    r"|(?P<other>(?:\.|->|::)\s*)?(?P<name>[A-Za-z_]\w*)(?P<call>\s*\()?"
)
_UNKNOWN = "?"
_SCALAR = "scalar_t"
"""The type that PyTorch's AT_DISPATCH macros give a kernel."""
_LONGEST_ARGUMENT = 2000
"""Characters; what is in a longer one counts as unknown: calls inside calls are read for each."""


def rewrite_min_max(unit: Rewrite) -> None:
    """Let calls of ``min`` and ``max`` that may mix integer types compare as CUDA's do."""
    if unit.is_hip or headers.is_plain_host(unit):
        return
    declared: dict[str, set[str]] | None = None
    for word in ("min", "max"):
        offsets = unit.words.get(word, ())
        if not offsets or unit.declares(word):
            continue
        for offset in offsets:
            call = unit.call(offset, word)
            if call is None or len(call[0]) != 2 or unit.is_member(offset):
                continue
            declared = _declared(unit.source.code) if declared is None else declared
            if _may_be_hosts(unit, offset) and _kinds_of(unit, call[0], declared) != {"int"}:
                unit.snippets.add("host_extremes")
            if offset not in unit.device and PurePosixPath(unit.filename).suffix != ".cu":
                continue
            if word in unit.context.declared and _kinds_of(unit, call[0], declared) == {_UNKNOWN}:
                continue  # Perhaps vectors, whose function is found from here alone.
            if _may_mix(unit, call[0], declared):
                unit.edits.insert(offset, "cass::mixed_")
                unit.snippets.add("extremes")
                unit.converted(offset)


def _may_be_hosts(unit: Rewrite, offset: int) -> bool:
    """Whether the call may be one of the host's: HIP has ``min`` and ``max`` of int there."""
    return offset not in unit.device or "__host__" in unit.words


def _kinds_of(unit: Rewrite, arguments: list[Span], declared: dict[str, set[str]]) -> set[str]:
    kinds: set[str] = set()
    for start, end in arguments:
        kinds |= _kinds(unit.source.code[start : min(end, start + _LONGEST_ARGUMENT)], declared)
    return kinds


def _may_mix(unit: Rewrite, arguments: list[Span], declared: dict[str, set[str]]) -> bool:
    kinds: set[str] = set()
    for start, end in arguments:
        if end - start > _LONGEST_ARGUMENT:
            return True
        kinds |= _kinds(unit.source.code[start:end], declared)
    if kinds & _FLOATING:  # An integer beside it would be ambiguous in CUDA.
        return _UNKNOWN in kinds and _SCALAR in unit.words
    return not (len(kinds) == 1 and kinds <= _WHOLE)


def _declared(code: str) -> dict[str, set[str]]:
    """Every name that the file declares with a number's type, pointers and arrays of one included.

    Scopes do not count: a name has all types that it has anywhere.
    """
    found: dict[str, set[str]] = {}
    for match in _DECLARED.finditer(code):
        for declarator in match["names"].split(","):
            name = _DECLARATOR.match(declarator)
            if name is None or re.match(rf"\s*(?:const\s+)?{_TYPE}\s", declarator):
                break
            found.setdefault(name["name"], set()).add(_canonical(match["type"]))
    return found


def _canonical(type_: str) -> str:
    words = [word for word in type_.split() if word not in ("int", "signed")]
    return _ALIASES.get(type_, " ".join(words) or "int")


def _kinds(expression: str, declared: dict[str, set[str]]) -> set[str]:
    """Types of the operands of ``expression``, with ``?`` for one that is not known."""
    while (plain := _SUBSCRIPT.sub("", expression)) != expression:
        expression = plain
    kinds, expression = _without_casts(expression)
    if (plain := _COORDINATE.sub(" ", expression)) != expression:
        kinds.add("unsigned")
    for operand in _OPERAND.finditer(plain):
        if operand["floating"]:
            kinds.add("double")
        elif operand["number"]:
            long = " long" * min(1, operand["suffix"].lower().count("l"))
            unsigned = "unsigned" if "u" in operand["suffix"].lower() else ""
            kinds.add(f"{unsigned}{long}".strip() or "int")
        elif operand["other"] or operand["call"]:
            kinds.add(_UNKNOWN)
        else:
            types = declared.get(operand["name"], {_UNKNOWN})
            kinds |= types if len(types) == 1 else {_UNKNOWN}
    return kinds


def _without_casts(expression: str) -> tuple[set[str], str]:
    """Types that something is cast to, and the expression without what is cast."""
    kinds: set[str] = set()
    while cast := _CAST.search(expression):
        kinds.add(_canonical(cast["type"]))
        end = cast.end()
        if cast["tail"] == "(":
            depth = 1
            while depth and end < len(expression):
                depth += {"(": 1, ")": -1}.get(expression[end], 0)
                end += 1
        expression = f"{expression[: cast.start()]} {expression[end:]}"
    return kinds, expression
