"""The driver's device pointers, which are numbers in CUDA and ``void*`` in HIP."""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_MESSAGE = "arithmetic on a pointer to void"
_OPERAND = re.compile(
    r"(?:[A-Za-z_]\w*(?:\s*(?:\.|->|::)\s*)?|\[[^\[\]\n]{0,80}\]|\([^()\n]{0,80}\))+\s*\Z"
)
_LONGEST = 200
_LOSES_CONST = re.compile(
    r"reinterpret_cast from 'const \w[^'\n]*\*' (?:\(aka '[^'\n]*'\) )?"
    r"to '[^'\n]+' \(aka 'void \*'\) casts away qualifiers"
)
_CAST = re.compile(r"reinterpret_cast\s*<(?P<type>[\w\s:]+)>\s*(?=\()")


def count_bytes(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Name bytes as what the pointer before the operator at ``offset`` points to."""
    operator = text.code[offset : offset + 2]
    if _MESSAGE not in message or operator[:1] not in ("+", "-"):
        return ""
    begin = max(text.code.rfind("\n", 0, offset) + 1, offset - _LONGEST)
    operand = _OPERAND.search(text.code, begin, offset)
    if operand is None:
        return ""
    end = operand.start() + len(operand.group().rstrip())
    changes = operator in ("+=", "-=", "++", "--")
    cast = "reinterpret_cast<char*&>(" if changes else "(char*)("  # of const void* as well
    edits.insert(operand.start(), cast)
    edits.insert(end, ")")
    return f"count bytes behind a device pointer on line {line}"


def drop_const(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Make C's cast of the one at ``offset``, where a device pointer comes of a pointer to what is
    constant: nvcc makes a number of it."""
    found = _CAST.match(text.code, offset)
    closing = text.closing(found.end()) if found and _LOSES_CONST.match(message) else -1
    if found is None or closing < 0:
        return ""
    edits.replace(found.start(), found.end(), f"(({found['type'].strip()})")
    edits.insert(closing + 1, ")")
    return f"cast to a device pointer on line {line} as C does"
