"""The header of the standard library that a name in an error wants: clang's words and GCC's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cass_ray.csv_tables import read_mapping
from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_QUOTE = "['‘’]"
_UNDECLARED = re.compile(
    r"use of undeclared identifier '(?:std::)?(\w+)'|unknown type name '(\w+)'"
    r"|no (?:member|type|template) named '(\w+)' in namespace 'std'"
    r"|no matching function for call to '(\w+)'"
    r"|implicit instantiation of undefined template 'std::(\w+)<"
    # GCC's.
    rf"|{_QUOTE}(\w+){_QUOTE} (?:is not a member of|in namespace) {_QUOTE}std{_QUOTE}"
    rf"|{_QUOTE}(?:std::)?(\w+){_QUOTE} (?:was not declared in this scope|has not been declared"
    r"|does not name a (?:template )?type)"
    rf"|{_QUOTE}(?:class |struct )?std::(\w+)<[^\n]{{0,999}}has incomplete type"
)
_TOLD = re.compile(rf"is defined in header {_QUOTE}(<[\w./]+>){_QUOTE}")
"""GCC's note, where it knows the header itself."""
_HEADERS = read_mapping(Path(__file__).with_name("headers.csv"))
"""Header of C and C++ -> names that programs use without including it."""
_HEADER_OF = {name: header for header, names in _HEADERS.items() for name in names.split()}


def add_header(text: SourceText, edits: Edits, message: str, notes: str) -> str:
    """Include what a name of the error ``message`` is declared in; says what was done."""
    told = _TOLD.search(notes)
    for match in _UNDECLARED.finditer(message):
        name = next(group for group in match.groups() if group)
        header = f"<{_HEADER_OF[name]}>" if name in _HEADER_OF else told and told[1]
        directive = f"#include {header}"
        if header and directive not in text.text:
            first = re.search(r"^[ \t]*#[ \t]*include\b", text.code, re.MULTILINE)
            if not any(directive == line for line in pending(edits, text)):
                edits.insert(first.start() if first else 0, directive + text.newline)
            return f"add {directive} for {name}"
    return ""


def pending(edits: Edits, text: SourceText) -> Iterator[str]:
    """The lines of ``text`` with the edits so far."""
    yield from edits.apply(text.text).split("\n")
