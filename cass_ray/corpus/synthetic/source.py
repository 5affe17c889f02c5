"""What ``cass synthesize`` wrote, as a source of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.corpus.program import Program, Provenance, ReadReject, SourceError
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.state import tree_state
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.dataset.row import Origin

PROGRAMS = "programs"
"""Folder of the programs, one below it for each area."""

REPORT = "report.json"


@dataclass(frozen=True)
class SyntheticSource:
    """``synthetic:PATH``: the folder that ``cass synthesize --out PATH`` wrote."""

    path: str
    limits: ReadLimits = field(default_factory=ReadLimits)

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """The programs in sorted order of paths; ``repository`` names the model.

        Raises:
            SourceError: the folder is not one that ``cass synthesize`` wrote.
        """
        folder = Path(self.path).expanduser()
        try:
            model = json.loads((folder / REPORT).read_text())["model"]
        except (OSError, ValueError, KeyError, TypeError):
            raise SourceError(
                f"synthetic:{self.path}: no {REPORT} of `cass synthesize` there; for other folders "
                f"of programs write local:{self.path}"
            ) from None
        provenance = Provenance(Origin.SYNTHETIC, f"synthetic/{model}")
        tree = DirectoryTree(folder / PROGRAMS)
        yield from ProgramReader(tree, provenance, trees, self.limits, search=False).read_all()

    def state(self) -> str:
        """Of the folder: a synthesis may go on."""
        return repr((self, tree_state(Path(self.path).expanduser())))
