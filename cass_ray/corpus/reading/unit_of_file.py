"""A single file as a translation unit: in the project that it belongs to, where it needs that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.include_paths import IncludePaths
from cass_ray.corpus.reading.includes import (
    Closure,
    Include,
    IncludeSearch,
    include_closure,
    scan_includes,
)
from cass_ray.corpus.reading.open_inside import is_file_inside, read_inside
from cass_ray.corpus.reading.source_files import FILE_BYTES
from cass_ray.corpus.reading.system_headers import is_system_header
from cass_ray.toolchain.unit import Unit

BUILD_FILES = (
    *("compile_commands.json", "CMakeLists.txt", "Makefile", "makefile", "GNUmakefile"),
    *("configure.ac", "configure", "meson.build", "setup.py", "pyproject.toml"),
)


def project_of(file: Path) -> Path | None:
    """The folder of the project that ``file`` belongs to; None where nothing tells.

    A clone's root, else the outermost of the folders with build files above ``file``.
    """
    home, outermost = Path.home().resolve(), None
    for folder in file.resolve().parents:
        if folder in (home, Path(folder.anchor)):
            break
        if (folder / ".git").exists():
            return folder
        if any((folder / name).is_file() for name in BUILD_FILES):
            outermost = folder
    return outermost


def unit_of_file(file: Path) -> Unit:
    """``file`` in its folder; in its project, with the folders in which a search finds the headers
    that it names, where some do not lie in or below its folder.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure` for names that compilers take for
    options.
    """
    path = file.resolve()
    alone = Unit(path.parent, PurePosixPath(path.name))
    project = project_of(path)
    if project is None or not path.is_file():
        return alone
    main = path.relative_to(project).as_posix()
    closure = _closure(project, main, _Search(IncludePaths(DirectoryTree(project))))
    below = f"{PurePosixPath(main).parent.as_posix()}/".removeprefix("./")
    if not closure.directories and all(each.startswith(below) for each in closure.files):
        return alone
    folders = tuple(map(PurePosixPath, closure.directories))
    return Unit(project, PurePosixPath(main), folders)


@dataclass(frozen=True)
class _Search:
    """A search that leaves headers of the compiler and the toolkits to them: a tree may have a
    copy of Thrust, which is not the HIP side's."""

    paths: IncludePaths

    def directories(self, path: str) -> Sequence[str]:
        return self.paths.directories(path)

    def search(self, name: str, includer: str) -> str | None:
        return None if is_system_header(name) else self.paths.search(name, includer)

    def ending(self, name: str) -> Sequence[str]:
        return self.paths.ending(name)


def _closure(root: Path, main: str, search: IncludeSearch) -> Closure:
    def includes_of(path: str) -> list[Include] | None:
        try:
            return scan_includes(read_inside(root, path, FILE_BYTES).decode("utf-8", "replace"))
        except OSError:
            return None

    return include_closure(main, includes_of, lambda path: is_file_inside(root, path), search)
