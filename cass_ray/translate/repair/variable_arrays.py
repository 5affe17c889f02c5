"""Arrays of variable size with zeros for their elements, as GCC takes them."""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_SAID = "variable-sized object may not be initialized"
_ZEROS = re.compile(
    r"(?P<name>\b[A-Za-z_]\w*)[ \t]*(?:\[[^\[\]{};]*\][ \t]*)+"
    r"(?P<zeros>=?[ \t]*\{[ \t]*(?:0|0?\.0*f?|0\.f?|false|nullptr)?[ \t]*\})[ \t]*;"
)


def zero_variable_array(
    text: SourceText, edits: Edits, message: str, line: int, offset: int
) -> str:
    """``float a[n] = {0};`` becomes ``float a[n]; __builtin_memset(a, 0, sizeof(a));``.

    ``offset`` is where clang points at: the size. Other initial values stay an error.
    """
    if _SAID not in message:
        return ""
    for found in _ZEROS.finditer(text.code, text.code.rfind("\n", 0, offset) + 1):
        if not found.start() <= offset < found.end():
            break
        name = found["name"]
        edits.replace(found.start("zeros"), found.end("zeros"), "")
        edits.insert(found.end(), f" __builtin_memset({name}, 0, sizeof({name}));")
        return f"set the array on line {line} to zeros behind its declaration"
    return ""


_NO_CONSTANT = re.compile(
    r"must be initialized by a constant expression|variable length array"
    r"|call to non-.constexpr. function|is not an integral constant-expression"
)
"""Clang's words and GCC's."""
_STACK_SIZE = re.compile(r"\b(?P<least>MIN)?SIGSTKSZ\b")
_LEAST, _USUAL = 2048, 8192
"""Of x86 and Arm before glibc 2.34 (``bits/sigstack.h``)."""


def take_old_stack_size(
    text: SourceText, edits: Edits, message: str, line: int, offset: int
) -> str:
    """``SIGSTKSZ`` is no constant since glibc 2.34; headers of test frameworks are older."""
    start = text.code.rfind("\n", 0, offset) + 1
    end = text.code.find(";", offset)
    found = list(_STACK_SIZE.finditer(text.code, start, max(start, end)))
    if not _NO_CONSTANT.search(message) or not found:
        return ""
    for each in found:
        edits.replace(each.start(), each.end(), str(_LEAST if each["least"] else _USUAL))
    return f"take the size of a signal's stack on line {line} as glibc had it"
