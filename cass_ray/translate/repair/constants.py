"""Constants that nvcc reads and sets where clang does not.

``constexpr int n = 2 * given.count``: nvcc reads a static member through a reference as a constant,
clang 19 takes no unknown reference for one. The variable is as constant without ``constexpr``,
unless a type asks for its value. And clang looks at assignments to constants in templates that
nothing makes a function of.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_NO_CONSTANT = re.compile(
    r"constexpr variable '(?P<name>\w+)' must be initialized by a constant expression"
)
_UNKNOWN = re.compile(r"function parameter '\w+' with unknown value cannot be used")
_CONSTANT_MEMBER = re.compile(
    r"cannot assign to non-static data member '(?P<name>\w+)' with const-qualified type"
)
_BEGIN = re.compile(r"(?:^|(?<=[;{}]))\s*(?P<word>constexpr)\b(?![^;{}]*\bstatic\b)[^;{}()=]*\Z")


def make_plain_constant(
    text: SourceText, edits: Edits, message: str, notes: str, line: int, offset: int
) -> str:
    """Declare the variable at ``offset`` as ``const``; says what was done."""
    named = _NO_CONSTANT.match(message)
    if named is None or not _UNKNOWN.search(notes):
        return ""
    start = max(0, offset - 200)
    found = _BEGIN.search(text.code[start:offset])
    if found is None:
        return ""
    edits.replace(start + found.start("word"), start + found.end("word"), "const")
    return f"make {named['name']} on line {line} a constant that is known when the program runs"


def assign_where_nothing_does(
    text: SourceText, edits: Edits, message: str, line: int, offset: int
) -> str:
    """Cast the constant member before the ``=`` at ``offset``; says what was done.

    nvcc compiles such a program only if nothing makes a function of the template: it never runs.
    """
    named = _CONSTANT_MEMBER.match(message)
    if named is None:
        return ""
    name = named["name"]
    target = re.compile(rf"(?:\bthis\s*->\s*)?\b{name}(?=\s*\Z)").search(
        text.code, max(0, offset - 200), offset
    )
    if target is None:
        return ""
    kind = f"typename std::remove_const<decltype({name})>::type"
    edits.replace(target.start(), target.end(), f"const_cast<{kind}&>({target[0]})")
    return f"cast the constant {name} on line {line}, which is never set"
