"""With which commands a tree's files are compiled, and which headers from outside they need.

Asked in this order: the project's ``compile_commands.json``, a recorded build, else nothing is
known and include folders are found by search.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from cass_ray.builds.commands import (
    UnitCommand,
    is_cuda,
    newer_standard,
    read_compile_commands,
)
from cass_ray.builds.recording import BuildRecorder, RecordedBuild
from cass_ray.builds.settings import NOTHING, UnitSettings
from cass_ray.cache import ContentCache, default_directory, digest
from cass_ray.corpus.reading.filetree import FileTree, path_problem, readable_files
from cass_ray.corpus.reading.includes import scan_includes
from cass_ray.corpus.reading.other_repositories import (
    Dependencies,
    DependencySources,
    declared_dependencies,
)
from cass_ray.corpus.reading.switches import build_texts, cuda_switches, stated_standards
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.provided.packages_table import (
    HeaderPackage,
    packages_of_headers,
    packages_of_programs,
    with_needs,
)
from cass_ray.toolchain.provided.store import HeaderStore

_LOG = logging.getLogger(__name__)

COMPILE_COMMANDS = "compile_commands.json"
RECORDED, LISTED, INFERRED = "recorded", COMPILE_COMMANDS, "inferred"

NO_SUBMODULES: Mapping[str, str] = MappingProxyType({})

_RECIPE = "1"
_COMMON_AT_LEAST = 2
"""Commands of which what they share is taken for the project's."""
_CODE = (".py", ".cmake")
_FILE_BYTES = 64 << 20
_TREE_BYTES = 3 << 30
_SOURCES = (".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".c", ".cc", ".cpp", ".cxx", ".inl")
_PROGRAMS_OF_FILES = {
    "configure.ac": ("autoconf", "automake", "libtoolize", "pkg-config"),
    "configure.in": ("autoconf", "automake", "libtoolize", "pkg-config"),
    "meson.build": ("meson", "pkg-config"),
}
_PROGRAMS_OF_ENDINGS = {".proto": ("protoc",), ".y": ("bison",), ".l": ("flex",)}
_ALWAYS = ("pkg-config",)


@dataclass
class TreeUnits:
    """What is known of the files of one tree.

    ``dependencies``: what it takes from other repositories. ``generated`` are files that belong
    over the tree; ``log`` is what was tried.
    """

    settings: UnitSettings = NOTHING
    commands: dict[str, UnitCommand] = field(default_factory=dict)
    generated: dict[str, bytes] = field(default_factory=dict)
    dependencies: Dependencies = field(default_factory=Dependencies)
    origin: str = INFERRED
    log: list[str] = field(default_factory=list)
    switches: tuple[str, ...] = ()
    """Definitions for CUDA files of which no command is known."""
    stated_standards: tuple[str, str] = ("", "")
    """The C++ of files whose command names none, and of files of which no command is known, where
    it is newer than C++17. CMake 3.25 gives nvcc no option for C++20."""
    compiler_decides: bool = False
    """Whether what has device code is left to the compiler, not to a look at the text."""
    _unavailable: dict[str, str] = field(default_factory=dict)
    """Packages that could not be fetched, which are asked for once a tree, with the reason."""

    def command(self, path: str) -> UnitCommand | None:
        """How the file at ``path`` is compiled, where that is known."""
        return self.commands.get(path)

    def definitions(self, path: str) -> tuple[str, ...]:
        """The macros that the command of the file at ``path`` defines, as far as it is known."""
        command = self.commands.get(path)
        if command is not None:
            return command.definitions
        return self.switches if path.endswith(".cu") else ()

    def standard(self, path: str) -> str:
        """The C++ of the file at ``path``, where it is newer than C++17; else empty."""
        command = self.commands.get(path)
        if command is not None and command.standard:
            return newer_standard(command.standard)
        return self.stated_standards[command is None]

    def configured(self, path: str) -> str:
        """Where the command of ``path`` is from; empty where text decides."""
        if path in self.commands:
            return self.origin
        return INFERRED if self.compiler_decides else ""

    def packages(self, headers: Iterable[str]) -> list[HeaderPackage]:
        """Packages for a file that includes ``headers``, which its tree does not have; fetched.

        What cannot be fetched is left out: the compiler will say which header is missing.
        """
        wanted = self._wanted(headers)
        new = [package for package in wanted if package.name not in self._unavailable]
        problems = _store().fetch_all(new)
        for name, problem in problems.items():
            _LOG.warning("headers of %s: %s", name, problem)
        self._unavailable.update(problems)
        return [package for package in new if package.name not in problems]

    def _wanted(self, headers: Iterable[str]) -> list[HeaderPackage]:
        if self.settings.headers == "none":
            return []
        if self.settings.headers == "listed":
            return with_needs(self.settings.header_packages)
        return packages_of_headers(headers)

    def over(self) -> dict[str, bytes]:
        """Files that belong over the tree: headers of dependencies and what its build wrote."""
        return {**self.dependencies.headers(), **self.generated}


def _store() -> HeaderStore:
    return HeaderStore(default_directory())


def find_units(
    tree: FileTree,
    settings: UnitSettings,
    is_project: bool,
    *,
    submodules: Mapping[str, str] = NO_SUBMODULES,
    address: str = "",
) -> TreeUnits:
    """What is known of ``tree``; a project is built once, or its record is in the cache.

    ``submodules``: their commits by folder. ``address``: where the project is from.
    """
    found = TreeUnits(settings, compiler_decides=is_project and settings.recorded_builds)
    if not (is_project and settings.recorded_builds):
        return found
    found.dependencies = _dependencies(tree, settings, submodules, address)
    texts = list(build_texts(tree))
    found.switches, found.stated_standards = cuda_switches(texts), stated_standards(texts)
    if (commands := _listed(tree)) is not None:
        found.commands, found.origin = commands, LISTED
        return found
    build = _recorded(tree, found)
    if build is not None:
        found.commands, found.generated, found.log = build.units, build.generated, build.log
        found.origin = RECORDED
        _as_the_others(found)
        for entry in build.log:
            _LOG.info("recorded build: %s", entry)
    return found


def _as_the_others(found: TreeUnits) -> None:
    """Files of which no command is known have the macros and the standard that all of the project's
    commands have in common."""
    units = [unit for unit in found.commands.values() if is_cuda(unit)]
    if len(units) < _COMMON_AT_LEAST:
        return
    shared = set.intersection(*(set(unit.definitions) for unit in units))
    known = {each.partition("=")[0] for each in found.switches}
    more = [x for x in units[0].definitions if x in shared and x.partition("=")[0] not in known]
    found.switches = (*found.switches, *more)
    standards = {newer_standard(unit.standard) for unit in units}
    if len(standards) == 1:
        found.stated_standards = (found.stated_standards[0], standards.pop())


def _dependencies(
    tree: FileTree, settings: UnitSettings, submodules: Mapping[str, str], address: str
) -> Dependencies:
    declared = declared_dependencies(tree, submodules, address)
    cache = default_directory() / "dependencies"
    sources = DependencySources(dict(settings.dependencies), cache, settings.fetch_dependencies)
    made = sources.bring(declared)
    for each in declared:
        if why := made.missing.get(each.path):
            _LOG.info("dependency %s: %s", each, why)
    return made


def _listed(tree: FileTree) -> dict[str, UnitCommand] | None:
    for path in (COMPILE_COMMANDS, f"build/{COMPILE_COMMANDS}"):
        if tree.is_file(path):
            text = tree.read(path).decode("utf-8", "replace")
            units = read_compile_commands(text, tree.is_file)
            cuda = {name: unit for name, unit in units.items() if is_cuda(unit)}
            if cuda:
                return cuda
    return None


def _recorded(tree: FileTree, found: TreeUnits) -> RecordedBuild | None:
    """The recorded build of ``tree``; None where there is no nvcc, or no CUDA in the tree."""
    try:
        nvidia = find_nvidia()
    except ToolMissing:
        return None
    known = _survey(tree)
    foreign = _beside(found.dependencies, known.paths)
    if not known.has_cuda:
        return None
    packages = {
        package.name: package
        for package in [*found.packages(known.headers), *_of_programs(known.programs, found)]
    }
    key = digest(
        [
            _RECIPE,
            *_code(),
            nvidia.version,
            known.content,
            *sorted(x.key for x in packages.values()),
            *([digest([_content(foreign)])] if found.dependencies.files else []),
        ]
    )
    cache = ContentCache(default_directory() / "recorded-builds")
    if (record := cache.get(key)) is not None:
        return RecordedBuild.model_validate_json(record)
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("project")) as name:
        root = Path(name) / "source"
        _write(root, _files(tree))
        _write(root, foreign)
        recorder = BuildRecorder(nvidia.nvcc, nvidia.home, nvidia.library_directories, _store())
        made = recorder.record(root, list(packages.values()), found.dependencies.places())
    cache.put(key, made.model_dump_json().encode())
    return made


def _beside(dependencies: Dependencies, paths: set[str]) -> list[tuple[str, bytes]]:
    """Paths and contents of the dependencies' files that no file or folder of ``paths`` hides."""
    files, there = set(paths), {*paths, *_folders(paths)}
    beside = []
    for path, content in sorted(dependencies.files.items()):
        folders = _folders([path])
        if path_problem(path) is not None or path in there or folders & files:
            continue
        files.add(path)
        there |= {path, *folders}
        beside.append((path, content))
    return beside


def _folders(paths: Iterable[str]) -> set[str]:
    return {str(folder) for path in paths for folder in PurePosixPath(path).parents}


def _content(files: Iterable[tuple[str, bytes]]) -> str:
    return digest([f"{path} {digest([content])}" for path, content in files])


def _write(root: Path, files: Iterable[tuple[str, bytes]]) -> None:
    for path, content in files:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        if content.startswith(b"#!"):
            target.chmod(0o755)


def _of_programs(programs: set[str], found: TreeUnits) -> list[HeaderPackage]:
    if found.settings.headers != "auto":
        return []
    wanted = packages_of_programs({*programs, *_ALWAYS})
    problems = _store().fetch_all(wanted)
    return [package for package in wanted if package.name not in problems]


def _code() -> list[bytes]:
    """What decides how a build is recorded."""
    from cass_ray import builds

    folder = Path(builds.__file__).parent
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in _CODE]


@dataclass(frozen=True)
class _Survey:
    """A tree as recorded builds see it: its paths, what its files include, programs that its build
    calls, and a digest of all of it."""

    paths: set[str]
    headers: set[str]
    programs: set[str]
    content: str
    has_cuda: bool


def _survey(tree: FileTree) -> _Survey:
    paths, headers, programs = set[str](), set[str](), set[str]()
    parts: list[str] = []
    for path, content in _files(tree):
        place = PurePosixPath(path)
        paths.add(path)
        parts.append(f"{path} {digest([content])}")
        if path.lower().endswith(_SOURCES):
            text = content.decode("utf-8", "replace")
            headers |= {include.name for include in scan_includes(text) if include.name}
        programs |= set(_PROGRAMS_OF_FILES.get(place.name, ()))
        programs |= set(_PROGRAMS_OF_ENDINGS.get(place.suffix, ()))
    has_cuda = any(path.lower().endswith(".cu") for path in paths)
    return _Survey(paths, headers, programs, digest(parts), has_cuda)


def _files(tree: FileTree) -> Iterator[tuple[str, bytes]]:
    total = 0
    for path, content in readable_files(tree, _FILE_BYTES):
        total += len(content)
        if total > _TREE_BYTES:
            break
        yield path, content
