"""Halves and pairs of halves, of which HIP's classes have more conversions than CUDA's."""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_HALVES = r"'(?:const )?(?:__half|half|__hip_bfloat16)'(?: \(aka '[^'\n]{0,99}'\))?"
_BETWEEN_HALVES = re.compile(
    rf"ambiguous conversion for (?:C-style|functional-style|static_cast) ?(?:cast)? ?from {_HALVES}"
    rf" to {_HALVES}|conversion from {_HALVES} to .{{0,99}} is ambiguous"
)
_ASSIGNED_LIST = re.compile(
    r"use of overloaded operator '=' is ambiguous \(with operand types "
    r"'(?P<type>[\w:]{1,60})'(?: \(aka '[^'\n]{0,99}'\))? and 'void'\)"
)
_BEFORE_LIST = re.compile(r"=\s*(?=\{)")


def convert_halves(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Between half and bfloat16 through float, which holds both: one rounding."""
    if not _BETWEEN_HALVES.search(message):
        return ""
    opening = offset if text.code[offset : offset + 1] == "(" else text.code.find("(", offset)
    closing = text.closing(opening) if opening >= 0 else -1
    if closing < 0:
        return ""
    if opening == offset:
        edits.insert(closing + 1, "(float)")
    else:
        edits.insert(opening + 1, "static_cast<float>(")
        edits.insert(closing, ")")
    return f"convert through float on line {line}"


def name_assigned_type(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """``h = {a, b}``: HIP's vectors of halves have assignments of several types, CUDA's of one."""
    found = _ASSIGNED_LIST.search(message)
    brace = _BEFORE_LIST.match(text.code, offset)
    if found is None or brace is None:
        return ""
    edits.insert(brace.end(), found["type"])
    return f"name the type {found['type']} that is assigned on line {line}"
