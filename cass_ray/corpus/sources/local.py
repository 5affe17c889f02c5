"""Programs on a local disk: a file, a folder, a glob pattern or an archive."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.corpus.program import Program, Provenance, ReadReject, SourceError
from cass_ray.corpus.reading.archives import is_archive, unpack_archive
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.git import origin_url
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.programs import ProgramReader, must_become_row
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.screening.licenses import license_of_tree
from cass_ray.corpus.sources.repositories import repository_name
from cass_ray.dataset.schema import Origin

_MAGIC = re.compile(r"[*?\[]")


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
        elif path.is_dir():
            yield from self._folder(path, trees)
        elif _MAGIC.search(self.path):
            yield from self._glob(path, workdir, trees)
        else:
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

    def _folder(self, path: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        tree = DirectoryTree(path)
        url = origin_url(path) if tree.is_clone else ""
        name = repository_name(url or str(path))
        provenance = Provenance(self.origin, name, license_of_tree(tree))
        reader = ProgramReader(tree, provenance, trees, self.limits, dialect=self.dialect)
        for listed in tree.walk():
            if listed.is_repository:
                yield from self._folder(path / listed.path, trees)
            elif must_become_row(listed, self.dialect):
                yield reader.read_listed(listed)

    def _glob(self, path: Path, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        parts = path.parts
        first = next(index for index, part in enumerate(parts) if _MAGIC.search(part))
        root = Path(*parts[:first]) if first else Path()
        if not root.is_dir():
            raise SourceError(f"{self._kind}:{self.path}: no such folder: {root}")
        pattern = glob_pattern("/".join(parts[first:]))
        tree = DirectoryTree(root)
        provenance = Provenance(self.origin, root.resolve().name, license_of_tree(tree))
        reader = ProgramReader(tree, provenance, trees, self.limits, dialect=self.dialect)
        matched = False
        for listed in tree.walk():
            if not pattern.fullmatch(listed.path):
                continue
            if self.dialect.is_candidate(listed.path):
                matched = True
                yield reader.read_listed(listed)
            elif is_archive(root / listed.path):
                matched = True
                yield from self._archive(root / listed.path, workdir, trees)
        if not matched:
            raise SourceError(
                f"{self._kind}:{self.path}: no {self.dialect.name} file or archive matches"
            )


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
