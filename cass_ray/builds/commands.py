"""A compiler's command line, read: source, include folders, definitions, language."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

_INCLUDES = ("-I", "-isystem", "-iquote", "-idirafter", "--include-path", "--system-include")
_DEFINES = ("-D", "--define-macro")
_UNDEFINES = ("-U", "--undefine-macro")
_FORCED = ("-include", "--pre-include")
_STANDARD = ("-std", "--std")
_PASSED_ON = ("-Xcompiler", "--compiler-options")
_WITH_VALUE = frozenset(
    {"-o", "--output-file", "-MF", "-MT", "-MQ", "-x", "-gencode", "--generate-code", "-arch",
     "-code", "-ccbin", "--compiler-bindir", "-Xptxas", "-Xlinker", "-Xnvlink", "-L", "-l",
     "-maxrregcount", "--maxrregcount", "-odir", "-rdc", "-Xfatbin", "-Xcudafe", "-diag-suppress",
     "--diag-suppress", "-t", "--threads", "-cudart", "-m"}
)  # fmt: skip
_LANGUAGE = ("--expt-", "-expt-", "--extended-lambda", "-extended-lambda", "--default-stream",
             "-rdc", "--relocatable-device-code", "--use_fast_math", "-use_fast_math",
             "-fopenmp")  # fmt: skip
_CUDA_SUFFIX = ".cu"
_MAXIMUM_COMMANDS = 50_000


class Recorded(BaseModel):
    """A line of a record."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    compiler: str
    directory: str
    arguments: list[str]
    sources: list[str]


class UnitCommand(BaseModel):
    """How a project compiles one source. Paths are relative to its root, and inside.

    ``include_directories`` in order; those outside the tree are the system's and left out.
    ``definitions`` are ``NAME`` or ``NAME=VALUE``; ``forced`` are headers put before the source.
    ``options`` are those of the language that may change what a program means.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    compiler: str
    include_directories: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    standard: str = ""
    options: tuple[str, ...] = ()


def read_record(text: str, root: str) -> dict[str, UnitCommand]:
    """The commands of a record, by source; of several for one source nvcc's, then the first.

    ``root`` is where the project lay. Lines that are not understood are left out: what wrote them
    ran beside a stranger's build.
    """
    found: dict[str, UnitCommand] = {}
    for line in text.splitlines()[:_MAXIMUM_COMMANDS]:
        try:
            recorded = Recorded.model_validate_json(line)
        except ValidationError:
            continue
        for unit in units_of(recorded, root):
            _add(found, unit)
    return found


def read_compile_commands(text: str, exists: Callable[[str], bool]) -> dict[str, UnitCommand]:
    """The units of a ``compile_commands.json`` that was written on some machine.

    Its paths are of that machine: the project's root is what is left of a source's path when the
    end that ``exists`` in the tree is taken off.
    """
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, UnitCommand] = {}
    root: str | None = None
    for entry in entries[:_MAXIMUM_COMMANDS] if isinstance(entries, list) else ():
        recorded = _entry(entry)
        if recorded is None:
            continue
        if root is None:
            root = _root(posixpath.join(recorded.directory, recorded.sources[0]), exists)
        for unit in units_of(recorded, root) if root is not None else ():
            _add(found, unit)
    return found


def _entry(entry: Any) -> Recorded | None:
    try:
        words = entry.get("arguments") or shlex.split(entry.get("command", ""))
        return Recorded(
            compiler=posixpath.basename(words[0]),
            directory=entry["directory"],
            arguments=words[1:],
            sources=[entry["file"]],
        )
    except (AttributeError, KeyError, IndexError, ValueError, TypeError):
        return None


def _root(path: str, exists: Callable[[str], bool]) -> str | None:
    parts = posixpath.normpath(path).split("/")
    for start in range(1, len(parts)):
        if exists("/".join(parts[start:])):
            return "/".join(parts[:start]) or "/"
    return None


def _add(found: dict[str, UnitCommand], unit: UnitCommand) -> None:
    known = found.get(unit.source)
    if known is None or (_is_nvcc(unit.compiler) and not _is_nvcc(known.compiler)):
        found[unit.source] = unit


def _is_nvcc(compiler: str) -> bool:
    return compiler.startswith("nvcc")


_NO_ABI = "_GLIBCXX_USE_CXX11_ABI="
"""A project that asks an installed PyTorch for this number in vain defines it empty, and libstdc++
compares it. Its default is that of PyTorch's wheels."""


def units_of(recorded: Recorded, root: str) -> Iterator[UnitCommand]:
    """A unit for each source of a command that lies in the tree at ``root``."""
    words = _words(recorded.arguments)
    includes, definitions, forced, options = [], dict[str, str](), [], []
    standard = ""
    for option, value in words:
        if option in _INCLUDES:
            folder = _inside(recorded.directory, value, root)
            if folder is not None:
                includes.append(folder)
        elif option in _DEFINES:
            if value != _NO_ABI:
                definitions[value.partition("=")[0]] = value
        elif option in _UNDEFINES:
            definitions.pop(value, None)
        elif option in _FORCED:
            forced.append(value)
        elif option in _STANDARD:
            standard = value
        elif option.startswith(_LANGUAGE):
            options.append(f"{option}={value}" if value else option)
    for source in recorded.sources:
        path = _inside(recorded.directory, source, root)
        if path is not None and path != ".":
            yield UnitCommand(
                source=path,
                compiler=recorded.compiler,
                include_directories=tuple(dict.fromkeys(includes)),
                definitions=tuple(definitions.values()),
                forced=tuple(_forced(recorded.directory, forced, root)),
                standard=standard,
                options=tuple(dict.fromkeys(options)),
            )


def _forced(directory: str, names: Sequence[str], root: str) -> Iterator[str]:
    """Forced headers: of the tree by their path, others by their name."""
    for name in names:
        yield _inside(directory, name, root) or name if "/" in name else name


def _words(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(option, value) pairs; what is passed on to the host compiler is read as well."""
    words = iter(arguments)
    for word in words:
        if word in _PASSED_ON or word.startswith(tuple(f"{each}=" for each in _PASSED_ON)):
            value = word.partition("=")[2] or next(words, "")
            yield from _words(value.replace(",", " ").split())
            continue
        yield _option(word, words)


def _option(word: str, words: Iterator[str]) -> tuple[str, str]:
    if word in (*_INCLUDES, *_DEFINES, *_UNDEFINES, *_FORCED, *_STANDARD):
        value = next(words, "")
        if word in _INCLUDES and value.startswith("-"):  # `-I$(UNSET) -I$(SET)`
            return _option(value, words)
        return word, value
    for option in (*_INCLUDES, *_DEFINES, *_UNDEFINES, *_STANDARD):
        if word.startswith(option) and not (option == "-I" and word == "-I-"):
            return option, word[len(option) :].removeprefix("=" if len(option) > 2 else "")
    if word in _WITH_VALUE:
        next(words, "")
        return word, ""
    return word, ""


def _inside(directory: str, path: str, root: str) -> str | None:
    """``path`` relative to ``root``, None outside."""
    joined = posixpath.normpath(posixpath.join(directory, path))
    base = posixpath.normpath(root)
    if joined == base:
        return "."
    return joined[len(base) + 1 :] if joined.startswith(base + "/") else None


def newer_standard(written: str) -> str:
    """``c++20`` of ``c++20``, ``gnu++20``, ``c++2a`` and newer; empty for C++17, older and none.

    What is older is compiled as C++17, which the headers of CUDA 13's and ROCm's libraries need.
    """
    found = re.fullmatch(r"(?:c|gnu)\+\+(\w\w)", written.lower())
    names = dict.fromkeys(("20", "2a", "23", "2b"), "c++20")  # nvcc 13.0 has none that is newer
    return names.get(found[1], "") if found else ""


def is_cuda(unit: UnitCommand) -> bool:
    """Whether a unit is compiled as CUDA."""
    return _is_nvcc(unit.compiler) or unit.source.endswith(_CUDA_SUFFIX)
