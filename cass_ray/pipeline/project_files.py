"""Single files of a project, translated and compiled as the units of a data set are.

What the project's headers declare is known to the translator, and the compiler gets the command,
the headers and the generated files that :func:`~cass_ray.corpus.reading.units.find_units` knows.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from cass_ray.builds.settings import UnitSettings
from cass_ray.corpus.program import Program, Provenance
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import PackedTree
from cass_ray.corpus.reading.units import find_units
from cass_ray.dataset.schema import Origin
from cass_ray.pipeline.stages.base import Row, unit_of
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translator

BUILD_FILES = (
    *("compile_commands.json", "CMakeLists.txt", "Makefile", "makefile", "GNUmakefile"),
    *("configure.ac", "configure", "meson.build", "setup.py", "pyproject.toml"),
)
_ALL = 1 << 20
"""Trees stay as long as compilers may read them."""
_SETTINGS = UnitSettings(headers="auto", recorded_builds=True)


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


class ProjectFiles:
    """The files below ``root``. Paths are relative to it, with forward slashes.

    Its build is recorded when a unit is first asked for: seconds, and no more the next time. With
    ``searched`` headers may lie anywhere below ``root``; else beside what includes them.
    """

    def __init__(self, root: Path, *, searched: bool = True) -> None:
        self._searched = searched
        self._guard = threading.Lock()
        self._tree = DirectoryTree(root)
        self._packed = _Packed()
        self._workspace = Workspace(self._packed.get, kept=_ALL)

    def context(self, path: str) -> Context:
        """What the file at ``path`` is translated with: its own headers, found by search."""
        row = self._row(self._by_search, path)
        return self._workspace.context(row) if row is not None else NO_CONTEXT

    def unit(self, path: str, hip: str, translator: Translator, name: str = "") -> Unit | None:
        """The unit of the port ``hip`` of the file at ``path``, in a tree of the headers that it
        includes, as ``translator`` translates them. None where the file cannot be read.

        The port lies where the file did, and is called ``name`` where that is given.

        The tree belongs to this object, which removes it. Several threads may ask."""
        with self._guard:
            row = self._row(self._by_build, path)
            if row is None:
                return None
            unit = unit_of({**row, "hip_source": hip}, self._workspace, translator)
            if name and name != unit.main.name:
                unit = replace(unit, main=unit.main.with_name(name))
                unit.source.write_text(hip, newline="")
            return unit

    def unit_in(self, port: Path, path: str, hip: str, translator: Translator) -> Unit | None:
        """:meth:`unit` among the files of ``port``, a port of the whole project.

        What its build writes is not there, and is taken from the other tree."""
        unit = self.unit(path, hip, translator)
        if unit is None:
            return None
        folders = tuple(unit.root / each for each in unit.include_directories)
        return replace(
            unit,
            root=port,
            include_directories=tuple(
                each for each in unit.include_directories if (port / each).is_dir()
            ),
            before_toolchain=(*unit.before_toolchain, *filter(Path.is_dir, folders)),
        )

    @cached_property
    def _by_search(self) -> ProgramReader:
        provenance = Provenance(Origin.LOCAL)
        return ProgramReader(self._tree, provenance, self._packed, search=self._searched)

    @cached_property
    def _by_build(self) -> ProgramReader:
        units = find_units(self._tree, _SETTINGS, is_project=True)
        return ProgramReader(self._tree, Provenance(Origin.LOCAL), self._packed, units=units)

    @staticmethod
    def _row(reader: ProgramReader, path: str) -> Row | None:
        program = reader.read(PurePosixPath(path).as_posix())
        return program.to_row() if isinstance(program, Program) else None


class _Packed:
    """A store of trees in memory."""

    def __init__(self) -> None:
        self._archives: dict[str, bytes] = {}

    def has(self, digest: str) -> bool:
        return digest in self._archives

    def put(self, tree: PackedTree) -> None:
        self._archives[tree.digest] = tree.archive

    def get(self, digest: str) -> bytes:
        return self._archives[digest]
