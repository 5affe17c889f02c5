"""The driver alone: what others do for it is answered at once, so that its own share is left."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from rich.console import Console

from benchmarks.pipeline.scale.source import settings_of
from cass_ray.corpus.dedup.shards import LocalShards, Shards
from cass_ray.pipeline.pieces.assemble import WriteParts, plan
from cass_ray.pipeline.pieces.blocks import Block
from cass_ray.pipeline.pieces.postprocess import PostprocessPieces
from cass_ray.pipeline.pieces.read import ROWS_PER_RUN, ReadPieces
from cass_ray.pipeline.pieces.steps import Steps
from cass_ray.pipeline.pieces.work import BuildWork, Committed, Deduplicated, Piece
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.report import Tally
from cass_ray.storage.manifest import ManifestEntry, PartManifest
from cass_ray.storage.store import Store

T = TypeVar("T")
R = TypeVar("R")

_GONE = 0.2
_PAIRS = 0.6


class RecordedRunner:
    """A :class:`~cass_ray.pipeline.pieces.runner.Runner` whose workers need no time.

    A fifth of the rows go, as repeats and by filters; six of ten of the others become pairs.
    """

    def __init__(self, work: BuildWork) -> None:
        self._work = work
        self._chance = random.Random(1)

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """What would come back of each."""
        answers: dict[type, Callable[[Any], Any]] = {
            ReadPieces: self._read,
            PostprocessPieces: self._postprocessed,
            WriteParts: lambda part: Tally(),
        }
        answer = answers[type(work)]
        for item in items:
            yield cast(R, answer(item))

    def shards(self) -> Shards:
        """Nobody decides."""
        return LocalShards()

    def _read(self, piece: Piece) -> Committed:
        split: Any = piece.split
        counts = {"rows": split.rows}
        for run, first in enumerate(range(0, split.rows, ROWS_PER_RUN)):
            rows = min(ROWS_PER_RUN, split.rows - first)
            live = rows - self._share(rows, _GONE / 2)
            counts |= {f"rows-{run}": rows, f"live-{run}": live}
            counts["reason-no_kernel"] = counts.get("reason-no_kernel", 0) + rows - live
        return Committed(piece.key, counts)

    def _postprocessed(self, piece: Deduplicated) -> Committed:
        counts = {
            name.replace("live", "pairs"): self._share(count, _PAIRS)
            for name, count in self._work.read_counts.of(piece.read).items()
            if name.startswith("live-")
        }
        return Committed(piece.key, counts)

    def _share(self, rows: int, share: float) -> int:
        return sum(self._chance.random() < share for _ in range(rows))


class _Entries(PartManifest):
    """All committed; in place of entries in storage, whose time would be the store's."""

    def get(self, key: str) -> ManifestEntry:
        """Some repeat others."""
        return ManifestEntry(writer="", parts={}, counts={"gone-0": 5, "reason-exact_duplicate": 5})

    def read_entries(self, keys: Iterable[str]) -> Iterator[tuple[str, ManifestEntry]]:
        """As :meth:`get`."""
        for key in keys:
            yield key, self.get(key)


class _Work(BuildWork):
    @property
    def duplicates(self) -> PartManifest:
        """Decided by others."""
        return _Entries(self.files, f"duplicates-{self.reading}")


def measure(rows: int, folder: Path) -> dict[str, float]:
    """Seconds and peak memory of a driver of a build of ``rows``, in a process of its own."""
    settings = settings_of(rows, str(folder / "out"))
    work = _Work(Store(folder / "out"), settings)
    before = _peak()
    began = time.process_time()
    progress = Progress(Console(quiet=True))
    steps = Steps(work, RecordedRunner(work), progress, 1000, from_cache=False)
    pieces = steps.read(folder)
    read = time.process_time()
    blocks = 0

    def compiled(open_blocks: Iterable[tuple[Deduplicated, Block]]) -> Iterator[dict[str, int]]:
        nonlocal blocks
        for _, block in open_blocks:
            blocks += 1
            yield {"rows": block.rows, "pairs": block.rows}

    steps.finish(pieces, compiled)
    finished = time.process_time()
    for done in steps.runner.each(PostprocessPieces(work, 8), pieces):
        work.fact_counts.note(done)
        work.structural_counts.note(Committed(done.key, {}))  # nobody has another's machine code
    parts = sum(1 for _ in steps.runner.each(WriteParts(work, "", 8), plan(work, pieces)))
    return {
        "rows": rows,
        "pieces": len(pieces),
        "blocks": blocks,
        "parts": parts,
        "read s": round(read - began, 1),
        "finish s": round(finished - read, 1),
        "write s": round(time.process_time() - finished, 1),
        "mib before": before,
        "mib": _peak(),
    }


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
