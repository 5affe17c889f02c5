"""What a row passes by itself: filters, license, scrub, evaluation data.

Rows are screened many at a time, because their sets are made together. They come out in the order
they went in, and a rejected row goes through untouched. Which rows repeat each other is decided
elsewhere (:mod:`.decide`), from what :mod:`.comparison` notes of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cass_ray.corpus.dedup.shingles import Hashes, hash_sets, source_tokens
from cass_ray.corpus.dialect import source_of
from cass_ray.corpus.screening.decontaminate import Decontamination, Overlap
from cass_ray.corpus.screening.filters import first_objection
from cass_ray.corpus.screening.licenses import license_objection
from cass_ray.corpus.screening.scrub import scrub
from cass_ray.corpus.screening.settings import ScreeningSettings
from cass_ray.dataset.duplicates_report import RemovedRow
from cass_ray.dataset.row import (
    Reason,
    Stage,
    is_rejected,
    rejected,
)

Row = dict[str, Any]


@dataclass
class Screened:
    """Rows as they came, those that objections were found to rejected."""

    rows: list[Row]
    live: list[int] = field(default_factory=list)
    """Places of the rows that are not rejected."""
    sets: list[Hashes] = field(default_factory=list)
    """Token runs of the rows at ``live``."""
    overlaps: list[RemovedRow] = field(default_factory=list)
    """Rows that repeat evaluation data."""
    scrubbed: Counter[str] = field(default_factory=Counter)


class Screening:
    """Raises ``EvaluationError`` when evaluation data cannot be loaded."""

    def __init__(self, settings: ScreeningSettings) -> None:
        self._settings = settings
        self.decontamination = Decontamination(settings.decontamination)

    def sources(self, rows: Sequence[Row]) -> Screened:
        """Rows as they come from the sources."""
        done = Screened(list(rows))
        for place, row in enumerate(done.rows):
            if not is_rejected(row):
                done.rows[place] = self._alone(row, done)
        live = [place for place, row in enumerate(done.rows) if not is_rejected(row)]
        texts = [source_tokens(source_of(done.rows[place])) for place in live]
        sets = hash_sets(texts) if texts else []
        overlaps = self.decontamination.by_source(sets)
        for place, own, overlap in zip(live, sets, overlaps, strict=True):
            if overlap is not None:
                done.rows[place] = _overlapping(done.rows[place], overlap, done)
            else:
                done.live.append(place)
                done.sets.append(own)
        return done

    def machine_code(self, rows: Sequence[Row]) -> Screened:
        """Compiled rows; :attr:`Screened.sets` stay empty."""
        done = Screened(list(rows))
        for place, row in enumerate(done.rows):
            if is_rejected(row):
                continue
            overlap = self.decontamination.by_opcodes(row.get("cuda_device") or "")
            if overlap is not None:
                done.rows[place] = _overlapping(row, overlap, done)
            else:
                done.live.append(place)
        return done

    def _alone(self, row: Row, done: Screened) -> Row:
        verdict = first_objection(row, self._settings.filters)
        if verdict is None:
            verdict = license_objection(row, self._settings.licenses)
        if verdict is not None:
            return rejected(row, Stage.FILTER, *verdict)
        overlap = self.decontamination.by_origin(row)
        return _overlapping(row, overlap, done) if overlap else self._scrubbed(row, done)

    def _scrubbed(self, row: Row, done: Screened) -> Row:
        columns = [name for name in ("cuda_source", "opencl_source") if row.get(name)]
        for column in columns:
            text, found = scrub(row[column], self._settings.scrub)
            if found:
                done.scrubbed.update(found)
                row = {**row, column: text}
        return row


def _overlapping(row: Row, overlap: Overlap, done: Screened) -> Row:
    """``row`` rejected for repeating evaluation data."""
    done.overlaps.append(removed(row, overlap.level, overlap.evaluation, overlap.similarity))
    return rejected(row, Stage.DECONTAMINATE, Reason.BENCHMARK_OVERLAP, overlap.message())


def removed(row: Row, level: str, repeats: str, similarity: float) -> RemovedRow:
    """The line of a report for ``row``."""
    return RemovedRow(
        id=row["id"],
        origin=row.get("origin") or "",
        repository=row.get("repository") or "",
        path=row.get("path") or "",
        level=level,
        repeats=repeats,
        similarity=similarity,
    )
