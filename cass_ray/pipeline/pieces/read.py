"""The first step: a split is read and screened, and what its rows are compared on is noted."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from cass_ray.corpus.dialect import CUDA_WITH_HEADERS
from cass_ray.corpus.screening.screening import Screened, Screening
from cass_ray.corpus.sources.local import LocalSource
from cass_ray.corpus.sources.registry import Source, parse_source
from cass_ray.corpus.sources.repositories import RepositorySource
from cass_ray.corpus.sources.splits import splits_of
from cass_ray.dataset.duplicates_report import RemovedRow, removed_table
from cass_ray.dataset.row import is_rejected
from cass_ray.pipeline.pieces.probe import PROBE, screened, without_deadly
from cass_ray.pipeline.pieces.work import BuildWork, Committed, Deduplicated, Piece
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA, Row

_LOG = logging.getLogger(__name__)

ROWS_PER_RUN = 64
"""Rows of one part: what a worker decodes to get at a block of a few."""


def pieces_of(
    settings: BuildSettings, folder: Path, say: Callable[[str], None] = lambda _: None
) -> Iterator[Piece]:
    """The pieces of all sources, in order; nothing of a program is read.

    ``folder`` is for what sources fetch; ``say`` hears of each source before its pieces come.
    Raises ``SourceError`` when a source as a whole cannot be read.
    """
    index = 0
    for source in _sources(settings, say):
        for split in splits_of(source, folder):
            yield Piece.of(index, split)
            index += 1


def _sources(settings: BuildSettings, say: Callable[[str], None]) -> Iterator[Source]:
    for specification in settings.sources:
        say(f"reading {specification}")
        source = parse_source(specification, settings.read)
        if settings.compile and isinstance(source, RepositorySource | LocalSource):
            source = replace(source, units=settings.units)
        if not settings.compile and isinstance(source, RepositorySource):
            source = replace(source, dialect=CUDA_WITH_HEADERS)
        yield source


@dataclass(frozen=True)
class ReadPieces:
    """A piece read, screened and committed; as it is where it was committed before.

    A row that ends the process which screens it, and with it this attempt, is rejected by the next
    attempt, which finds out by ``probe`` (:mod:`.probe`).

    ``folder`` is for what a source fetches, on the reading machine. Raises ``SourceError`` when a
    source as a whole cannot be read.
    """

    alone: ClassVar[bool] = True
    """Not to be done twice at a time: what comes second takes the first for dead, and both fetch
    into one folder."""

    work: BuildWork
    folder: Path
    probe: Sequence[str] = PROBE

    def __call__(self, piece: Piece) -> Committed:
        """What was committed.

        Counts: ``rows``; ``rows-N`` and ``live-N`` of run N; ``scrubbed-WHAT``; ``reason-WHY``.
        """
        manifest = self.work.pieces
        if (entry := manifest.get(piece.key)) is not None:
            return Committed(piece.key, entry.counts)
        draft = manifest.draft(piece.key)
        # Whoever began before us may have died of a row.
        wary = not manifest.begin(draft)
        counts: Counter[str] = Counter()
        overlaps: list[RemovedRow] = []
        items = piece.split.iterate(self.folder, self.work.trees)
        rows = (item.to_row() for item in items)
        for run, some in enumerate(iter(lambda: list(islice(rows, ROWS_PER_RUN)), [])):
            done, compared = self._screened(some, wary)
            table = pa.Table.from_pylist(done.rows, schema=WORK_SCHEMA)
            draft.write_table(rows_part(run), table)
            draft.write_table(compared_part(run), compared)
            overlaps += done.overlaps
            counts["rows"] += len(done.rows)
            counts[f"rows-{run}"] = len(done.rows)
            counts[f"live-{run}"] = len(done.live)
            counts.update({f"scrubbed-{what}": n for what, n in done.scrubbed.items()})
            counts.update(f"reason-{row['reason']}" for row in done.rows if is_rejected(row))
        draft.write_table("overlaps", removed_table(overlaps))
        return Committed(piece.key, draft.commit(**counts).counts)

    def _screened(self, rows: Sequence[Row], wary: bool) -> tuple[Screened, pa.Table]:
        settings = self.work.settings
        if not wary:
            try:
                return screened(rows, screening_of(settings), settings)
            except Exception:
                # It costs the row that it is about, which is found below.
                _LOG.exception("screening failed: rows are tried one by one")
        left = without_deadly(rows, settings, self.probe)
        return screened(left, screening_of(settings), settings)


def rows_part(run: int) -> str:
    """Name of the part with the rows of ``run``."""
    return f"rows-{run:05}"


def compared_part(run: int) -> str:
    """Name of the part with what the rows of ``run`` are compared on."""
    return f"compared-{run:05}"


def evaluation_without_opcodes(settings: BuildSettings) -> int:
    """Evaluation programs that could not be compared by machine code."""
    return len(screening_of(settings).decontamination.without_opcodes)


@cache
def _loaded(settings: str) -> Screening:
    return Screening(BuildSettings.model_validate_json(settings))


def screening_of(settings: BuildSettings) -> Screening:
    """Evaluation data takes a second to load: once a process."""
    return _loaded(settings.model_dump_json())


def rows_of(work: BuildWork, pieces: Iterable[Deduplicated]) -> int:
    """Rows of the input."""
    return sum(work.read_counts.of(piece.read).get("rows", 0) for piece in pieces)


def scrubbed_in(work: BuildWork, pieces: Iterable[Deduplicated]) -> dict[str, int]:
    """What was scrubbed, and how often."""
    counts: Counter[str] = Counter()
    for piece in pieces:
        for name, count in work.read_counts.of(piece.read).items():
            if name.startswith("scrubbed-"):
                counts[name.removeprefix("scrubbed-")] += count
    return dict(sorted(counts.items()))
