"""Which files a program includes: the scanner of ``#include`` lines and their closure in a tree."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cass_ray.corpus.reading.system_headers import (
    is_standard_header,
    is_system_header,
    standard_headers,
)


class Include(NamedTuple):
    """One ``#include`` line. ``name`` is "" when the operand is a macro (a computed include)."""

    name: str
    quoted: bool
    line: int
    operand: str
    """As written, quotes or angle brackets included."""
    macro: str = ""
    """What a line defines that includes nothing itself: ``#define SETTINGS "settings.h"``."""


_CONTINUATION = r"\\[ \t]*\n"
_GAP = rf"(?:[ \t]|{_CONTINUATION})*+"
_OPERAND = r'"[^"\n]{0,1024}"|<[^>\n]{0,1024}>|\w{1,256}(?:\([^()\n]{0,1024}\))?'
_VALUE = _OPERAND.replace(r"\w{1,256}(", r"[A-Z_][A-Z0-9_]{0,255}\b(")
"""Of a macro that may name a file: with the name of another one in capitals."""
_DEFINES = re.compile(r"\bdefine\b[^\n]{1,999}[\w>\")]")
_SCAN = re.compile(
    rf"""
      //(?:{_CONTINUATION}|[^\n])*+
    | /\*(?s:.*?)(?:\*/|\Z)
    | (?:(?<!\\\n)^|(?<=\*/)){_GAP}(?:\#|%:){_GAP}
      (?:(?P<directive>include_next|include|import|ifdef|ifndef|if|elif\w*|else|endif)\b
      {_GAP}(?P<operand>{_OPERAND})?
      |define\b{_GAP}(?P<macro>\w{{1,256}}){_GAP}(?P<value>{_VALUE})[ \t]*(?=\n|\Z|//|/\*))
    | \bR"(?P<delimiter>[^()\\\s"]{{0,16}})\((?s:.*?)(?:\)(?P=delimiter)"|\Z)
    | "(?:{_CONTINUATION}|\\[^\n]|[^"\\\n])*+"?
    | '(?:{_CONTINUATION}|\\[^\n]|[^'\\\n])*+'?
    | [0-9](?:'?\w)*+
    """,
    re.VERBOSE | re.MULTILINE,
)
_INCLUDES = frozenset({"include", "include_next", "import"})
_FOLDER_OF_A_MACRO = re.compile(r"(?:.*/)?[A-Z_][A-Z0-9_]{2,}/")
"""The beginning of ``<SYSTEM_ROOT/detail/par.h>``: a macro names the folder."""


def scan_includes(source: str) -> list[Include]:
    """The ``#include`` lines of ``source`` in order, outside comments, literals and ``#if 0``.

    Among them are definitions of macros that may name a file. Other conditions are not evaluated:
    an include counts whichever branch it is in.
    """
    if not any(word in source for word in ("include", "import")) and not _DEFINES.search(source):
        return []
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    found: list[Include] = []
    conditions = _Conditions()
    line, counted = 1, 0
    for match in _SCAN.finditer(source):
        directive, macro = match["directive"], match["macro"]
        if directive is None and macro is None:
            continue
        operand = match["operand"] or match["value"] or ""
        if directive is not None and directive not in _INCLUDES:
            conditions.enter(directive, operand)
        elif operand and not conditions.dead:
            start = match.start("value" if macro else "operand")
            line += source.count("\n", counted, start)
            counted = start
            quoted = operand.startswith('"')
            named = quoted or operand.startswith("<")
            name = operand[1:-1].strip() if named else ""
            found.append(Include(name, quoted, line, operand, macro or ""))
    return found


def named_by(operand: str) -> tuple[str, str]:
    """What an operand without quotes or brackets names: a macro, and the text that a macro with an
    argument would make a string of, ``STRING(settings.h)``."""
    macro, _, argument = operand.partition("(")
    return macro, argument.rstrip(")").strip()


class _Conditions:
    """Follows ``#if 0`` and ``#if 1`` only; every other branch counts as taken."""

    def __init__(self) -> None:
        self._stack: list[str] = []

    @property
    def dead(self) -> bool:
        return "dead" in self._stack

    def enter(self, directive: str, operand: str) -> None:
        if directive in ("if", "ifdef", "ifndef"):
            constant = {"0": "dead", "1": "always"} if directive == "if" else {}
            self._stack.append(constant.get(operand, "unknown"))
        elif not self._stack:
            return
        elif directive == "endif":
            self._stack.pop()
        else:
            self._stack[-1] = "dead" if self._stack[-1] == "always" else "unknown"


class IncludeSearch(Protocol):
    """Finds the include directories of a tree (see ``include_paths.IncludePaths``)."""

    def directories(self, path: str) -> Sequence[str]:
        """Directories that the build files or conventions give for the file at ``path``."""
        ...

    def search(self, name: str, includer: str) -> str | None:
        """A directory of the tree under which ``name`` exists, the nearest to ``includer``."""
        ...

    def ending(self, name: str) -> Sequence[str]:
        """All headers of the tree whose path ends with ``name``."""
        ...


@dataclass(frozen=True, slots=True)
class Closure:
    """What a main file includes, followed through every local file."""

    files: tuple[str, ...]
    """Local files reached, without the main file, in order of first visit."""
    directories: tuple[str, ...]
    """Include directories needed to reach them, in search order."""
    system: tuple[str, ...]
    """Names left to the toolchain (``cuda_runtime.h``, ``vector``)."""
    unresolved: tuple[str, ...]
    """Names that no file of the tree has: the toolchain's, other packages' and missing ones."""
    missing: tuple[str, ...]
    """``path:line: operand`` of includes found neither in the tree nor among known headers."""
    computed: tuple[str, ...]
    """``path:line: operand`` of includes named by a macro that no definition is known of."""
    forbidden: tuple[str, ...]
    """``path:line: message`` of includes that are absolute or leave the tree."""

    @property
    def complete(self) -> bool:
        """Whether the main file, ``files`` and the toolchain are all that a compiler needs."""
        return not (self.missing or self.computed or self.forbidden)


def include_closure(
    main: str,
    includes_of: Callable[[str], Sequence[Include] | None],
    is_file: Callable[[str], bool],
    search: IncludeSearch,
    definitions: Sequence[str] = (),
    provided: Callable[[str], bool] = lambda name: False,
    forced: Sequence[str] = (),
) -> Closure:
    """Follow the includes of ``main`` through its tree, as a compiler would.

    Args:
        main: path of the main file.
        includes_of: the includes of a file of the tree; None when it cannot be read.
        is_file: whether a path of the tree is a readable file.
        search: include directories, and the last resort of searching the tree by name.
        definitions: macros of the command line, ``NAME="file.h"``.
        provided: whether a header that the tree lacks comes from elsewhere.
        forced: headers that the command line puts before the file: paths of the tree, or names.

    A quoted name is looked for beside the file that includes it, then in the include
    directories; a name in angle brackets only in the latter. What no directory holds is
    searched for in the whole tree, and the directory found then counts for later includes.
    """
    walk = _ClosureWalk(main, is_file, search, provided)
    walk.visit(main, [item for text in definitions for item in scan_includes(_as_line(text))])
    walk.visit_forced(forced)
    walk.visit(main, includes_of(main) or ())
    position = 0
    walk.visit_named_by_macros()
    while position < len(walk.files):
        path = walk.files[position]
        position += 1
        includes = includes_of(path)
        if includes is not None:
            walk.visit(path, includes)
        if position == len(walk.files):
            walk.visit_named_by_macros()
    return walk.closure()


def _as_line(definition: str) -> str:
    name, _, value = definition.partition("=")
    return f"#define {name} {value}\n"


class _ClosureWalk:
    def __init__(
        self,
        main: str,
        is_file: Callable[[str], bool],
        search: IncludeSearch,
        provided: Callable[[str], bool],
    ) -> None:
        self.main = main
        self.files: list[str] = []
        self._seen = {main}
        self._is_file = is_file
        self._search = search
        self._provided = provided
        self._configured: list[str] | None = None
        self._used: set[str] = set()
        self._system: dict[str, None] = {}
        self._unresolved: dict[str, None] = {}
        self._missing: dict[str, None] = {}
        self._computed: dict[str, None] = {}
        self._forbidden: dict[str, None] = {}
        self._macros: dict[str, list[Include]] = {}
        self._by_macro: list[tuple[str, Include]] = []
        self._resolved: set[int] = set()

    def visit(self, includer: str, includes: Sequence[Include]) -> None:
        for include in includes:
            where = f"{includer}:{include.line}"
            if include.macro:
                self._macros.setdefault(include.macro, []).append(include)
            elif not include.name:
                self._by_macro.append((includer, include))
            elif _is_absolute(include.name):
                self._forbidden[f"{where}: #include {include.operand} is an absolute path"] = None
            else:
                self._visit_name(includer, include, where)

    def visit_forced(self, names: Sequence[str]) -> None:
        for name in names:
            if self._is_file(name):
                self._follow([name])
            elif name not in self._seen:
                self.visit(self.main, [Include(name, False, 0, name)])

    def visit_named_by_macros(self) -> None:
        """Follow what macros name, by whichever definition: conditions are not evaluated.

        Where a macro names a folder, any header with that end may be meant: all are followed, for
        what they need, and the include stays computed."""
        for number, (includer, include) in enumerate(self._by_macro):
            for name, quoted in self._names_of(include.operand, set()):
                found = self._resolve(includer, Include(name, quoted, include.line, name))
                if found is not None or is_system_header(name):
                    self._resolved.add(number)
                folder = _FOLDER_OF_A_MACRO.match(name) if found is None else None
                self._follow(self._search.ending(name[folder.end() :]) if folder else [found])

    def _follow(self, paths: Iterable[str | None]) -> None:
        for path in paths:
            if path is not None and path not in self._seen and self._is_file(path):
                self._seen.add(path)
                self.files.append(path)

    def _names_of(self, operand: str, seen: set[str]) -> Iterator[tuple[str, bool]]:
        """The file names that a macro stands for, each with whether it is quoted."""
        macro, argument = named_by(operand)
        if argument:
            yield argument.strip('"'), True
        if macro in seen:
            return
        for definition in self._macros.get(macro, ()):
            if definition.name:
                yield definition.name, definition.quoted
            else:
                yield from self._names_of(definition.operand, {*seen, macro})

    def _visit_name(self, includer: str, include: Include, where: str) -> None:
        found = self._resolve(includer, include)
        if found is None:
            self._unresolved[include.name] = None
        if found is not None:
            self._follow([found])
        elif is_system_header(include.name) or self._provided(include.name):
            self._system[include.name] = None
        elif _escapes(includer, include.name):
            self._forbidden[f"{where}: #include {include.operand} leaves the source tree"] = None
        elif include.quoted or _looks_local(include.name):
            self._missing[f"{where}: {include.operand}"] = None
        else:
            self._system[include.name] = None

    def _resolve(self, includer: str, include: Include) -> str | None:
        name = include.name
        if include.quoted:
            beside = join_inside(posixpath.dirname(includer), name)
            if beside is not None and self._is_file(beside):
                return beside
        elif is_standard_header(name):
            return None
        if include.quoted and is_standard_header(name):
            return None
        for directory in self._directories():
            candidate = join_inside(directory, name)
            if candidate is not None and self._is_file(candidate):
                self._used.add(directory)
                return candidate
        return self._resolve_by_search(includer, include)

    def _resolve_by_search(self, includer: str, include: Include) -> str | None:
        """The file that ``include`` names somewhere in the tree, whose folder is used from now on.

        In ``<>`` no file names itself, and no folder is used for it that has a header of the
        toolchain's name: a compiler would take that one for the toolchain's.
        """
        name = include.name
        if is_system_header(name) and "/" not in name:
            return None
        directory = self._search.search(name, includer)
        found = join_inside(directory, name) if directory is not None else None
        if directory is None or found is None or not self._is_file(found):
            return None
        if not include.quoted and (found == includer or self._hides_a_header(directory)):
            return None
        self._directories().append(directory)
        self._used.add(directory)
        return found

    def _hides_a_header(self, directory: str) -> bool:
        paths = (join_inside(directory, name) for name in standard_headers())
        return any(path is not None and self._is_file(path) for path in paths)

    def _directories(self) -> list[str]:
        if self._configured is None:
            self._configured = list(self._search.directories(self.main))
        return self._configured

    def closure(self) -> Closure:
        for number, (includer, include) in enumerate(self._by_macro):
            if number not in self._resolved:
                self._computed[f"{includer}:{include.line}: {include.operand}"] = None
        directories = [path for path in self._configured or () if path in self._used]
        return Closure(
            files=tuple(self.files),
            directories=tuple(dict.fromkeys(directories)),
            system=tuple(sorted(self._system)),
            unresolved=tuple(self._unresolved),
            missing=tuple(self._missing),
            computed=tuple(self._computed),
            forbidden=tuple(self._forbidden),
        )


def join_inside(directory: str, name: str) -> str | None:
    """``directory/name``, normalized; None when it leaves the tree."""
    joined = posixpath.normpath(posixpath.join(directory, name))
    if joined.startswith(("../", "/")) or joined in ("..", "."):
        return None
    return joined


def _is_absolute(name: str) -> bool:
    return name.startswith(("/", "\\", "~")) or (name[1:2] == ":" and name[0].isalpha())


def _escapes(includer: str, name: str) -> bool:
    return ".." in name.split("/") and join_inside(posixpath.dirname(includer), name) is None


def _looks_local(name: str) -> bool:
    """An unknown name in angle brackets is taken for a library's unless it is CUDA source."""
    return name.endswith((".cuh", ".cu"))
