"""From sources to staged rows: filter, deduplicate, and set aside what is already finished.

Rows leave here in three ways: rejected (written to ``rejects.parquet``), finished earlier (in the
journal), or staged as Parquet parts for the compilers. ``order`` remembers the input order, so the
data set comes out the same whatever finished first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.dataset as pads

from cass_ray.corpus.dialect import CUDA_WITH_HEADERS
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.screening.screening import Screening
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.corpus.sources.repositories import RepositorySource
from cass_ray.dataset.parquet import PartWriter
from cass_ray.dataset.schema import REJECT_SCHEMA, is_rejected
from cass_ray.pipeline.journal import Journal
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA, Row

_REJECTED_EARLY = ""
"""In ``order``: the next row of the early rejects."""

_JOURNAL_BATCH = 64

_STAGED_ROWS_PER_PART = 100
"""A reading task decodes one part for a few rows of it, so parts are small."""


def read_sources(settings: BuildSettings, work: Path, trees: TreeStore) -> Iterator[Row]:
    """One row for every candidate file of every source, in a fixed order.

    Raises ``SourceError`` when a source as a whole cannot be read.
    """
    for specification in settings.sources:
        source = parse_source(specification, settings.read)
        if not settings.compile and isinstance(source, RepositorySource):
            source = replace(source, dialect=CUDA_WITH_HEADERS)
        for item in source.iterate(work / "sources", trees):
            yield item.to_row()


@dataclass
class Ingested:
    """The outcome of reading all sources."""

    staged: Path
    early_rejects: Path
    order: list[str] = field(default_factory=list)
    staged_rows: int = 0

    def in_order(self, journal: Journal) -> Iterator[Row]:
        """Every row of the input, finished, in input order.

        Raises ``KeyError`` when a staged row never reached the journal.
        """
        early = _stream(self.early_rejects)
        for row_id in self.order:
            if row_id == _REJECTED_EARLY:
                yield next(early)
            else:
                yield from journal.read([row_id])


def _stream(folder: Path) -> Iterator[Row]:
    for path in sorted(folder.glob("*.parquet")):
        for batch in pads.dataset(path).to_batches(batch_size=64):
            yield from batch.to_pylist()


class Ingestion:
    """One pass over the rows of all sources.

    ``prepare`` does to a fresh row what needs no compiler (it may reject it); ``finish_now`` may
    complete a prepared row from the cache, or returns None.
    """

    def __init__(
        self,
        screening: Screening,
        work: Path,
        journal: Journal,
        prepare: Callable[[Row], Row],
        finish_now: Callable[[Row], Row | None],
    ) -> None:
        self._screening = screening
        self._journal = journal
        self._prepare = prepare
        self._finish_now = finish_now
        self._result = Ingested(staged=work / "staged", early_rejects=work / "early")
        for folder in (self._result.staged, self._result.early_rejects):
            shutil.rmtree(folder, ignore_errors=True)
        self._unwritten: list[Row] = []

    def run(
        self, rows: Iterable[Row], on_row: Callable[[Row], None] = lambda row: None
    ) -> Ingested:
        """Consume ``rows``; ``on_row`` hears of every row that is finished here."""
        with (
            PartWriter(self._result.staged, WORK_SCHEMA, _STAGED_ROWS_PER_PART) as staged,
            PartWriter(self._result.early_rejects, REJECT_SCHEMA) as early,
        ):
            numbered = ({**row, "sequence": number} for number, row in enumerate(rows))
            for screened in self._screening.before_compiling(numbered):
                row = screened
                in_journal = not is_rejected(row) and row["id"] in self._journal
                if not in_journal and not is_rejected(row):
                    row = self._prepare(row)
                if is_rejected(row):
                    self._result.order.append(_REJECTED_EARLY)
                    early.write(row)
                    on_row(row)
                    continue
                self._result.order.append(row["id"])
                finished = next(self._journal.read([row["id"]])) if in_journal else self._now(row)
                if finished is not None:
                    on_row(finished)
                else:
                    staged.write(row)
                    self._result.staged_rows += 1
            self._write_journal()
        return self._result

    def _now(self, row: Row) -> Row | None:
        finished = self._finish_now(row)
        if finished is not None:
            self._unwritten.append(finished)
            if len(self._unwritten) >= _JOURNAL_BATCH:
                self._write_journal()
        return finished

    def _write_journal(self) -> None:
        self._journal.append(self._unwritten)
        self._unwritten = []


def finished_columns(row: dict[str, Any]) -> dict[str, Any]:
    """``row`` without the working columns: what the journal keeps."""
    return {name: row.get(name) for name in REJECT_SCHEMA.names}
