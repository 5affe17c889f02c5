"""Runs CMake (``run_cmake.py cmake -S . …``), again past what stops it. A command that no file of
the project and no module that is here defines gets a definition; another statement of the project's
files that ends in an error is taken out of them.

A package that is missing may define commands: ``pybind11_add_module``. Where a file of the tree or
of a dependency defines one, that file is read: what would have included it is missing. Else what
ends in ``module``, ``library`` or ``executable`` adds a library of the sources among its arguments;
others do nothing. ``lenient.cmake`` reads the definitions. Standard library alone.
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
_INCOMPLETE = "Configuring incomplete"
_ERROR = re.compile(r"^CMake Error at (\S+):(\d+) \((\w+)\):.*?(?=^CMake |\Z)", re.M | re.S)
_NO_COMPILER = re.compile(
    r"CMake Error at (\S+):(\d+) \((project|enable_language)\):\s+No CMAKE_(\w+)_COMPILER"
)
_NEEDED = ("C", "CXX", "CUDA")
_FRAME = re.compile(r"^  (\S+):(\d+) \((\w+)\)$", re.MULTILINE)
_STRUCTURE = re.compile(
    r"(?:end|else)?(?:if|foreach|while|function|macro|block)|else|project|return|"
    r"cmake_minimum_required",
    re.IGNORECASE,
)
_MOST = 40
_TEXT_CHARACTERS = 1 << 20
_DEFINES = re.compile(r"^[ \t]*(?:function|macro)[ \t]*\([ \t\n]*([\w-]+)", re.MULTILINE | re.I)
_MINIMUM = re.compile(r"^[ \t]*cmake_minimum_required[ \t]*\([^()]*\)[^\n]*\n", re.MULTILINE | re.I)
_READ = 'include("${CMAKE_SOURCE_DIR}/' + DEFINITIONS + '" OPTIONAL)\n'
_WORDS = re.compile(r"\[(=*)\[.*?\]\1\]|\"(?:\\.|[^\"\\])*\"|\\.|#[^\n]*|[()]", re.DOTALL)
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
    tried: set[str] = set()
    files: dict[str, str] = {}
    for _ in range(_MOST):
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        if _INCOMPLETE not in done.stdout:
            break
        removed = [*without_languages(done.stderr), *take_out(done.stderr)]
        unknown = sorted(set(_UNKNOWN.findall(done.stderr)))
        if unknown and not files:
            read_definitions_early()
            files = dict(reversed(list(defining_files(os.getcwd()))))
        texts = {definition(name, files) for name in unknown}
        if texts <= tried:  # what a file was to define and did not
            texts = {definition(name, {}) for name in unknown}
        if not removed and texts <= tried:
            break
        with open(DEFINITIONS, "a", encoding="utf-8") as file:
            file.writelines(sorted(texts - tried))
        tried |= texts
        print("not here, passed over:", ", ".join([*unknown, *removed]), flush=True)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


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


def without_languages(messages: str) -> Iterator[str]:
    """Take the languages out of ``project(…)`` that have no compiler here."""
    for path, line, command, language in _NO_COMPILER.findall(messages):
        before, statement, after = statement_at(path, int(line), command)
        shorter = re.sub(rf"(?<=[\s(\"]){language}(?=[\s)\"])", "", statement)
        if language not in _NEEDED and shorter != statement:
            write(path, before + shorter + after)
            yield f"the language {language}"


def take_out(messages: str) -> Iterator[str]:
    """Take the statements out that errors in ``messages`` name, those of the tree's own files; what
    they were and where. Lines stay where they are."""
    for error in _ERROR.finditer(messages):
        if _UNKNOWN.search(error[0]):
            continue
        frames = [(error[1], error[2], error[3]), *_FRAME.findall(error[0])]
        for path, line, command in frames:
            if not _STRUCTURE.fullmatch(command) and without_statement(path, int(line), command):
                yield f"{command} at {path}:{line}"
                break


def without_statement(path: str, line: int, command: str) -> bool:
    """Blank the statement ``command(…)`` that begins at ``line``; False where there is none."""
    before, statement, after = statement_at(path, line, command)
    blank = re.sub(r"[^\n]", " ", statement)
    return bool(statement) and write(path, before + blank + after)


def statement_at(path: str, line: int, command: str) -> tuple[str, str, str]:
    """The text before the statement ``command(…)`` that begins at ``line`` of a file of the tree,
    the statement, and the text after it; three times nothing where there is none."""
    inside = os.path.realpath(path).startswith(os.path.realpath(".") + os.sep)
    lines = read(path).splitlines(keepends=True) if inside and DEFINITIONS not in path else []
    rest = "".join(lines[line - 1 :])
    begin = re.match(rf"[ \t]*{re.escape(command)}[ \t]*\(", rest, re.IGNORECASE)
    if begin is None:
        return "", "", ""
    depth, at = 1, begin.end()
    for word in _WORDS.finditer(rest, begin.end()):
        depth += {"(": 1, ")": -1}.get(word[0], 0)
        at = word.end()
        if depth == 0:
            break
    return "".join(lines[: line - 1]), rest[:at], rest[at:]


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_TEXT_CHARACTERS)
    except OSError:
        return ""


def write(path: str, text: str) -> bool:
    if not os.path.isfile(path) or len(text) >= _TEXT_CHARACTERS:
        return False
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
