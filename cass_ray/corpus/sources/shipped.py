"""The corpus that comes with the package: programs of our own, and inputs that must be rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, TypeAdapter

from cass_ray.config import StrictModel
from cass_ray.corpus.domains import Domain
from cass_ray.corpus.program import Program, Provenance, ReadReject
from cass_ray.corpus.reading.archives import is_archive
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.screening.licenses import license_of_tree
from cass_ray.corpus.sources.local import LocalSource
from cass_ray.dataset.row import Origin, Reason, Stage

SHIPPED_ROOT = Path(__file__).parents[1] / "shipped"
"""Holds ``programs/`` (complete programs by domain), ``repositories/`` (one folder each, with
local headers) and ``rejects/`` (inputs that must not become pairs)."""

REPOSITORY = "cass-ray"
"""The repository column of shipped programs; ``cass-ray/NAME`` below ``repositories/NAME``."""

LICENSE = "MIT"


class ShippedProgram(StrictModel):
    """One entry of ``manifest.yaml``: a program that must become a pair."""

    path: str
    """Relative to the shipped corpus."""
    domain: Domain
    description: str
    features: list[str]
    """Constructs of CUDA that it exercises."""
    arguments: list[list[str]] = Field(min_length=1)
    """Argument lists to run with; the program prints ``verify: OK`` and exits with 0."""
    expected: Literal["pair"]


class ExpectedReject(StrictModel):
    """One value of ``rejects/expected.yaml``: what must become of an input."""

    stage: Stage
    reason: Reason
    member: str = ""
    """Path of the row, where the input is an archive."""


class _Manifest(StrictModel):
    programs: list[ShippedProgram]


def load_manifest(root: Path = SHIPPED_ROOT) -> list[ShippedProgram]:
    """The programs of ``manifest.yaml``. Raises ``pydantic.ValidationError`` naming a bad entry."""
    text = (root / "manifest.yaml").read_text(encoding="utf-8")
    return _Manifest.model_validate(yaml.safe_load(text)).programs


def load_expected_rejects(root: Path = SHIPPED_ROOT) -> dict[str, ExpectedReject]:
    """Path of each input that must be rejected, relative to ``rejects/`` -> its outcome."""
    text = (root / "rejects" / "expected.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, ExpectedReject]).validate_python(yaml.safe_load(text))


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
