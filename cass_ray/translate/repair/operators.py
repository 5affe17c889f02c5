"""Operators of a program's own on vector types that HIP has for its types as well.

``float3 operator*(const float3&, const float3&)`` is as good a candidate as HIP's since HIP's are
no templates any more. Where the program's does element by element what HIP's does, HIP's is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText
from cass_ray.translate.rules.vectors import GUARD, definition_start

OWN_OPERATOR = "HIP has this operator too"
_AMBIGUOUS = re.compile(r"use of overloaded operator '[^']+' is ambiguous")
_SIZE = re.compile(r"HIP_vector_type<[\w ]+, (?P<size>[1-4])>")
_HIPS = re.compile(r"amd_hip_vector_types\.h:\d+:\d+: note: candidate function")
_CANDIDATE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): note: candidate function$", re.MULTILINE
)
_OPERATOR = re.compile(r"operator\s*(?P<operator>[-+*/%&|^]=?)\s*\(")
_PARAMETER = re.compile(r"(?P<name>\w+)\s*\Z")
_BODY = re.compile(r"\s*(?:noexcept\s*)?(?=\{)")
_COMPONENTS = "xyzw"


def own_operators(message: str, notes: str) -> Iterator[tuple[str, int, int, str]]:
    """File, line and column of operators that an error names beside HIP's, and what is said there:
    :data:`OWN_OPERATOR` and the number of elements."""
    size = _SIZE.search(message)
    if size is None or not _AMBIGUOUS.search(message) or not _HIPS.search(notes):
        return
    for found in _CANDIDATE.finditer(notes):
        if not found["file"].endswith("amd_hip_vector_types.h"):
            said = f"{OWN_OPERATOR}: {size['size']} elements"
            yield found["file"], int(found["line"]), int(found["column"]), said


def leave_own_operator(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Put an element-wise operator at ``offset`` under a condition that is not AMD's."""
    if not message.startswith(OWN_OPERATOR):
        return ""
    found = _OPERATOR.match(text.code, offset)
    parsed = text.arguments(found.end() - 1) if found else None
    if found is None or parsed is None or len(parsed[0]) != 2:
        return ""
    names = [_PARAMETER.search(text.code[start:end]) for start, end in parsed[0]]
    body = _BODY.match(text.code, parsed[1] + 1)
    closing = text.closing(body.end()) if body else -1
    if body is None or closing < 0 or None in names:
        return ""
    left, right = (each["name"] for each in names if each)
    size = int(message.rsplit(maxsplit=2)[1])
    if not _is_elementwise(
        text.code[body.end() + 1 : closing], found["operator"], left, right, size
    ):
        return ""
    start = definition_start(text.code, offset)
    edits.insert(start, f"{text.newline}#ifndef {GUARD}  // {OWN_OPERATOR}{text.newline}")
    edits.insert(closing + 1, f"{text.newline}#endif{text.newline}")
    return f"leave the operator on line {line} to HIP"


def _is_elementwise(body: str, operator: str, left: str, right: str, size: int) -> bool:
    text = re.sub(r"\s+", "", body.replace("return", "return "))
    parts = [f"{left}.{c}{operator}{right}.{c}" for c in _COMPONENTS[:size]]
    if operator.endswith("="):
        return text in (f"{';'.join(parts)};", f"{';'.join(parts)};return{left};")
    inside = re.escape(",".join(parts))
    return re.fullmatch(rf"return(?:[\w:]+)?[({{]{inside}[)}}];", text) is not None
