"""How a project compiles CUDA, as far as the texts of its build files say.

A CUDA file of which no command is known was compiled with the macros by which a build says that
there is CUDA, wherever it was compiled: ``-DHAVE_CUDA=1`` of a Makefile,
``add_definitions(-DUSE_GPU)``; and as the C++ that the build names.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from cass_ray.builds.commands import newer_standard
from cass_ray.corpus.reading.filetree import FileTree, read_text

_BUILD_FILES = re.compile(
    r"(?:CMakeLists\.txt|(?:GNU)?[Mm]akefile(?:\.\w+)?|.*\.(?:cmake|mk|am)"
    r"|meson\.build|setup\.py)\Z"
)
_BUILDS_EXTENSIONS = "torch.utils.cpp_extension"
"""In a Python file that compiles, whatever its name."""
_NAME = (
    r"(?:[A-Z][A-Z0-9]*_)?(?:(?:HAVE|USE|WITH|ENABLE|HAS)_?)?_?(?:CUDA|GPU)"
    r"(?:_(?:AVAILABLE|ENABLED|FOUND|SUPPORT))?"
)
_GIVEN = re.compile(rf"(?<![\w-])[-/]D[ \t]*({_NAME})(?:=(\w+))?(?![\w=])")
_OF_CMAKE = re.compile(
    r"\b(?:add_definitions|add_compile_definitions|target_compile_definitions)\s*\(([^()]{0,2000})\)",
    re.IGNORECASE,
)
_WORD = re.compile(rf"(?<![\w-])({_NAME})(?:=(\w+))?(?![\w=])")
_GENERATOR_CONDITION = re.compile(r"\$<[A-Z_]+:[^<>]*>")
"""``$<COMPILE_LANGUAGE:CUDA>`` names a language."""
_NEGATED = re.compile(r"^(?:NO|NOT|DISABLE|WITHOUT)_|_(?:NO|NOT|DISABLE|WITHOUT)_")
_NO_MACROS = frozenset({"0", "ON", "OFF", "TRUE", "FALSE", "YES", "NO"})
"""CUDA off; values of CMake's options, which a build file gives to another build."""
_CMAKE_PREFIX = re.compile(r"\bCMAKE_(?=(?:CUDA|CXX)_STANDARD\b)")
_STANDARDS = (
    re.compile(r"\bCUDA_STANDARD[ \t\n]+\"?(\d\w)\b|\bcuda_std_(\d\w)\b"),
    re.compile(
        r"\bCXX_STANDARD[ \t\n]+\"?(\d\w)\b|\bcxx_std_(\d\w)\b"
        r"|(?:[-/]std[=:]|cpp_std=)(?:c|gnu)\+\+(\d\w)\b"
    ),
)
"""CMake's properties, of which CUDA's own go first, and compilers' options."""
_BYTES = 1 << 20


def build_texts(tree: FileTree) -> Iterator[str]:
    """The texts of the build files of ``tree``."""
    for listed in tree.walk():
        if listed.problem is not None or listed.is_repository:
            continue
        name = posixpath.basename(listed.path)
        is_build_file = _BUILD_FILES.match(name)
        if is_build_file or name.endswith(".py"):
            text = read_text(tree, listed.path, _BYTES)
            if is_build_file or _BUILDS_EXTENSIONS in text:
                yield text


def stated_standards(texts: Iterable[str]) -> tuple[str, str]:
    """The C++ that build files ask for in CUDA files, and the one for files without a command:
    ``c++20`` for it or a newer one; else empty, which is C++17. The second is the first where
    build files say something of CUDA."""
    texts = [_CMAKE_PREFIX.sub("", text) for text in texts]
    for_cuda, for_all = (
        [newer_standard(f"c++{year}") for text in texts for match in pattern.findall(text)
         for year in match if year]
        for pattern in _STANDARDS
    )  # fmt: skip
    return max(for_cuda, default=""), max(for_cuda or for_all, default="")


def cuda_switches(texts: Iterable[str]) -> tuple[str, ...]:
    """``NAME`` or ``NAME=VALUE`` of each in the texts of build files, by name."""
    found: dict[str, str] = {}
    for text in texts:
        matches = [*_GIVEN.finditer(text)]
        for call in _OF_CMAKE.finditer(text):
            matches += _WORD.finditer(_GENERATOR_CONDITION.sub("", call[1]))
        for macro, value in (match.groups("") for match in matches):
            if not _NEGATED.search(macro) and value.upper() not in _NO_MACROS:
                found.setdefault(macro, f"{macro}={value}" if value else macro)
    return tuple(found[macro] for macro in sorted(found))
