"""The macros by which a project's build says that there is CUDA.

A CUDA file of which no command is known was compiled with them on, wherever it was compiled:
``-DHAVE_CUDA=1`` of a Makefile, ``add_definitions(-DUSE_GPU)``.
"""

from __future__ import annotations

import posixpath
import re

from cass_ray.corpus.reading.filetree import FileProblemError, FileTree

_BUILD_FILES = re.compile(
    r"(?:CMakeLists\.txt|(?:GNU)?[Mm]akefile(?:\.\w+)?|.*\.(?:cmake|mk|am))\Z"
)
_NAME = r"(?:[A-Z][A-Z0-9]*_)?(?:(?:HAVE|USE|WITH|ENABLE|HAS)_?)?_?(?:CUDA|GPU)"
_GIVEN = re.compile(rf"(?<![\w-])[-/]D[ \t]*({_NAME})(?:=(\w+))?(?![\w=])")
_OF_CMAKE = re.compile(
    r"\b(?:add_definitions|add_compile_definitions|target_compile_definitions)\s*\(([^()]{0,2000})\)",
    re.IGNORECASE,
)
_WORD = re.compile(rf"(?<![\w-])({_NAME})(?:=(\w+))?(?![\w=])")
_NEGATED = re.compile(r"^(?:NO|NOT|DISABLE|WITHOUT)_|_(?:NO|NOT|DISABLE|WITHOUT)_")
_NO_MACROS = frozenset({"0", "ON", "OFF", "TRUE", "FALSE", "YES", "NO"})
"""CUDA off; values of CMake's options, which a build file gives to another build."""
_BYTES = 1 << 20


def cuda_switches(tree: FileTree) -> tuple[str, ...]:
    """``NAME`` or ``NAME=VALUE`` of each, by name."""
    found: dict[str, str] = {}
    for listed in tree.walk():
        name = posixpath.basename(listed.path)
        if listed.problem is not None or listed.is_repository or not _BUILD_FILES.match(name):
            continue
        text = _text(tree, listed.path)
        matches = [*_GIVEN.finditer(text)]
        for call in _OF_CMAKE.finditer(text):
            matches += _WORD.finditer(call[1])
        for macro, value in (match.groups("") for match in matches):
            if not _NEGATED.search(macro) and value.upper() not in _NO_MACROS:
                found.setdefault(macro, f"{macro}={value}" if value else macro)
    return tuple(found[macro] for macro in sorted(found))


def _text(tree: FileTree, path: str) -> str:
    try:
        if tree.size(path) > _BYTES:
            return ""
        return tree.read(path).decode("utf-8", "replace")
    except FileProblemError:
        return ""
