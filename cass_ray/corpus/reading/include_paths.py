"""Include directories of a tree: from its build files, from convention, and by searching it."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cass_ray.corpus.reading.filetree import FileTree, read_text
from cass_ray.corpus.reading.includes import join_inside
from cass_ray.corpus.reading.system_headers import is_system_header

HEADER_SUFFIXES = (
    ".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".ipp", ".tpp", ".tcc", ".txx", ".def",
    ".hu",
)  # fmt: skip
"""Extensions of files that are included rather than compiled."""

CONVENTIONAL_DIRECTORIES = ("include", "inc", "common", "Common", "includes", "headers")
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile", "Makefile.am", "Makefile.in")
_BUILD_FILE_BYTES = 1_000_000
_COMPILE_COMMANDS_BYTES = 64_000_000


@dataclass
class _Index:
    """What one walk over a tree finds."""

    headers: dict[str, list[str]] = field(default_factory=dict)
    """Base name -> paths of the headers (and CUDA sources) so named, sorted."""
    conventional: dict[str, list[str]] = field(default_factory=dict)
    """Parent directory -> its children with a conventional name."""
    configured: dict[str, list[str]] = field(default_factory=dict)
    """Directory of a build file -> include directories it gives."""
    has_headers: bool = False


class IncludePaths:
    """Include directories for the programs of one tree.

    The tree is walked once, when the first include is not found beside the file that names it.
    Memory grows with the number of headers and CUDA sources in the tree.

    Args:
        tree: the files.
        walk: whether the tree may be walked at all; if not, there are no include directories.
    """

    def __init__(self, tree: FileTree, walk: bool = True) -> None:
        self._tree = tree
        self._loaded: _Index | None = None if walk else _Index()

    @property
    def has_headers(self) -> bool:
        return self._index().has_headers

    def directories(self, path: str) -> Sequence[str]:
        """Include directories for the file at ``path``, those of the nearest build file first.

        Then follow the directories called ``include``, ``inc`` or ``common`` beside the file or
        any of its parents, nearest first.
        """
        index = self._index()
        parents = list(_parents(path))
        found: dict[str, None] = {}
        for table in (index.configured, index.conventional):
            for parent in parents:
                found.update(dict.fromkeys(table.get(parent, ())))
        return tuple(found)

    def search(self, name: str, includer: str) -> str | None:
        """The directory under which ``name`` exists; among several the one nearest to ``includer``.

        Nearest: most leading folders shared, then fewest folders in all, then alphabetical.
        """
        wanted = posixpath.normpath(name)
        if wanted.startswith(".."):
            return None
        matches = self.ending(wanted)
        if not matches:
            return None
        best = min(matches, key=lambda path: (-_shared(path, includer), path.count("/"), path))
        return best[: -len(wanted)].rstrip("/") or "."

    def ending(self, name: str) -> Sequence[str]:
        """The paths of all headers (and CUDA sources) that end with the normalized ``name``."""
        paths = self._index().headers.get(posixpath.basename(name), ())
        return [path for path in paths if f"/{path}".endswith(f"/{name}")]

    def spelling(self, name: str) -> str | None:
        """How the tree spells the end of a path that is ``name`` but for the case of letters, or
        for the name of a folder that the whole tree is in; None where it has ``name`` itself, no
        such path, or several spellings."""
        plain = posixpath.normpath(name)
        up = len(plain) - len(plain.lstrip("./"))
        wanted = plain[up:]
        found = set()
        for path in self._by_lower_case.get(posixpath.basename(wanted).lower(), ()):
            if f"/{path}".lower().endswith(f"/{wanted}".lower()):
                found.add(path[len(path) - len(wanted) :])
        if not found and not up:
            return self._from_the_root(wanted)
        return plain[:up] + found.pop() if len(found) == 1 and wanted not in found else None

    def _from_the_root(self, wanted: str) -> str | None:
        """``a.h`` of ``NAME/a.h``: a tree whose users have it in a folder NAME, as submodules."""
        folder, _, rest = wanted.partition("/")
        foreign = is_system_header(wanted) and folder != "cuda"
        paths, folders = self._paths_and_folders
        return rest if rest in paths and folder not in folders and not foreign else None

    @cached_property
    def _paths_and_folders(self) -> tuple[frozenset[str], frozenset[str]]:
        paths = frozenset(path for found in self._index().headers.values() for path in found)
        return paths, frozenset(folder for path in paths for folder in path.split("/")[:-1])

    @cached_property
    def _by_lower_case(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, paths in self._index().headers.items():
            found.setdefault(name.lower(), []).extend(paths)
        return found

    def _index(self) -> _Index:
        if self._loaded is None:
            self._loaded = _build_index(self._tree)
        return self._loaded


def _build_index(tree: FileTree) -> _Index:
    index = _Index()
    seen_directories: set[str] = set()
    for listed in tree.walk():
        if listed.problem is not None or listed.is_repository:
            continue
        path = listed.path
        directory, name = posixpath.split(path)
        if directory not in seen_directories:
            _note_conventional(index, directory, seen_directories)
        lowered = name.lower()
        if lowered.endswith((*HEADER_SUFFIXES, ".cu", ".cl")):
            index.headers.setdefault(name, []).append(path)
            index.has_headers = index.has_headers or not lowered.endswith((".cu", ".cl"))
        else:
            for target, directories in _directories_of_build_file(tree, path, name):
                known = index.configured.setdefault(target, [])
                known.extend(item for item in directories if item not in known)
    return index


def _note_conventional(index: _Index, directory: str, seen: set[str]) -> None:
    while directory and directory not in seen:
        seen.add(directory)
        parent, name = posixpath.split(directory)
        if name in CONVENTIONAL_DIRECTORIES:
            index.conventional.setdefault(parent, []).append(directory)
        directory = parent


def _directories_of_build_file(
    tree: FileTree, path: str, name: str
) -> Iterator[tuple[str, list[str]]]:
    """Pairs of (directory the setting holds for, include directories that exist in the tree)."""
    directory = posixpath.dirname(path)
    if name == "compile_commands.json":
        text = read_text(tree, path, _COMPILE_COMMANDS_BYTES)
        yield directory, list(dict.fromkeys(_from_compile_commands(tree, text)))
        return
    if name == "CMakeLists.txt" or name.endswith(".cmake"):
        candidates = _from_cmake(read_text(tree, path, _BUILD_FILE_BYTES), directory)
    elif name in _MAKEFILES or name.endswith((".mk", ".mak")):
        candidates = _from_makefile(read_text(tree, path, _BUILD_FILE_BYTES), directory)
    else:
        return
    existing = [item for item in dict.fromkeys(candidates) if _exists(tree, item)]
    if existing:
        yield directory, existing


def _exists(tree: FileTree, directory: str) -> bool:
    return directory == "." or tree.is_directory(directory)


_CMAKE_INCLUDES = re.compile(
    r"\b(?:target_|cuda_)?include_directories\s*\(([^()]*)\)", re.IGNORECASE
)
_CMAKE_WORDS = re.compile(r'"([^"]*)"|([^\s"]+)')
_CMAKE_KEYWORDS = frozenset(
    {"PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER", "SHARED"}
)
_CMAKE_ROOT = re.compile(r"\$\{(?:CMAKE|PROJECT|[A-Za-z0-9_]+)_SOURCE_DIR\}")
_CMAKE_CURRENT = re.compile(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}")
_CMAKE_BUILD_INTERFACE = re.compile(r"\$<BUILD_INTERFACE:([^<>]*)>")


def _from_cmake(text: str, directory: str) -> Iterator[str]:
    text = re.sub(r"#[^\n]*", "", text)
    for call in _CMAKE_INCLUDES.finditer(text):
        arguments = _CMAKE_BUILD_INTERFACE.sub(r"\1", call[1])
        for quoted, bare in _CMAKE_WORDS.findall(arguments):
            for word in (quoted or bare).split(";"):
                if word not in _CMAKE_KEYWORDS:
                    yield from _expand_cmake(word, directory)


def _expand_cmake(word: str, directory: str) -> Iterator[str]:
    """A source-directory variable may mean any project root above the file: nearest first."""
    local = _CMAKE_CURRENT.sub(".", word)
    rooted = _CMAKE_ROOT.sub(".", local)
    if "$" in rooted or rooted.startswith("/"):
        return
    bases = (
        [directory]
        if rooted == local
        else list(_parents(posixpath.join(directory, "CMakeLists.txt")))
    )
    for base in bases:
        joined = _directory_inside(base, rooted)
        if joined is not None:
            yield joined


_MAKE_ASSIGNMENT = re.compile(r"^[ \t]*(\w+)[ \t]*[:?]?=[ \t]*([^\n#]*)", re.MULTILINE)
_MAKE_INCLUDE = re.compile(r"(?<![\w-])-(?:I|isystem)[ \t]*([^\s\"']+|\"[^\"\n]*\"|'[^'\n]*')")
_MAKE_VARIABLE = re.compile(r"\$[({](\w+)[)}]")


def _from_makefile(text: str, directory: str) -> Iterator[str]:
    text = text.replace("\\\n", " ")
    values = {name: value.strip() for name, value in _MAKE_ASSIGNMENT.findall(text)}
    values["CURDIR"] = values["srcdir"] = "."
    values.setdefault("top_srcdir", "/".join(".." for _ in directory.split("/")) or ".")
    for flag in _MAKE_INCLUDE.finditer(text):
        word = flag[1].strip("\"'")
        for _ in range(4):
            word = _MAKE_VARIABLE.sub(lambda match: values.get(match[1], match[0]), word)
        if "$" in word or word.startswith("/") or " " in word:
            continue
        joined = _directory_inside(directory, word)
        if joined is not None:
            yield joined


def _from_compile_commands(tree: FileTree, text: str) -> Iterator[str]:
    """Paths there are absolute on the machine that built: matched by their last folders."""
    try:
        commands = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return
    for command in commands if isinstance(commands, list) else ():
        if not isinstance(command, dict):
            continue
        base = str(command.get("directory", ""))
        for word in _include_flags(_arguments(command)):
            found = _existing_suffix(tree, posixpath.normpath(posixpath.join(base, word)))
            if found is not None:
                yield found


def _arguments(command: dict[str, object]) -> list[str]:
    arguments = command.get("arguments")
    if isinstance(arguments, list):
        return [str(word) for word in arguments]
    try:
        return shlex.split(str(command.get("command", "")))
    except ValueError:
        return []


def _include_flags(words: Iterable[str]) -> Iterator[str]:
    pending = False
    for word in words:
        if pending:
            yield word
            pending = False
        elif word in ("-I", "-isystem", "-iquote"):
            pending = True
        elif word.startswith("-I"):
            yield word[2:]
        elif word.startswith("-isystem"):
            yield word[len("-isystem") :]


def _existing_suffix(tree: FileTree, path: str) -> str | None:
    parts = [part for part in path.split("/") if part]
    for start in range(len(parts)):
        suffix = "/".join(parts[start:])
        if ".." not in parts[start:] and tree.is_directory(suffix):
            return suffix
    return None


def _directory_inside(base: str, word: str) -> str | None:
    joined = posixpath.normpath(posixpath.join(base, word))
    return "." if joined == "." else join_inside(base, word)


def _parents(path: str) -> Iterator[str]:
    """Directories above ``path``, nearest first, the root as ""."""
    while path:
        path = posixpath.dirname(path)
        yield path


def _shared(first: str, second: str) -> int:
    count = 0
    pairs = zip(first.split("/")[:-1], second.split("/")[:-1], strict=False)
    for left, right in pairs:
        if left != right:
            break
        count += 1
    return count
