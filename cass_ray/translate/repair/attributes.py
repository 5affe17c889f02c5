"""Declarations of one function for different sides, of which nvcc makes one for both.

nvcc treats what is declared ``__host__ __device__`` in one place and without in another as a
function for both sides (its warnings 20037 and 20040), and a specialization need not be for its
template's sides. Clang takes them for overloads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText
from cass_ray.translate.rules.vectors import definition_start

_HOST, _DEVICE = "__host__", "__device__"
_BOTH = f"{_HOST} {_DEVICE}"
_SIDES = rf"(?:{_HOST}|{_DEVICE}|{_BOTH})"
_NO_OVERLOAD = re.compile(
    rf"^(?P<here>{_SIDES}) function '[^'\n]+' cannot overload (?P<there>{_SIDES}) function '"
)
_BEFORE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): note: previous declaration is here$",
    re.MULTILINE,
)
_FOR_OTHER_SIDES = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): note: candidate template ignored: "
    r"target attributes do not match",
    re.MULTILINE,
)
DECLARED, _SPECIALIZED = "declared for one side here", "specialized for other sides"
_LEAD = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)\s*|(?:template\s*)?(?=<))")
_FULL_SPECIALIZATION = re.compile(r"template\s*<\s*>")
_A_MACRO = re.compile(r"\b[A-Z][A-Z0-9_]{3,}\b")
"""It may stand for sides."""


def other_declarations(message: str, notes: str) -> Iterator[tuple[str, int, int, str]]:
    """File, line and column of declarations that an error names beside the place where it is, and
    what is said there."""
    overload = _NO_OVERLOAD.match(message)
    before = _BEFORE.search(notes)
    if overload and before and overload["there"] != _BOTH:
        yield before["file"], int(before["line"]), int(before["column"]), DECLARED
    for found in _FOR_OTHER_SIDES.finditer(notes):
        yield found["file"], int(found["line"]), int(found["column"]), _SPECIALIZED


def widen_declaration(text: SourceText, edits: Edits, message: str, line: int, offset: int) -> str:
    """Give both sides to the declaration of what is named at ``offset``."""
    overload = _NO_OVERLOAD.match(message)
    if message not in {DECLARED, _SPECIALIZED} and (not overload or overload["here"] == _BOTH):
        return ""
    start = _behind_parameters(text, definition_start(text.code, offset), offset)
    words = text.code[start:offset]
    says_sides = _HOST in words or _DEVICE in words or _A_MACRO.search(words)
    missing = " ".join(side for side in (_HOST, _DEVICE) if side not in words)
    if not missing or (message == _SPECIALIZED and says_sides):
        return ""
    if edits.within(text.text, start, start):  # another error's
        return ""
    edits.insert(start, f"{missing} ")
    return f"give the function on line {line} both sides"


def _behind_parameters(text: SourceText, start: int, end: int) -> int:
    """Behind labels of access and the lists of template parameters at ``start``."""
    while found := _LEAD.match(text.code, start, end):
        start, depth = found.end(), 0
        while text.code.startswith("<", start) or depth:
            if start >= end:
                break
            depth += {"<": 1, ">": -1}.get(text.code[start], 0)
            start += 1
            if depth == 0:
                break
        while start < end and text.code[start].isspace():
            start += 1
    return start


def specialized_template(notes: str, file: str) -> tuple[int, int] | None:
    """Line and column of the template that is specialized for other sides, if it is of ``file``."""
    found = _FOR_OTHER_SIDES.search(notes)
    if found is None or found["file"] != file:
        return None
    return int(found["line"]), int(found["column"])


def widen_specialization(
    text: SourceText, edits: Edits, notes: str, line: int, offset: int, candidate: int
) -> str:
    """Give both sides to the specialization at ``offset``, or if it has them to its template, at
    ``candidate`` where that is of this file."""
    if not _FOR_OTHER_SIDES.search(notes):
        return ""
    start = text.code.rfind("template", 0, offset)
    if start >= 0 and _HOST in text.code[start:offset] and candidate >= 0:
        offset = candidate
        start = text.code.rfind("template", 0, offset)
    attribute = text.code.find(_DEVICE, start, offset) if start >= 0 else -1
    if start < 0 or _HOST in text.code[start:offset]:
        return ""
    if attribute < 0:
        full = _FULL_SPECIALIZATION.match(text.code, start, offset)
        if full is None or edits.within(text.text, full.end(), full.end()):
            return ""
        edits.insert(full.end(), f" {_BOTH}")
    elif not edits.within(text.text, attribute, attribute):  # another specialization's error
        edits.insert(attribute, f"{_HOST} ")
    return f"give the specialization on line {line} both sides"
