"""Build files for both vendors: CUDA's text and HIP's, between which a variable chooses.

``cmake -DUSE_HIP=ON`` and ``make HIP=1`` build for AMD; without them the build is as it was. What
the translation of a build file changed stands beside what it was, in an ``if`` of CMake or an
``ifeq`` of make around whole commands, rules' lines and blocks. Files of other build systems are
not shared: there HIP's text stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from cass_ray.translate.project.build_text import commands
from cass_ray.translate.project.hunks import Bound, TextUnit, ended, hunks, opcodes
from cass_ray.translate.project.templates import made_from

_CMAKE_VARIABLE, _MAKE_VARIABLE = "USE_HIP", "HIP"
_TAKEN = "CASS_HIP"
"""Where a project has a variable of that name itself."""
_CMAKE_BOUNDS = {
    **dict.fromkeys(("if", "foreach", "while", "function", "macro", "block"), Bound.OPENS),
    **dict.fromkeys(("else", "elseif"), Bound.DIVIDES),
    **dict.fromkeys(
        ("endif", "endforeach", "endwhile", "endfunction", "endmacro", "endblock"), Bound.CLOSES
    ),
}
_MAKE_BOUNDS = {
    **dict.fromkeys(("ifeq", "ifneq", "ifdef", "ifndef"), Bound.OPENS),
    "else": Bound.DIVIDES,
    "endif": Bound.CLOSES,
}
_MAKE_WORD = re.compile(r" *(?:override +|export +)*(\w+)")
_MAKEFILE = re.compile(r"(?:gnu)?makefile(?:\.(?!am$|in$).+)?|.+\.(?:mk|mak|make)", re.IGNORECASE)
"""Not those of which Autotools make others: ``automake`` knows no ``ifeq``."""
_CMAKE_COMMAND = re.compile(r"(?<![\w./-])cmake(?=\s+(?!-E\b|-P\b|--build\b|--install\b)\S)")
_MAKE_COMMAND = re.compile(r"(?<![\w./-])g?make(?=\s|$)")


class _Kind(Enum):
    CMAKE = "cmake"
    MAKE = "make"


@dataclass(frozen=True)
class VendorSwitch:
    """The variables that choose HIP; empty where no file of that kind is shared."""

    cmake: str = ""
    make: str = ""

    def without(self, command: str) -> str:
        """``command`` as it is for CUDA."""
        for name, value in ((f"-D{self.cmake}", "ON"), (self.make, "1")):
            if name not in ("-D", ""):
                pattern = rf"\s+{re.escape(name)}(?::BOOL)?={value}(?!\S)"
                command = re.sub(pattern, "", command)
        return command

    def applied(self, command: str) -> str:
        """``command`` of a shell, which calls CMake or make, for AMD."""
        if self.cmake and f"-D{self.cmake}=" not in command:
            command = _CMAKE_COMMAND.sub(f"cmake -D{self.cmake}=ON", command)
        if self.make and f"{self.make}=1" not in command:
            command = _MAKE_COMMAND.sub(rf"\g<0> {self.make}=1", command)
        return command


def switch_of(texts: Mapping[str, tuple[str, str]]) -> VendorSwitch:
    """The switch of a project whose files have these paths, with their text and its translation."""
    names = {kind: _variable(kind, texts) for kind in _Kind if _changed(kind, texts)}
    return VendorSwitch(names.get(_Kind.CMAKE, ""), names.get(_Kind.MAKE, ""))


def is_build_file(path: str) -> bool:
    """Whether the file is one that :func:`share_build_file` knows."""
    return _kind_of(path) is not None


def share_build_file(path: str, cuda: str, hip: str, switch: VendorSwitch) -> str:
    """One text of a build file of CMake or make and its translation.

    Raises :class:`~cass_ray.translate.project.hunks.SharedError` where a block does not end.
    """
    kind = _kind_of(path)
    cmake = kind is _Kind.CMAKE
    variable = switch.cmake if cmake else switch.make
    newline = "\r\n" if "\r\n" in cuda else "\n"
    condition = f"if({variable})" if cmake else f"ifeq ($({variable}),1)"
    lines = (condition, "else()" if cmake else "else", "endif()" if cmake else "endif")
    said = _said(path, cmake, variable, newline)
    units = _cmake_units if cmake else _make_units
    before, after = list(units(cuda)), list(units(hip))
    codes = opcodes([unit.text for unit in before], [unit.text for unit in after])
    parts: list[str] = []
    for hunk in hunks(codes, before, after):
        old = ended("".join(unit.text for unit in before[hunk.a : hunk.b]), newline)
        if hunk.same:
            parts.append(old)
            continue
        new = ended("".join(unit.text for unit in after[hunk.c : hunk.d]), newline)
        first = new or old
        indent = first[: len(first) - len(first.lstrip(" \t"))] if cmake else ""
        begin, middle, end = (indent + line + newline for line in lines)
        parts += [said, begin, new, *([middle, old] if old else []), end]
        said = ""
    return "".join(parts)


def _said(path: str, cmake: bool, variable: str, newline: str) -> str:
    """What tells a reader of the project's first build file of the switch."""
    if "/" in path:
        return ""
    if cmake:
        return f'option({variable} "Build for AMD GPUs, with HIP in place of CUDA" OFF){newline}'
    return f"# make {variable}=1 builds for AMD GPUs, with HIP in place of CUDA{newline}"


def _kind_of(path: str) -> _Kind | None:
    made = PurePosixPath(made_from(path)).name
    if made == "CMakeLists.txt" or made.endswith(".cmake"):
        return _Kind.CMAKE
    return _Kind.MAKE if _MAKEFILE.fullmatch(PurePosixPath(path).name) else None


def _changed(kind: _Kind, texts: Mapping[str, tuple[str, str]]) -> bool:
    return any(_kind_of(path) is kind and one != other for path, (one, other) in texts.items())


def _variable(kind: _Kind, texts: Mapping[str, tuple[str, str]]) -> str:
    name = _CMAKE_VARIABLE if kind is _Kind.CMAKE else _MAKE_VARIABLE
    known = (text for path, (text, _) in texts.items() if _kind_of(path) is kind)
    return _TAKEN if any(re.search(rf"\b{name}\b", text) for text in known) else name


def _cmake_units(text: str) -> Iterator[TextUnit]:
    """Lines, those of a command or of a comment together."""
    start = position = 0
    bounds: list[Bound] = []
    for name, begin, end in (*commands(text), ("", len(text), len(text))):
        while cut := text.find("\n", position, begin) + 1:
            yield TextUnit(text[start:cut], bounds=tuple(bounds))
            start, position, bounds = cut, cut, []
        if bound := _CMAKE_BOUNDS.get(name.lower()):
            bounds.append(bound)
        position = end
    if start < len(text):
        yield TextUnit(text[start:], bounds=tuple(bounds))


def _make_units(text: str) -> Iterator[TextUnit]:
    """Lines with those that a backslash joins to them, and whole definitions of several lines: what
    is in these is text, whose conditions are read where it is used."""
    joined, defined = "", 0
    for line in text.splitlines(keepends=True):
        joined += line
        if word := _MAKE_WORD.match(line):
            defined += (word[1] == "define") - (word[1] == "endef" and defined > 0)
        if defined or line.rstrip("\r\n").endswith("\\"):
            continue
        yield _make_unit(joined)
        joined = ""
    if joined:
        yield _make_unit(joined)


def _make_unit(text: str) -> TextUnit:
    word = _MAKE_WORD.match(text)
    bound = _MAKE_BOUNDS.get(word[1]) if word else None
    return TextUnit(text, bounds=(bound,) if bound else ())
