"""Constants that nvcc reads and sets where clang does not.

``constexpr int n = 2 * given.count``: nvcc reads a static member through a reference as a constant,
clang 19 takes no unknown reference for one. The variable is as constant without ``constexpr``,
unless a type asks for its value. ``if constexpr (this->is_host())`` asks a function that needs no
object: clang 19 takes one whose value nobody knows, and no ``this``. And clang looks at assignments
to constants in templates that nothing makes a function of.
"""

from __future__ import annotations

import re

from cass_ray.translate.repair.standard_headers import pending
from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_NO_CONSTANT = re.compile(
    r"constexpr variable '(?P<name>\w+)' must be initialized by a constant expression"
)
_UNKNOWN = re.compile(r"function parameter '\w+' with unknown value cannot be used")
_CONSTANT_MEMBER = re.compile(
    r"cannot assign to non-static data member '(?P<name>\w+)' with const-qualified type"
)
_NO_THIS = re.compile(
    r":(?P<line>\d+):(?P<column>\d+): note: (?:implicit )?use of 'this' pointer is only allowed "
    "within the evaluation of a call to a 'constexpr' member function"
)
_THIS = re.compile(r"this\s*->\s*(?!\s|template\b)")
_ANY_OBJECT = "cass::any<std::remove_reference_t<decltype(*this)>>."
_DECLARATION = """#ifndef CASS_ANY
#define CASS_ANY
#include <type_traits>
// An object of a type, for constants that ask its functions and not its values.
namespace cass {
template <typename T>
#ifdef __HIP__
__attribute__((device))
#endif
extern T any;
}
#endif
"""
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


def name_no_object(
    text: SourceText, edits: Edits, message: str, notes: str, line: int, offset: int
) -> str:
    """Ask any object of the type where a constant asks ``this``; says what was done."""
    if "constant expression" not in message:
        return ""
    places = {
        text.offset(int(each["line"]), int(each["column"])) for each in _NO_THIS.finditer(notes)
    }
    for place in places:
        named = _THIS.match(text.code, place)
        edits.replace(place, named.end() if named else place, _ANY_OBJECT)
    if not places:
        return ""
    if not any(each == "#ifndef CASS_ANY" for each in pending(edits, text)):
        first = re.search(r"^[ \t]*#[ \t]*include\b", text.code, re.MULTILINE)
        edits.insert(first.start() if first else 0, _DECLARATION.replace("\n", text.newline))
    return f"ask any object of the type on line {line}"
