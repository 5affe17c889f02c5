"""Host functions that device code names and nvcc lets pass, made callable on the device for clang.

nvcc looks at the calls of functions that become code. clang looks at all: a ``__device__`` function
that nothing calls may not call ``template <class T> void ignore(const T&) {}``. Where clang says
no more than that, the functions that it names get ``__host__ __device__`` and the unit is compiled
again. A unit comes here after nvcc has accepted it, so that none of them becomes code which nvcc
did not have. The program's file stays as it is: headers of its tree are replaced for compilers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cass_ray.toolchain.sandbox.isolation import Mount, private_folder
from cass_ray.toolchain.unit import Unit, escapes

_ATTRIBUTES = "__host__ __device__ "
_ERROR = re.compile(r"^\S.*?: (?:fatal )?error: (?P<said>.*)$", re.MULTILINE)
_WRONG_SIDE = re.compile(
    r"no matching (?:function for call|member function for call|constructor for init)"
    r"|reference to __host__ (?:function|constructor|destructor) |too many errors emitted"
)
NAMED = re.compile(
    r"^(?P<path>[^/:\n][^:\n]*):(?P<line>\d+):(?P<column>\d+): note: (?:candidate .*not viable: "
    r"call to __host__ function from __(?:device|global)__ function|'[^\n]*' declared here)",
    re.MULTILINE,
)
_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_BEFORE = re.compile(r"[;{}]|\b(?:public|private|protected)\s*:(?!:)|\x01")
_TEMPLATE = re.compile(r"\s*template\s*(?=<)")


@contextmanager
def replaced_files(unit: Unit, tree: Path) -> Iterator[list[Mount]]:
    """Mounts that show compilers, for whom ``unit`` is in ``tree``, the files that are replaced."""
    if not unit.replaced:
        yield []
        return
    with private_folder() as folder:
        mounts = []
        for number, (path, text) in enumerate(unit.replaced):
            file = folder / str(number)
            file.write_text(text, "utf-8", "surrogateescape", newline="")
            mounts.append(Mount(file, tree / path))
        yield mounts


def more_callable(unit: Unit, stderr: str) -> Unit | None:
    """``unit`` with the functions callable that ``stderr`` names; None where it says more."""
    errors = [match["said"] for match in _ERROR.finditer(stderr)]
    if not errors or not all(_WRONG_SIDE.match(said) for said in errors):
        return None
    places: dict[str, set[tuple[int, int]]] = {}
    for match in NAMED.finditer(stderr):
        place = int(match["line"]), int(match["column"])
        places.setdefault(match["path"].removeprefix("./"), set()).add(place)
    texts = dict(unit.replaced)
    changed = False
    for path, lines in places.items():
        if path == str(unit.main) or escapes(path):
            continue
        text = texts.get(path)
        if text is None:
            file = unit.root / path
            if file.is_symlink() or not file.is_file():
                continue
            text = file.read_text("utf-8", "surrogateescape")
        text_for_device = made_callable(text, lines)
        if text_for_device != text:
            texts[path], changed = text_for_device, True
    return replace(unit, replaced=tuple(sorted(texts.items()))) if changed else None


def made_callable(text: str, places: set[tuple[int, int]]) -> str:
    """``text`` with attributes before the declarations whose names are at (line, column), from 1.

    Names in macros' definitions, and declarations that have them, are left as they are.
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    code = _OPAQUE.sub(_blank, text)
    at = set()
    for row, column in places:
        if row >= len(starts):
            continue
        offset = starts[row - 1] + column - 1
        if offset < len(code) and code[offset] not in "\x01 \n":
            at.add(_declaration(code, offset))
    for start in sorted(at, reverse=True):
        if not code.startswith(_ATTRIBUTES.split()[0], start):
            text = text[:start] + _ATTRIBUTES + text[start:]
    return text


def _declaration(code: str, name: int) -> int:
    """Where the declaration begins whose name is at ``name``, behind ``template <…>``."""
    start = 0
    for match in _BEFORE.finditer(code, 0, name):
        start = match.end()
    while (header := _TEMPLATE.match(code, start)) is not None:
        depth, start = 0, header.end()
        while start < name:
            depth += {"<": 1, ">": -1}.get(code[start], 0)
            start += 1
            if depth == 0:
                break
    while start < name and code[start].isspace():
        start += 1
    return start


def _blank(match: re.Match[str]) -> str:
    """As many characters; of a directive such that a declaration begins behind it."""
    text = match[0]
    is_directive = text.lstrip(" \t").startswith("#")
    return "".join("\n" if each == "\n" else "\x01" if is_directive else " " for each in text)
