"""The source ``stack-v2``: repositories with most CUDA files, as trees, every file once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from cass_ray.cache import ContentCache
from cass_ray.config import SettingsError, load
from cass_ray.corpus.dialect import CUDA, OPENCL, Dialect
from cass_ray.corpus.program import Program, Provenance, ReadReject, SourceError
from cass_ray.corpus.reading.git import GitTree, fetch_snapshot
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.screening.licenses import license_of_tree
from cass_ray.corpus.sources.splits import Readable
from cass_ray.corpus.sources.stack_v2.metadata import (
    StackRepository,
    build_index,
    ranked_repositories,
)
from cass_ray.corpus.sources.stack_v2.objects import ObjectStore
from cass_ray.corpus.sources.stack_v2.settings import StackV2Settings
from cass_ray.corpus.sources.stack_v2.tree import BlobTree
from cass_ray.dataset.row import Origin

_FOLDER = "stack_v2"


@dataclass(frozen=True)
class StackV2Source:
    """``stack-v2[:SETTINGS.yaml]``."""

    settings: StackV2Settings
    limits: ReadLimits = field(default_factory=ReadLimits)

    @property
    def dialect(self) -> Dialect:
        return CUDA if self.settings.language == "Cuda" else OPENCL

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """One item for each file of the language, repository by repository as they are ranked.

        What is fetched stays below ``workdir``: a resumed build fetches the rest only. Raises
        ``SourceError`` when the metadata cannot be read; a repository or object that cannot be had
        gives rejects.
        """
        folder = workdir / _FOLDER
        index = build_index(self.settings, folder)
        objects = self._objects(folder)
        for repository in ranked_repositories(self.settings, index):
            yield from self._read(repository, folder, objects, trees)

    def splits(self, workdir: Path) -> Iterator[Readable]:
        """One split a repository. Raises ``SourceError`` when the metadata cannot be read."""
        index = build_index(self.settings, workdir / _FOLDER)
        for repository in ranked_repositories(self.settings, index):
            yield StackSplit(self, repository)

    def read_one(
        self, repository: StackRepository, workdir: Path, trees: TreeStore
    ) -> Iterator[Program | ReadReject]:
        """The programs of ``repository``."""
        folder = workdir / _FOLDER
        yield from self._read(repository, folder, self._objects(folder), trees)

    def _objects(self, folder: Path) -> ObjectStore:
        return ObjectStore(self.settings, ContentCache(folder / "objects"))

    def _read(
        self, repository: StackRepository, folder: Path, objects: ObjectStore, trees: TreeStore
    ) -> Iterator[Program | ReadReject]:
        snapshot = self._clone(repository, folder) if self.settings.trees == "clone" else None
        if snapshot is None:
            yield from self._from_blobs(repository, objects, trees)
            return
        with GitTree(snapshot, repository.revision or "refs/heads/snapshot", self.limits) as tree:
            provenance = Provenance(
                Origin.STACK_V2, repository.name, license_of_tree(tree), repository.revision
            )
            reader = ProgramReader(tree, provenance, trees, self.limits, dialect=self.dialect)
            yield from _licensed(reader.read_all(), repository)

    def _clone(self, repository: StackRepository, folder: Path) -> Path | None:
        """The repository at its revision; None where its host has it no more."""
        url = self.settings.clone_url.format(repository=repository.name)
        key = hashlib.sha256(f"{url}@{repository.revision}".encode()).hexdigest()[:16]
        destination = folder / "repositories" / f"{key}.git"
        try:
            fetch_snapshot(url, repository.revision or "HEAD", destination)
        except SourceError:
            return None
        return destination

    def _from_blobs(
        self, repository: StackRepository, objects: ObjectStore, trees: TreeStore
    ) -> Iterator[Program | ReadReject]:
        objects.fetch(file.blob_id for file in repository.files)
        provenance = Provenance(Origin.STACK_V2, repository.name, "", repository.revision)
        tree = BlobTree(repository, objects)
        reader = ProgramReader(tree, provenance, trees, self.limits, dialect=self.dialect)
        yield from _licensed(reader.read_all(), repository)


@dataclass(frozen=True)
class StackSplit:
    """One repository of the source."""

    source: StackV2Source
    repository: StackRepository

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """Its programs; needs no metadata."""
        yield from self.source.read_one(self.repository, workdir, trees)


def stack_v2_source(path: str, limits: ReadLimits) -> StackV2Source:
    """The source with the settings in the YAML file ``path``; defaults where it is empty.

    Raises:
        SourceError: the file cannot be read or has a key that there is not.
    """
    try:
        settings = load(StackV2Settings, Path(path) if path else None, {})
    except SettingsError as error:
        raise SourceError(f"stack-v2: {error}") from None
    return StackV2Source(settings, limits)


def _licensed(
    items: Iterator[Program | ReadReject], repository: StackRepository
) -> Iterator[Program | ReadReject]:
    """Programs with the licenses that were detected in their file; a tag in the file wins."""
    licenses = {file.path: " AND ".join(file.licenses) for file in repository.files}
    for item in items:
        if isinstance(item, Program) and not item.license and licenses.get(item.path):
            yield replace(item, license=licenses[item.path])
        else:
            yield item
