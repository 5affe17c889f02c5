"""The source line of each instruction, from assembly that was made with line tables.

Line tables do not change the code that compilers generate, so that the lines found here are also
those of the listing without them: the n-th instruction of a function is the same one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from cass_ray.assembly import rdna3
from cass_ray.assembly.rdna3 import Rdna3LineKind

_SECTION = re.compile(r"^[ \t]*\.section[ \t]+\.text\.([^\s,]+)")
_LINE_NOTE = re.compile(r'//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')
_INSTRUCTION = re.compile(r"^[ \t]*/\*[0-9a-f]{4,}\*/")
_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+(?:"[^"]*"[ \t]+)?"([^"]*)"')
_LOC = re.compile(r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)")
_INLINED_AT = re.compile(r"(?<=@\[ )([^\]\[]*?):(\d+):\d+")

Lines = dict[str, list[int]]
"""Mangled name of a function -> line of each of its instructions in the file asked for; 0: none."""


def sass_lines(listing: str, filename: str) -> Lines:
    """Lines from ``nvdisasm -c -gi``, which notes a line before the instructions that it made.

    Of code inlined from another file, the line of ``filename`` that the call stands in.
    """
    result: Lines = {}
    current: list[int] = []
    line, noting = 0, False
    for text in listing.splitlines():
        if match := _SECTION.match(text):
            current = result.setdefault(match[1], [])
            line = 0
        elif match := _LINE_NOTE.search(text):
            # Several in a row go from the inlined code out to its callers.
            line = line if noting else 0
            noting = True
            places = ((match[1], match[2]), (match[3], match[4]))
            line = line or _first_in(filename, places)
        elif _INSTRUCTION.match(text):
            noting = False
            current.append(line)
    return result


def rdna3_lines(assembly: str, filename: str) -> Lines:
    """Lines from the ``.loc`` directives of clang's ``-gline-tables-only``.

    Of code inlined from another file, the line of ``filename`` that the call stands in, which clang
    says from version 20 on; before, none.
    """
    module = rdna3.parse(assembly)
    files: dict[str, str] = {}
    at: list[int] = []
    line = 0
    for each in module.lines:
        if match := _FILE.match(each.text):
            files[match[1]] = match[2]
        elif match := _LOC.match(each.text):
            places = [(files.get(match[1], ""), match[2]), *_INLINED_AT.findall(each.text)]
            line = _first_in(filename, places)
        at.append(line)
    return {
        name: [at[i] for i in function.lines if module.lines[i].kind is Rdna3LineKind.INSTRUCTION]
        for name, function in module.functions.items()
    }


def _first_in(filename: str, places: Iterable[tuple[str | None, str | None]]) -> int:
    for file, line in places:
        if file and line and PurePosixPath(file).name == filename:
            return int(line)
    return 0


def instructions_by_line(lines: Mapping[str, list[int]]) -> dict[int, list[tuple[str, int]]]:
    """Line -> the instructions that it made, as function and position in it."""
    result: dict[int, list[tuple[str, int]]] = {}
    for name, numbers in lines.items():
        for position, number in enumerate(numbers):
            if number:
                result.setdefault(number, []).append((name, position))
    return result
