"""The first step: a split is read and screened, and what its rows are compared on is noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import pyarrow as pa

from cass_ray.corpus.dialect import CUDA_WITH_HEADERS
from cass_ray.corpus.screening.comparison import compared_sources
from cass_ray.corpus.screening.screening import Screening
from cass_ray.corpus.sources.registry import Source, parse_source
from cass_ray.corpus.sources.repositories import RepositorySource
from cass_ray.corpus.sources.splits import splits_of
from cass_ray.dataset.duplicates_report import RemovedRow, removed_table
from cass_ray.dataset.schema import is_rejected
from cass_ray.pipeline.pieces.work import BuildWork, Decided, Piece
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA
from cass_ray.storage.manifest import Entry

ROWS_PER_RUN = 64
"""Rows of one part: what a worker decodes to get at a block of a few."""


def pieces_of(settings: BuildSettings, folder: Path) -> Iterator[Piece]:
    """The pieces of all sources, in order; nothing of a program is read.

    ``folder`` is for what sources fetch. Raises ``SourceError`` when a source as a whole cannot be
    read.
    """
    index = 0
    for source in _sources(settings):
        for split in splits_of(source, folder):
            yield Piece.of(index, split)
            index += 1


def _sources(settings: BuildSettings) -> Iterator[Source]:
    for specification in settings.sources:
        source = parse_source(specification, settings.read)
        if not settings.compile and isinstance(source, RepositorySource):
            source = replace(source, dialect=CUDA_WITH_HEADERS)
        yield source


@dataclass(frozen=True)
class ReadPieces:
    """A piece read, screened and committed; as it is where it was committed before.

    ``folder`` is for what a source fetches, on the reading machine. Raises ``SourceError`` when a
    source as a whole cannot be read.
    """

    work: BuildWork
    folder: Path

    def __call__(self, piece: Piece) -> Entry:
        """The committed entry.

        Counts: ``rows``; ``rows-N`` and ``live-N`` of run N; ``scrubbed-WHAT``; ``reason-WHY``.
        """
        manifest = self.work.pieces
        if (done := manifest.get(piece.key)) is not None:
            return done
        draft = manifest.draft(piece.key)
        screening = screening_of(self.work.settings)
        counts: Counter[str] = Counter()
        overlaps: list[RemovedRow] = []
        items = piece.split.iterate(self.folder, self.work.trees)
        rows = (item.to_row() for item in items)
        for run, some in enumerate(iter(lambda: list(islice(rows, ROWS_PER_RUN)), [])):
            done_rows = screening.sources(some)
            table = pa.Table.from_pylist(done_rows.rows, schema=WORK_SCHEMA)
            draft.write_table(rows_part(run), table)
            compared = compared_sources(
                done_rows.rows, done_rows.live, done_rows.sets, self.work.settings
            )
            draft.write_table(compared_part(run), compared)
            overlaps += done_rows.overlaps
            counts["rows"] += len(done_rows.rows)
            counts[f"rows-{run}"] = len(done_rows.rows)
            counts[f"live-{run}"] = len(done_rows.live)
            counts.update({f"scrubbed-{what}": n for what, n in done_rows.scrubbed.items()})
            counts.update(f"reason-{row['reason']}" for row in done_rows.rows if is_rejected(row))
        draft.write_table("overlaps", removed_table(overlaps))
        return draft.commit(**counts)


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


def rows_of(work: BuildWork, pieces: Iterable[Decided]) -> int:
    """Rows of the input."""
    return sum(_entry(work, piece).counts.get("rows", 0) for piece in pieces)


def scrubbed_in(work: BuildWork, pieces: Iterable[Decided]) -> dict[str, int]:
    """What was scrubbed, and how often."""
    found: Counter[str] = Counter()
    for piece in pieces:
        for name, count in _entry(work, piece).counts.items():
            if name.startswith("scrubbed-"):
                found[name.removeprefix("scrubbed-")] += count
    return dict(sorted(found.items()))


def _entry(work: BuildWork, piece: Decided) -> Entry:
    entry = work.pieces.get(piece.read)
    assert entry is not None, f"piece {piece.read} was not read"
    return entry
