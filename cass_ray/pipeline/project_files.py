"""Single files of a project, translated and compiled as the units of a data set are.

What the project's headers declare is known to the translator, and the compiler gets the command,
the headers and the generated files that :func:`~cass_ray.corpus.reading.units.find_units` knows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from cass_ray.builds.settings import UnitSettings
from cass_ray.corpus.program import Program, Provenance
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import PackedTree
from cass_ray.corpus.reading.units import TreeUnits, find_units
from cass_ray.dataset.row import Origin
from cass_ray.pipeline.row_units import Row, unit_of
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translator

_ALL = 1 << 20
"""Trees stay as long as compilers may read them."""
_SETTINGS = UnitSettings(headers="auto", recorded_builds=True)


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

    def units(self, path: str, hip: str, translator: Translator, name: str = "") -> Iterator[Unit]:
        """Units of the port ``hip`` of the file at ``path``, in a tree of the headers that it
        includes, as ``translator`` translates them: with the headers that a search finds, then with
        the command of the project's own build. No unit where the file cannot be read.

        The port lies where the file did, and is called ``name`` where that is given.

        The tree belongs to this object, which removes it. Several threads may ask."""
        for built in (False, True):
            with self._guard:
                row = self._row(self._by_build if built else self._with_packages, path)
                if row is None:
                    return
                unit = unit_of({**row, "hip_source": hip}, self._workspace, translator)
                if name and name != unit.main.name:
                    unit = replace(unit, main=unit.main.with_name(name))
                    unit.source.write_text(hip, newline="")
            yield unit

    def units_in(self, port: Path, path: str, hip: str, translator: Translator) -> Iterator[Unit]:
        """:meth:`units` among the files of ``port``, a port of the whole project.

        What its build writes is not there, and is taken from the other tree."""
        for unit in self.units(path, hip, translator):
            folders = tuple(unit.root / each for each in unit.include_directories)
            yield replace(
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
    def _with_packages(self) -> ProgramReader:
        units = TreeUnits(_SETTINGS)
        return ProgramReader(self._tree, Provenance(Origin.LOCAL), self._packed, units=units)

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
