"""Arrays of variable size with values for their elements, as GCC takes them."""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_SAID = "variable-sized object may not be initialized"
_ZEROS = re.compile(
    r"(?P<name>\b[A-Za-z_]\w*)[ \t]*(?:\[[^\[\]{};]*\][ \t]*)+"
    r"(?P<values>=?[ \t]*\{[ \t]*(?:0|0?\.0*f?|0\.f?|false|nullptr)?[ \t]*\})[ \t]*;"
)
_VALUES = re.compile(
    r"(?<![\w:])(?P<type>(?:(?:unsigned|signed|long|short|char|int|float|double|bool|size_t"
    r"|u?int(?:8|16|32|64)_t)[ \t]+)++)(?P<name>[A-Za-z_]\w*)[ \t]*\[[^\[\]{};]*\][ \t]*"
    r"(?P<values>=?[ \t]*\{[^{};]*\})[ \t]*;"
)
"""It matches arrays of numbers alone, since objects have constructors."""


def fill_variable_array(
    text: SourceText, edits: Edits, message: str, line: int, offset: int
) -> str:
    """``float a[n] = {0};`` becomes ``float a[n]; __builtin_memset(a, 0, sizeof(a));``, with a
    check that its elements may be filled so; other values of numbers are copied behind that.

    ``offset`` is where clang points at: the size.
    """
    if _SAID not in message:
        return ""
    for pattern in (_ZEROS, _VALUES):
        found = _around(pattern, text, offset)
        if found is None:
            continue
        name, (start, end) = found["name"], found.span("values")
        element = name + "[0]" * text.code.count("[", found.start(), start)
        filled = f" __builtin_memset({name}, 0, sizeof({name}));"
        if pattern is _ZEROS:  # an object with a constructor is another error, and no zeros
            filled = f" static_assert(__is_trivial(__typeof__({element})));{filled}"
        if pattern is _VALUES:
            values = text.text[start:end].lstrip("= \t")
            filled += f" {{ const {found['type'].strip()} cass_values[] = {values}; "
            filled += f"__builtin_memcpy({name}, cass_values, sizeof(cass_values)); }}"
        edits.replace(start, end, "")
        edits.insert(found.end(), filled)
        return f"fill the array on line {line} behind its declaration"
    return ""


def _around(pattern: re.Pattern[str], text: SourceText, offset: int) -> re.Match[str] | None:
    """The match of ``pattern`` that holds ``offset`` and begins in its line."""
    matches = pattern.finditer(text.code, text.code.rfind("\n", 0, offset) + 1)
    return next((found for found in matches if found.start() <= offset < found.end()), None)


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
