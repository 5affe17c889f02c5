"""Functions that a template calls before they are declared, which nvcc finds all the same."""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_CALL = "neither visible in the template definition nor found by argument-dependent lookup"
_DECLARED = re.compile(
    r":(?P<line>\d+):(?P<column>\d+): note: '(?P<name>\w+)' should be declared prior to the call"
)
_DIRECTIVES = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)


def declare_before(
    text: SourceText, edits: Edits, message: str, notes: str, line: int, offset: int
) -> str:
    """Declare the function of the call at ``offset`` in front of the template with the call.

    Where both stand in one scope, no overload of it does, and the declaration gives no defaults,
    which may stand once.
    """
    found = _DECLARED.search(notes) if _CALL in message else None
    if found is None:
        return ""
    name = text.offset(int(found["line"]), int(found["column"]))
    if name <= offset or not text.code.startswith(found["name"], name):
        return ""
    scopes, inside = _open_braces(text.code, name), _open_braces(text.code, offset)
    end = text.closing(text.code.find("(", name))
    start = _begin(text.code, name)
    if end < 0 or "=" in text.code[name:end] or inside[:-1][: len(scopes)] != scopes:
        return ""
    named = re.finditer(rf"\b{found['name']}\s*(?:<[^;{{}}()]*>)?\s*\(", text.code)
    if [each.start() for each in named if _open_braces(text.code, each.start()) == scopes] != [
        name
    ]:
        return ""
    declaration = f"{text.text[start : end + 1]};{text.newline}"
    place = _begin(text.code, inside[len(scopes)])
    if edits.within(text.text, place, place):
        return ""
    edits.insert(place, declaration)
    return f"declare {found['name']} before its call on line {line}"


def _open_braces(code: str, offset: int) -> list[int]:
    """Where the braces begin that ``offset`` is in, outermost first."""
    opened: list[int] = []
    for match in re.finditer(r"[{}]", code[:offset]):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            opened.pop()
    return opened


def _begin(code: str, offset: int) -> int:
    """Where the declaration begins whose name or body is at ``offset``."""
    start = max(code.rfind(mark, 0, offset) for mark in ";{}") + 1
    for directive in _DIRECTIVES.finditer(code, start, offset):
        start = directive.end()
    while code[start : start + 1].isspace():
        start += 1
    return start
