"""The lines at the beginning of a source file that are directives alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"[ \t\f\v]*#[ \t]*(?P<name>\w*)")
_OPENS = frozenset({"if", "ifdef", "ifndef"})
_HARMLESS = frozenset({"", "define", "undef", "else", "elif", "elifdef", "elifndef"})
_TOKEN = re.compile(r'/\*|//|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[^/"\']+|.', re.DOTALL)


@dataclass(frozen=True)
class Beginning:
    """The first ``lines`` lines of a file: its ``directives``, without comments and empty lines.

    ``searched_beside``: they include what is looked for in the folder of the file.
    """

    lines: int
    directives: str
    searched_beside: bool


def beginnings(text: str) -> list[Beginning]:
    """What ``text`` begins with, up to each ``#include`` outside of conditions before which there
    are directives and comments alone, the shortest first.

    Each is a header by itself. A ``#pragma`` ends the search: some hold to the end of their file.
    """
    results: list[Beginning] = []
    directives: list[str] = []
    depth, beside = 0, False
    for last, code in _logical_lines(text):
        match = _DIRECTIVE.match(code)
        if match is None:
            if code.strip():
                break
            continue
        name = match["name"]
        directives.append(code.strip())
        if name in _OPENS:
            depth += 1
        elif name == "endif":
            depth -= 1
        elif name == "include":
            beside = beside or not code[match.end() :].lstrip().startswith("<")
            if depth == 0:
                results.append(Beginning(last, "\n".join(directives) + "\n", beside))
        elif name not in _HARMLESS:
            break
        if depth < 0:
            break
    return results


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with the lines that continue it, without comments, and the number of the last.

    One in which a comment begins that a later line ends goes on to there.
    """
    pending, in_comment = "", False
    for number, ended in enumerate(text.split("\n"), start=1):
        line = ended.removesuffix("\r")
        continued = line.endswith("\\")
        code, in_comment = _without_comments(line.removesuffix("\\"), in_comment)
        pending += code
        if not continued and not in_comment:
            yield number, pending
            pending = ""


def _without_comments(line: str, in_comment: bool) -> tuple[str, bool]:
    """``line`` with a space for each comment, and whether one goes on after it."""
    kept = ""
    while line:
        if in_comment:
            _, end, line = line.partition("*/")
            if not end:
                return kept, True
            in_comment = False
            kept += " "
            continue
        match = _TOKEN.match(line)
        assert match is not None
        token, line = match[0], line[match.end() :]
        if token == "//":
            return kept, False
        if token == "/*":
            in_comment = True
        else:
            kept += token
    return kept, in_comment
