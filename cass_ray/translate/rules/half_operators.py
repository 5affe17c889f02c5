"""Half and bfloat16 numbers: operators in host code and atomic additions, which HIP may lack."""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import headers
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.vectors import are_plain, definition_start

_TYPES = ("half", "__half", "half2", "__half2")
_BFLOAT16 = ("__nv_bfloat16", "__nv_bfloat162", "nv_bfloat16", "nv_bfloat162")
_VALUE = re.compile(r"\s+([A-Za-z_]\w*)\s*[=;,()\[{:]")
_ARGUMENT = re.compile(r"\s*(?:[>,]|\[|$)")
"""What stands behind the type as an argument of a template; ``#define REAL half`` ends a line."""
_NAMED = re.compile(r"(?:\busing\s+\w+\s*=|\btypedef|#[ \t]*define[ \t]+\w+)\s+(?:const\s+)?\Z")
_LIST = re.compile(r"[<,]\s*(?:::\s*)?(?:const\s+)?\Z")
_FOR_THE_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_EIGEN = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:unsupported/)?Eigen/", re.MULTILINE)
_UNNAMED = re.compile(r"\bnamespace\s*\{")
_LONGEST_HEAD = 400
_LOOK_BACK = 60
_OPERATOR = re.compile(r"[-+*/]=?|[<>]=?|==|!=")
_FUNCTION = re.compile(
    r"h2?(?:ceil|cos|exp|exp2|exp10|floor|log|log2|log10|rcp|rint|rsqrt|sin|sqrt|trunc)\Z"
    r"|__h(?:add|sub|mul|div|fma|neg|abs|max|min|isnan|isinf|(?:eq|ne|lt|le|gt|ge)u?)2?\Z"
)
_GLOBAL = re.compile(r"(?<![\w>:])::\s*\Z")


def add_operators(unit: Rewrite) -> None:
    """Add what the file may call; of HIP before 7 operators are for device code alone.

    What a call takes is not known here: atomic additions are added to a file that speaks of such
    numbers, and templates give way where HIP has a function for both.
    """
    if unit.is_hip:
        return
    if "atomicAdd" in unit.words and unit.words.keys() & {*_TYPES, *_BFLOAT16}:
        unit.snippets.add("half_atomics")
    if _EIGEN.search(unit.source.text) and not are_plain(unit) and not headers.is_plain_host(unit):
        unit.snippets.add("half_log")
    if "__ldg" in unit.words and _UNNAMED.search(unit.source.code):
        unit.snippets.add("unnamed_loads")
    _add_host_operators(unit)
    _look_up_by_arguments(unit)
    _report_comparisons(unit)


def _look_up_by_arguments(unit: Rewrite) -> None:
    """``::hexp(x)`` is ``hexp(x)``: HIP has those of halves in a namespace without a name, where
    ``::`` does not look once it has found those of bfloat16."""
    for word, offsets in unit.words.items():
        if not _FUNCTION.match(word) or unit.declares(word):
            continue
        for offset in offsets:
            start = max(offset - _LOOK_BACK, 0)
            if found := _GLOBAL.search(unit.source.code[start:offset]):
                unit.edits.replace(start + found.start(), offset, "")


def _report_comparisons(unit: Rewrite) -> None:
    """Say so where a value that is declared with these types is compared by HIP's own operator."""
    values = {
        named[1]
        for word in (*_TYPES, *_BFLOAT16[1::2])
        for offset in unit.words.get(word, ())
        if offset in unit.device and (named := _VALUE.match(unit.source.code, offset + len(word)))
    }
    if not values:
        return
    name = rf"(?:{'|'.join(sorted(values))})\b"
    comparison = rf"\b{name}(?:\[[^][]*\])?\s*[<>]=(?!=)|(?<![<>])[<>]=\s*{name}(?!\s*\()"
    if found := re.search(comparison, unit.source.code):
        message = (
            "HIP computes <= and >= of half numbers, which are true for NaN, and comparisons of"
            " pairs by operators of its own"
        )
        advice = (
            "where numbers may be NaN, or pairs are compared: __hle, __hge, __hble2 and their kin"
        )
        unit.report(found.start(), "half", Severity.NOTE, message, advice)


def _add_host_operators(unit: Rewrite) -> None:
    """Add the operators where host code has such numbers, not only pointers to them."""
    if not _OPERATOR.search(unit.source.code):
        return
    if any(
        _may_be_of_the_host(unit, offset, word)
        for word in _TYPES
        for offset in unit.words.get(word, ())
    ):
        unit.snippets.add("half_operators")


def _may_be_of_the_host(unit: Rewrite, offset: int, word: str) -> bool:
    """Whether host code may have values of the type: declared, or of a template's or other name."""
    code, end = unit.source.code, offset + len(word)
    if _VALUE.match(code, end):
        return _is_for_the_host(unit, offset)
    before = code[max(0, offset - _LOOK_BACK) : offset]
    if _NAMED.search(before):
        return offset not in unit.device
    is_argument = _ARGUMENT.match(code, end) and _LIST.search(before)
    return bool(is_argument) and "template" in unit.words and offset not in unit.device


def _is_for_the_host(unit: Rewrite, offset: int) -> bool:
    """Whether the value declared at ``offset`` is one of a host function, or its parameter."""
    code = unit.source.code
    in_function = False
    for opening in unit.source.enclosing_braces(offset):
        start = max(0, opening - _LONGEST_HEAD)
        head = code[max(start, *(code.rfind(end, start, opening) + 1 for end in ";}")) : opening]
        if _FOR_THE_DEVICE.search(head):
            return "__host__" in head
        in_function = in_function or head.rstrip().endswith((")", "const", "noexcept"))
    if in_function:
        return True
    head = code[definition_start(code, offset) : offset]
    return "(" in head and (not _FOR_THE_DEVICE.search(head) or "__host__" in head)
