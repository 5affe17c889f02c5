"""The corpus that comes with the package: programs of our own, and inputs that must be rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.corpus.archives import is_archive
from cass_ray.corpus.filetree import DirectoryTree
from cass_ray.corpus.licenses import license_of_tree
from cass_ray.corpus.limits import ReadLimits
from cass_ray.corpus.local import LocalSource
from cass_ray.corpus.program import Program, Provenance, ReadReject
from cass_ray.corpus.reading import ProgramReader
from cass_ray.corpus.trees import TreeStore
from cass_ray.pairs import Origin

SHIPPED_ROOT = Path(__file__).with_name("shipped")
"""Holds ``programs/`` (complete programs by domain), ``repositories/`` (one folder each, with
local headers) and ``rejects/`` (inputs that must not become pairs)."""

REPOSITORY = "cass-ray"
"""The repository column of shipped programs; ``cass-ray/NAME`` below ``repositories/NAME``."""

LICENSE = "MIT"


@dataclass(frozen=True)
class ShippedSource:
    """``shipped``: the programs, then each repository, then the inputs that must be rejected."""

    root: Path = SHIPPED_ROOT
    limits: ReadLimits = field(default_factory=ReadLimits)

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """One item for each candidate file, in sorted order within each part."""
        yield from self._folder(self.root / "programs", REPOSITORY, trees)
        for folder in sorted((self.root / "repositories").iterdir()):
            yield from self._folder(folder, f"{REPOSITORY}/{folder.name}", trees)
        rejects = self.root / "rejects"
        yield from self._folder(rejects, f"{REPOSITORY}/rejects", trees)
        for archive in sorted(filter(is_archive, rejects.rglob("*"))):
            yield from LocalSource(str(archive), self.limits).iterate(workdir, trees)

    def _folder(
        self, folder: Path, repository: str, trees: TreeStore
    ) -> Iterator[Program | ReadReject]:
        tree = DirectoryTree(folder)
        provenance = Provenance(Origin.LOCAL, repository, license_of_tree(tree) or LICENSE)
        yield from ProgramReader(tree, provenance, trees, self.limits).read_all()
