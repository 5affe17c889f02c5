"""OpenCL programs: rows with ``opencl_source`` and device code of both sides, nothing for the host.

``opencl:PATH`` reads a file, a folder, a glob pattern, an archive or a clone, as ``local:`` does
for CUDA; ``opencl:URL`` a repository. The kernels that ship with cass-ray are ``shipped-opencl``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.corpus.dialect import OPENCL
from cass_ray.corpus.program import Program, Provenance, ReadReject
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.sources.local import LocalSource
from cass_ray.corpus.sources.repositories import RepositorySource
from cass_ray.corpus.sources.shipped import LICENSE, REPOSITORY
from cass_ray.dataset.row import Origin

SHIPPED_OPENCL_ROOT = Path(__file__).parents[1] / "shipped_opencl"
"""One ``.cl`` file a program, in a folder for its field."""


def opencl_source(path: str, limits: ReadLimits) -> LocalSource | RepositorySource:
    """The OpenCL programs at ``path``: a repository where it is a URL or a bare clone."""
    if "://" in path or (Path(path).expanduser() / "HEAD").is_file():
        return RepositorySource(path, limits, OPENCL, Origin.OPENCL)
    return LocalSource(path, limits, OPENCL, Origin.OPENCL)


@dataclass(frozen=True)
class ShippedOpenclSource:
    """``shipped-opencl``: our own kernels; each compiles for both sides."""

    root: Path = SHIPPED_OPENCL_ROOT
    limits: ReadLimits = field(default_factory=ReadLimits)

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """One item for each ``.cl`` file, in sorted order."""
        del workdir
        provenance = Provenance(Origin.OPENCL, f"{REPOSITORY}/opencl", LICENSE)
        reader = ProgramReader(
            DirectoryTree(self.root), provenance, trees, self.limits, dialect=OPENCL
        )
        yield from reader.read_all()
