"""Runs CMake (``run_cmake.py cmake -S . …``), again past what stops it: a command that no file of
the project and no module that is here defines gets a definition; a file that is included and not
here is left out.

A package that is missing may define commands: ``pybind11_add_module``. Where a file of the tree or
of a dependency defines one, that file is read: what would have included it is missing. Else what
ends in ``module``, ``library`` or ``executable`` adds a library of the sources among its arguments;
others do nothing. ``lenient.cmake`` reads the definitions, and passes over what is included and not
here once it is read: the first ``project()`` reads it. Standard library alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

DEFINITIONS = ".cass-commands.cmake"
DEPENDENCIES = ".cass-dependencies"
LISTS = "CMakeLists.txt"
_UNKNOWN = re.compile(r"Unknown CMake command\s+\"([\w-]+)\"")
_NOT_INCLUDED = re.compile(
    r"CMake Error at (\S+):(\d+) \(include\):\s+include could not find requested file:\s+(\S+)"
)
_MOST = 24
_TEXT_CHARACTERS = 1 << 20
_DEFINES = re.compile(r"^[ \t]*(?:function|macro)[ \t]*\([ \t\n]*([\w-]+)", re.MULTILINE | re.I)
_MINIMUM = re.compile(r"^[ \t]*cmake_minimum_required[ \t]*\([^()]*\)[^\n]*\n", re.MULTILINE | re.I)
_INCLUDE = re.compile(r"(\binclude[ \t]*\(\s*(?:\"[^\"\n]*\"|[^\s()]+))\s*\)", re.IGNORECASE)
_READ = 'include("${CMAKE_SOURCE_DIR}/' + DEFINITIONS + '" OPTIONAL)\n'
_ADDS = re.compile(r"(?:module|library|executable|lib)s?$", re.IGNORECASE)
_LIBRARY = """function({name} _cass_target)
  set(_cass_words ${{ARGN}})
  list(FILTER _cass_words INCLUDE REGEX "\\\\.(cu|cc|cpp|cxx|c)$")
  if(_cass_words AND NOT TARGET ${{_cass_target}})
    add_library(${{_cass_target}} STATIC ${{_cass_words}})
  endif()
endfunction()
"""
_NOTHING = "macro({name})\nendmacro()\n"


def main(command: list[str]) -> int:
    """CMake's exit status in the end."""
    open(DEFINITIONS, "w", encoding="utf-8").close()
    tried: set[tuple[str, str]] = set()
    files: dict[str, str] = {}
    while True:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        unknown = sorted(set(_UNKNOWN.findall(done.stderr)))
        left_out = {(path, line) for path, line, _ in _NOT_INCLUDED.findall(done.stderr)} - tried
        for path, line in left_out:
            leave_out(path, int(line))
        if unknown and not files:
            read_definitions_early()
            files = dict(reversed(list(defining_files(os.getcwd()))))
        texts = {(name, definition(name, files)) for name in unknown}
        # What a file was to define and did not: a definition of ours in its place.
        texts = {
            each if each not in tried else (each[0], definition(each[0], {})) for each in texts
        }
        new = (texts | left_out) - tried
        if not new or len(tried) >= _MOST:
            sys.stdout.write(done.stdout)
            sys.stderr.write(done.stderr)
            return done.returncode
        tried |= new
        with open(DEFINITIONS, "a", encoding="utf-8") as file:
            file.writelines(text for _, text in sorted(texts & new))
        names = [name for _, _, name in _NOT_INCLUDED.findall(done.stderr)]
        print("not here, passed over:", " ".join([*unknown, *names]))


def definition(name: str, files: dict[str, str]) -> str:
    """CMake's text of a command ``name``; ``files`` define commands, by their names."""
    if path := files.get(name.lower()):
        return f"include([====[{path}]====])\n"
    return (_LIBRARY if _ADDS.search(name) else _NOTHING).format(name=name)


def defining_files(root: str) -> Iterator[tuple[str, str]]:
    """Names of commands in lower case, each with a ``.cmake`` file below ``root`` that defines it;
    those of dependencies, which the build would have included, come first."""
    places = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".cmake") and "cass-build" not in folder
    ]
    for path in sorted(places, key=lambda each: (DEPENDENCIES not in each, each.count("/"), each)):
        for match in _DEFINES.finditer(read(path)):
            yield match[1].lower(), path


def read_definitions_early() -> None:
    """Let the project read the definitions before its first command that is not CMake's own."""
    text = read(LISTS)
    if _READ not in text and (found := _MINIMUM.search(text)) is not None:
        write(LISTS, text[: found.end()] + _READ + text[found.end() :])


def leave_out(path: str, line: int) -> None:
    """Make the ``include`` at ``line`` of a file one of what need not be there."""
    lines = read(path).splitlines(keepends=True)
    rest = "".join(lines[line - 1 :])
    write(path, "".join(lines[: line - 1]) + _INCLUDE.sub(r"\1 OPTIONAL)", rest, count=1))


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_TEXT_CHARACTERS)
    except OSError:
        return ""


def write(path: str, text: str) -> None:
    if os.path.isfile(path) and len(text) < _TEXT_CHARACTERS:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
