"""Turns the candidate files of a tree into programs: exactly one program or reject for each."""

from __future__ import annotations

import hashlib
import posixpath
import re
import traceback
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from cass_ray.builds.commands import UnitCommand
from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.corpus.domains import classify
from cass_ray.corpus.parsing.kernels import kernel_definitions
from cass_ray.corpus.parsing.normalize import program_id, source_digest
from cass_ray.corpus.program import Program, Provenance, ReadReject
from cass_ray.corpus.reading import inline_extensions
from cass_ray.corpus.reading.encoding import BinaryFileError, decode
from cass_ray.corpus.reading.filetree import FileProblemError, FileTree, Listed
from cass_ray.corpus.reading.fragments import (
    fragments,
    implementations,
    included_by_others,
)
from cass_ray.corpus.reading.include_paths import HEADER_SUFFIXES, IncludePaths
from cass_ray.corpus.reading.include_spelling import NOTE, with_paths_of_the_tree
from cass_ray.corpus.reading.includes import (
    Closure,
    Include,
    include_closure,
    join_inside,
    scan_includes,
)
from cass_ray.corpus.reading.inline_extensions import as_load_inline_compiles
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.overlay import OverlaidTree
from cass_ray.corpus.reading.trees import TreeStore, combined_digest, pack
from cass_ray.corpus.reading.units import TreeUnits
from cass_ray.dataset.row import Reason
from cass_ray.printable import printable
from cass_ray.toolchain.provided.packages_table import package_of_header

_CACHED_HEADERS = 4096
_SPDX_TAG = re.compile(r"SPDX-License-Identifier:[ \t]*([^\n*]+)")
_SPDX_TAG_CHARACTERS = 4000


def must_become_row(listed: Listed, dialect: Dialect = CUDA) -> bool:
    """Whether a listed file is a candidate, or a directory that cannot be looked into."""
    if listed.is_repository:
        return False
    return listed.problem is not None or dialect.is_candidate(listed.path)


@dataclass(frozen=True, slots=True)
class _Header:
    """What is kept of an included file, so that a header shared by many is analysed once."""

    includes: tuple[Include, ...]
    digest: str
    content_hash: bytes
    size: int
    kernels: int


class ProgramReader:
    """Reads the programs of one tree.

    Args:
        tree: the files.
        provenance: origin, repository, license and revision of all of them.
        trees: where the include closures are stored.
        limits: sizes above which files are rejected or left out.
        search: whether includes may be looked for in the whole tree, which is then walked.
        dialect: the language of the programs.
        units: how files of the tree are compiled.
    """

    def __init__(
        self,
        tree: FileTree,
        provenance: Provenance,
        trees: TreeStore,
        limits: ReadLimits | None = None,
        search: bool = True,
        dialect: Dialect = CUDA,
        units: TreeUnits | None = None,
    ) -> None:
        self._units = units or TreeUnits()
        self._own = tree
        if over := self._units.over():
            tree = OverlaidTree(tree, over)
        self._tree = tree
        self._provenance = provenance
        self._trees = trees
        self._dialect = dialect
        self._limits = limits or ReadLimits()
        self._paths = IncludePaths(tree, walk=search)
        self._headers: OrderedDict[str, _Header | None] = OrderedDict()
        self._project: tuple[str, frozenset[str]] | None = None

    def read_all(self) -> Iterator[Program | ReadReject]:
        """One item for each candidate file of the tree, in the order of the walk.

        A directory that cannot be listed is one reject too: what it holds is unknown.
        """
        for listed in self._tree.walk():
            if must_become_row(listed, self._dialect) and not self._is_foreign(listed.path):
                yield self.read_listed(listed)

    def _is_foreign(self, path: str) -> bool:
        """Whether a file is a part of a dependency, which its headers include."""
        return path in self._units.dependencies.files and not self._own.is_file(path)

    def read_listed(self, listed: Listed) -> Program | ReadReject:
        """The program of a listed file, or its reject."""
        if listed.problem is not None:
            return self._reject(listed.path, listed.problem.reason, str(listed.problem))
        return self.read(listed.path)

    def read(self, path: str) -> Program | ReadReject:
        """The program at ``path``, or why there is none. Never raises for a bad file."""
        try:
            return self._read(path)
        except Exception:
            return self._reject(path, Reason.INTERNAL_ERROR, traceback.format_exc())

    def _read(self, path: str) -> Program | ReadReject:
        try:
            size = self._tree.size(path)
            if size > self._limits.source_bytes:
                return self._reject(
                    path,
                    Reason.TOO_LARGE,
                    f"{path}: {size} bytes; the limit is {self._limits.source_bytes}",
                )
            data = self._tree.read(path)
        except FileProblemError as problem:
            return self._reject(path, problem.reason, str(problem))
        try:
            decoded = decode(data)
        except BinaryFileError as error:
            return self._reject(path, Reason.BINARY, f"{path}: {error}")
        if not decoded.text.strip():
            return self._reject(path, Reason.EMPTY, f"{path}: {size} bytes, none of them text")
        if includer := self._fragments.get(path):
            message = f"{path}: a part of {includer}, which includes it; not compiled alone"
            return self._reject(path, Reason.FRAGMENT, message)
        text = with_paths_of_the_tree(decoded.text, self._paths.spelling)
        note = f"{decoded.encoding}, {NOTE}" if text != decoded.text else decoded.encoding
        return self._close(path, text, note)

    @cached_property
    def _fragments(self) -> Mapping[str, str]:
        """Files that are compiled as parts of others by the project's own build."""
        commands = self._units.commands
        if not commands:
            known = self._units.compiler_decides
            return implementations(self._tree, self._limits.source_bytes) if known else {}
        folders = {each for command in commands.values() for each in command.include_directories}
        return fragments(self._tree, commands, self._limits.source_bytes, sorted(folders))

    @cached_property
    def _included(self) -> Mapping[str, str]:
        """Files that may be parts of others, where the project's build says nothing of them."""
        if not self._units.compiler_decides:
            return {}
        return included_by_others(self._tree, self._limits.source_bytes)

    def _reject(self, path: str, reason: Reason, message: str) -> ReadReject:
        return ReadReject(self._provenance, printable(path), reason, message)

    def _close(self, path: str, source: str, encoding: str) -> Program:
        command = self._units.command(path)
        closure = self._closure(path, source, command)
        if command is None and self._units.compiler_decides:
            compiled = as_load_inline_compiles(source, closure.unresolved)
            if compiled != source:
                source, encoding = compiled, f"{encoding}, {inline_extensions.NOTE}"
                closure = self._closure(path, source, command)
        headers = [header for name in closure.files if (header := self._header(name))]
        tree, directories = self._store(path, source, closure)
        if command is not None:
            ordered = (*command.include_directories, *directories)
            directories = tuple(dict.fromkeys(ordered)) if tree else ()
        return Program(
            id=program_id(source_digest(source), (header.digest for header in headers)),
            provenance=self._provenance,
            path=path,
            source=source,
            license=_license_tag(source),
            tree=tree,
            include_directories=directories,
            definitions=self._units.definitions(path),
            forced=command.forced if command else (),
            standard=self._units.standard(path),
            header_packages=tuple(x.key for x in self._units.packages(closure.unresolved)),
            dependencies=tuple(self._units.dependencies.sources_of(closure.files)),
            lacks=tuple(self._units.dependencies.lacking(closure.unresolved, directories)),
            part_of=self._included.get(path, ""),
            configured=self._units.configured(path),
            header_kernels=sum(header.kernels for header in headers),
            forbidden_includes=closure.forbidden,
            encoding=encoding,
            domain=classify(source, PurePosixPath(path).stem).value,
            dialect=self._dialect,
        )

    def _closure(self, path: str, source: str, command: UnitCommand | None) -> Closure:
        main_includes = scan_includes(source)

        def includes_of(name: str) -> tuple[Include, ...] | list[Include] | None:
            if name == path:
                return main_includes
            header = self._header(name)
            return header.includes if header else None

        return include_closure(
            path,
            includes_of,
            lambda name: self._header(name) is not None,
            _FirstGiven(command.include_directories, self._paths) if command else self._paths,
            self._units.definitions(path),
            lambda name: package_of_header(name) is not None,
            command.forced if command else (),
        )

    def _header(self, path: str) -> _Header | None:
        """The analysed file at ``path``; None when it is missing, too large or not text."""
        if path in self._headers:
            self._headers.move_to_end(path)
            return self._headers[path]
        content = self._compilable(path)
        header: _Header | None = None
        if content is not None:
            text = content.decode("utf-8")
            header = _Header(
                includes=tuple(scan_includes(text)),
                digest=source_digest(text),
                content_hash=hashlib.sha256(content).digest(),
                size=len(content),
                kernels=len(kernel_definitions(text, self._dialect)),
            )
        self._headers[path] = header
        if len(self._headers) > _CACHED_HEADERS:
            self._headers.popitem(last=False)
        return header

    def _compilable(self, path: str) -> bytes | None:
        """The content of an included file as UTF-8 without byte order mark, its own includes
        spelled as the tree has them."""
        try:
            if not self._tree.is_file(path) or self._tree.size(path) > self._limits.header_bytes:
                return None
            text = decode(self._tree.read(path)).text
            return with_paths_of_the_tree(text, self._paths.spelling).encode("utf-8")
        except (FileProblemError, BinaryFileError, UnicodeEncodeError):
            return None

    def _store(self, path: str, source: str, closure: Closure) -> tuple[str, tuple[str, ...]]:
        """Store the tree of a program; returns its digest ("" for none) and include directories."""
        if not closure.complete and self._paths.has_headers:
            project = self._project_tree()
            if project is not None and path in project[1]:
                directories = dict.fromkeys(self._paths.directories(path))
                directories.update(dict.fromkeys(closure.directories))
                return project[0], tuple(directories)
        sizes = sum(header.size for name in closure.files if (header := self._header(name)))
        within = len(closure.files) < self._limits.tree_files and sizes <= self._limits.tree_bytes
        if not closure.files or not within:
            return "", ()
        content = source.encode("utf-8")
        hashes = {path: hashlib.sha256(content).digest()}
        for name in closure.files:
            header = self._header(name)
            if header is not None:
                hashes[name] = header.content_hash
        digest = combined_digest(hashes)
        if not self._trees.has(digest):
            packed = pack(self._contents(closure, {path: content}))
            self._trees.put(packed)
            digest = packed.digest
        return digest, closure.directories

    def _contents(self, closure: Closure, known: Mapping[str, bytes]) -> dict[str, bytes]:
        contents = dict(known)
        for name in closure.files:
            content = self._compilable(name)
            if content is not None:
                contents[name] = content
        return contents

    def _project_tree(self) -> tuple[str, frozenset[str]] | None:
        """All headers and CUDA sources of the tree, packed once; None when over the limits."""
        if self._project is None:
            files = self._project_files()
            digest = ""
            if files:
                packed = pack(files)
                digest = packed.digest
                self._trees.put(packed)
            self._project = (digest, frozenset(files))
        return self._project if self._project[0] else None

    def _in_project(self, path: str) -> bool:
        name = posixpath.basename(path).lower()
        return name.endswith((*HEADER_SUFFIXES, *CUDA.suffixes, *self._dialect.suffixes))

    def _project_files(self) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        total = 0
        for listed in self._tree.walk():
            path = listed.path
            if listed.problem is not None or listed.is_repository or not self._in_project(path):
                continue
            content = self._compilable(path)
            if content is None:
                continue
            files[path] = content
            total += len(content)
            if len(files) > self._limits.tree_files or total > self._limits.tree_bytes:
                return {}
        files.update(self._included_by(list(files)))
        total = sum(map(len, files.values()))
        within = len(files) <= self._limits.tree_files and total <= self._limits.tree_bytes
        return files if within else {}

    def _included_by(self, paths: list[str]) -> dict[str, bytes]:
        """Files that are no headers by their names, ``Runtime.cpp`` or ``table.txt``, and that
        ``paths``, or others of them, include."""
        by_name: dict[str, list[str]] = {}
        for listed in self._tree.walk():
            if not (listed.problem or listed.is_repository or self._in_project(listed.path)):
                by_name.setdefault(posixpath.basename(listed.path), []).append(listed.path)
        found: dict[str, bytes] = {}
        while paths:
            path = paths.pop()
            header = self._header(path)
            for name in (each.name for each in header.includes) if header else ():
                place = self._place(name, path, by_name)
                if place and place not in found and (content := self._compilable(place)):
                    found[place] = content
                    paths.append(place)
        return found

    @staticmethod
    def _place(name: str, includer: str, by_name: Mapping[str, Sequence[str]]) -> str:
        """The path of the file that ``includer`` names so: beside it, else in any folder."""
        places = by_name.get(posixpath.basename(name), ())
        beside = join_inside(posixpath.dirname(includer), name)
        if beside in places:
            return str(beside)
        inside = [each for each in places if f"/{each}".endswith(f"/{posixpath.normpath(name)}")]
        return min(inside, key=lambda each: (each.count("/"), each), default="")


@dataclass(frozen=True)
class _FirstGiven:
    """The folders of a command line alone; what neither they nor a package have is searched for.

    A tree may hold another system's copy of a header that the project takes from outside."""

    given: tuple[str, ...]
    rest: IncludePaths

    def directories(self, path: str) -> Sequence[str]:
        del path
        return self.given

    def search(self, name: str, includer: str) -> str | None:
        return self.rest.search(name, includer) if package_of_header(name) is None else None

    def ending(self, name: str) -> Sequence[str]:
        return self.rest.ending(name)


def _license_tag(source: str) -> str:
    match = _SPDX_TAG.search(source, 0, _SPDX_TAG_CHARACTERS)
    return match[1].strip() if match else ""
