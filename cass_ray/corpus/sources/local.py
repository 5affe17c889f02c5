"""Programs on a local disk: a file, a folder, a glob pattern or an archive."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from pathlib import Path

from cass_ray.builds.settings import NOTHING, UnitSettings
from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.corpus.program import Program, Provenance, ReadReject, SourceError
from cass_ray.corpus.reading.archives import is_archive, unpack_archive
from cass_ray.corpus.reading.filetree import DirectoryTree, Listed
from cass_ray.corpus.reading.git import origin_url
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.programs import ProgramReader, must_become_row
from cass_ray.corpus.reading.state import file_state, tree_state
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.reading.units import find_units
from cass_ray.corpus.screening.licenses import license_of_tree
from cass_ray.corpus.sources.repositories import repository_name
from cass_ray.corpus.sources.splits import Readable, WholeSource
from cass_ray.dataset.row import Origin

_MAGIC = re.compile(r"[*?\[]")

FILES_IN_A_SPLIT = 256
"""Each split asks once for the license of its folder, and looks for headers anew."""


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A folder whose files see each other; of a pattern it is called by its own name."""

    path: Path
    of_pattern: bool = False


_Found = tuple[SourceFolder, Listed] | Path
"""A candidate file, or an archive."""


@dataclass(frozen=True)
class LocalSource:
    """``local:PATH``.

    - A file becomes one row, whatever its extension. It may include what lies beside and below it,
      by relative paths; nothing is searched.
    - A folder gives every CUDA file below it. A clone inside a folder that is none is read as a
      repository of its own, so that its files see only each other.
    - A glob (``*``, ``?``, ``[…]``, ``**`` for any folders) gives the CUDA files and archives
      that match; the folder before the first wild card is the tree.
    - An archive (zip, tar, tar with gzip, bzip2, xz or zstandard) is unpacked, safely.

    Rows come in sorted order of paths (files of a folder before its subfolders).
    """

    path: str
    limits: ReadLimits = field(default_factory=ReadLimits)
    dialect: Dialect = CUDA
    origin: Origin = Origin.LOCAL
    units: UnitSettings = NOTHING

    @property
    def _kind(self) -> str:
        return "local" if self.dialect is CUDA else self.dialect.name.lower()

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """One item for each candidate file; archives are unpacked below ``workdir``.

        Raises:
            SourceError: nothing exists at the path, or nothing matches the pattern.
        """
        path = Path(self.path).expanduser()
        if path.is_file():
            yield from self._file(path, workdir, trees)
            return
        readers: dict[SourceFolder, ProgramReader] = {}
        for found in self._found():
            if isinstance(found, Path):
                yield from self._archive(found, workdir, trees)
                continue
            folder, listed = found
            if folder not in readers:
                # The walk comes back to a folder from a clone in it, and to nothing else.
                readers = {
                    each: reader
                    for each, reader in readers.items()
                    if folder.path.is_relative_to(each.path)
                }
                readers[folder] = self.reader(folder, trees)
            yield readers[folder].read_listed(listed)

    def splits(self, workdir: Path) -> Iterator[Readable]:
        """Runs of files of one folder, and archives. Every worker has to reach the folder.

        Raises ``SourceError`` as :meth:`iterate` does.
        """
        del workdir
        if Path(self.path).expanduser().is_file():
            yield WholeSource(self)
            return
        states: dict[SourceFolder, str] = {}
        for folder, group in groupby(self._found(), _folder_of):
            if folder is None:
                for archive in group:
                    yield replace(self, path=str(archive))
                continue
            if folder not in states:
                states[folder] = tree_state(folder.path)
            files = (found[1] for found in group if not isinstance(found, Path))
            while run := tuple(islice(files, FILES_IN_A_SPLIT)):
                yield FolderSplit(self, folder, run, states[folder])

    def state(self) -> str:
        """Of a file or an archive; folders are told by their splits."""
        return repr((self, file_state(Path(self.path).expanduser())))

    def reader(self, folder: SourceFolder, trees: TreeStore) -> ProgramReader:
        tree = DirectoryTree(folder.path)
        url = origin_url(folder.path) if tree.is_clone and not folder.of_pattern else ""
        name = (
            folder.path.resolve().name
            if folder.of_pattern
            else repository_name(url or str(folder.path))
        )
        provenance = Provenance(self.origin, name, license_of_tree(tree))
        units = find_units(tree, self.units, is_project=tree.is_clone and not folder.of_pattern)
        return ProgramReader(
            tree, provenance, trees, self.limits, dialect=self.dialect, units=units
        )

    def _found(self) -> Iterator[_Found]:
        path = Path(self.path).expanduser()
        if path.is_dir():
            return self._folder(path)
        if _MAGIC.search(self.path):
            return self._glob(path)
        raise SourceError(f"{self._kind}:{self.path}: no such file or folder")

    def _file(self, path: Path, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        if is_archive(path):
            yield from self._archive(path, workdir, trees)
            return
        provenance = Provenance(self.origin)
        tree = DirectoryTree(path.parent)
        yield ProgramReader(
            tree, provenance, trees, self.limits, search=False, dialect=self.dialect
        ).read(path.name)

    def _archive(
        self, path: Path, workdir: Path, trees: TreeStore
    ) -> Iterator[Program | ReadReject]:
        unpacked = unpack_archive(path, workdir / "archives", self.limits, self.dialect)
        try:
            tree = DirectoryTree(unpacked.root)
            provenance = Provenance(self.origin, path.name, license_of_tree(tree))
            for problem in unpacked.problems:
                yield ReadReject(provenance, problem.path, problem.reason, problem.message)
            yield from ProgramReader(
                tree, provenance, trees, self.limits, dialect=self.dialect
            ).read_all()
        finally:
            shutil.rmtree(unpacked.root, ignore_errors=True)

    def _folder(self, path: Path) -> Iterator[_Found]:
        folder = SourceFolder(path)
        for listed in DirectoryTree(path).walk():
            if listed.is_repository:
                yield from self._folder(path / listed.path)
            elif must_become_row(listed, self.dialect):
                yield folder, listed

    def _glob(self, path: Path) -> Iterator[_Found]:
        parts = path.parts
        first = next(index for index, part in enumerate(parts) if _MAGIC.search(part))
        root = Path(*parts[:first]) if first else Path()
        if not root.is_dir():
            raise SourceError(f"{self._kind}:{self.path}: no such folder: {root}")
        pattern = glob_pattern("/".join(parts[first:]))
        folder = SourceFolder(root, of_pattern=True)
        matched = False
        for listed in DirectoryTree(root).walk():
            if not pattern.fullmatch(listed.path):
                continue
            if self.dialect.is_candidate(listed.path):
                matched = True
                yield folder, listed
            elif is_archive(root / listed.path):
                matched = True
                yield root / listed.path
        if not matched:
            raise SourceError(
                f"{self._kind}:{self.path}: no {self.dialect.name} file or archive matches"
            )


@dataclass(frozen=True)
class FolderSplit:
    """Files of one folder, in the order of its walk."""

    source: LocalSource
    folder: SourceFolder
    files: tuple[Listed, ...]
    contents: str
    """State of the folder: any file in it may be included."""

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """One item for each of the files."""
        del workdir
        reader = self.source.reader(self.folder, trees)
        for listed in self.files:
            yield reader.read_listed(listed)


def _folder_of(found: _Found) -> SourceFolder | None:
    return None if isinstance(found, Path) else found[0]


def glob_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression of a glob over relative POSIX paths.

    ``*`` and ``?`` stay within one folder, ``**`` as a whole part stands for any folders.
    """
    out: list[str] = []
    parts = pattern.split("/")
    for position, part in enumerate(parts):
        last = position == len(parts) - 1
        if part == "**":
            out.append(".*" if last else "(?:[^/]+/)*")
        else:
            out.append(_glob_part(part) + ("" if last else "/"))
    return re.compile("".join(out), re.DOTALL)


def _glob_part(part: str) -> str:
    out: list[str] = []
    position = 0
    while position < len(part):
        character = part[position]
        position += 1
        if character == "*":
            out.append("[^/]*")
        elif character == "?":
            out.append("[^/]")
        elif character == "[" and (end := part.find("]", position + 1)) > 0:
            body = part[position:end].replace("\\", "\\\\")
            position = end + 1
            out.append(f"[^{body[1:]}]" if body.startswith(("!", "^")) else f"[{body}]")
        else:
            out.append(re.escape(character))
    return "".join(out)
