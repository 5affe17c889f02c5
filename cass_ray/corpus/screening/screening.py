"""What a row passes before it is compiled, and once more after: license, filters, scrub,
duplicates, evaluation data.

Rows go through in batches, because sets and signatures are made for many texts at once. They come
out in the order they went in, and a rejected row goes through untouched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.corpus.dedup.exact import ExactDuplicates
from cass_ray.corpus.dedup.near import NearDuplicates, Similar
from cass_ray.corpus.dedup.shingles import Hashes, hash_sets, source_tokens
from cass_ray.corpus.dialect import source_of
from cass_ray.corpus.parsing.structure import SHAPE_RUN, opcode_set, syntax_shape
from cass_ray.corpus.screening.decontaminate import (
    Decontamination,
    DecontaminationSettings,
    Overlap,
)
from cass_ray.corpus.screening.filters import FilterSettings, first_objection
from cass_ray.corpus.screening.licenses import LicenseSettings, license_objection
from cass_ray.corpus.screening.scrub import ScrubSettings, scrub
from cass_ray.dataset.duplicates_report import RemovedRow
from cass_ray.dataset.schema import Origin, Reason, Stage, is_rejected, rejected

Row = dict[str, Any]

_BATCH = 256


class NearDuplicateSettings(StrictModel):
    """MinHash LSH over source tokens; a row as similar as ``threshold`` to an earlier one goes."""

    enabled: bool = True
    threshold: float = Field(default=0.8, gt=0.0, le=1.0)


class StructuralDuplicateSettings(StrictModel):
    """Programs that differ in names and constants alone, or compile to the same instructions.

    Only rows of ``origins`` are looked at: people write the same shape for different ends, a
    template does not. ``null`` turns a level off.
    """

    origins: list[Origin] = [Origin.SYNTHETIC]
    shape: float | None = Field(default=0.95, gt=0.0, le=1.0)
    """Similarity of runs of syntax-tree nodes."""
    opcodes: float | None = Field(default=0.95, gt=0.0, le=1.0)
    """Similarity of runs of SASS mnemonics; code below 64 instructions is not looked at."""


class ScreeningSettings(StrictModel):
    """Everything a row is screened by. Each part is a setting of the build."""

    filters: FilterSettings = FilterSettings()
    licenses: LicenseSettings = LicenseSettings()
    scrub: ScrubSettings = ScrubSettings()
    near_duplicates: NearDuplicateSettings = Field(default_factory=NearDuplicateSettings)
    structural_duplicates: StructuralDuplicateSettings = Field(
        default_factory=StructuralDuplicateSettings
    )
    decontamination: DecontaminationSettings = Field(default_factory=DecontaminationSettings)


@dataclass
class ScreeningFindings:
    """What screening found, batch by batch."""

    duplicates: list[RemovedRow] = field(default_factory=list)
    overlaps: list[RemovedRow] = field(default_factory=list)
    scrubbed: Counter[str] = field(default_factory=Counter)

    def duplicate(self, row: Row, reason: Reason, level: str, similar: Similar) -> Row:
        """``row`` rejected as a duplicate."""
        self.duplicates.append(_removed(row, level, similar.id, similar.similarity))
        degree = "" if level == "exact" else f" ({level}: {similar.similarity:.2f})"
        message = f"the same program as row {similar.id}{degree}"
        return rejected(row, Stage.DEDUPLICATE, reason, message, duplicate_of=similar.id)

    def overlap(self, row: Row, overlap: Overlap) -> Row:
        """``row`` rejected for repeating evaluation data."""
        self.overlaps.append(_removed(row, overlap.level, overlap.evaluation, overlap.similarity))
        return rejected(row, Stage.DECONTAMINATE, Reason.BENCHMARK_OVERLAP, overlap.message())


def _removed(row: Row, level: str, repeats: str, similarity: float) -> RemovedRow:
    return RemovedRow(
        id=row["id"],
        origin=row.get("origin") or "",
        repository=row.get("repository") or "",
        path=row.get("path") or "",
        level=level,
        repeats=repeats,
        similarity=similarity,
    )


class Screening:
    """State of one build: what was kept, and what evaluation data there is.

    Raises ``EvaluationError`` when evaluation data cannot be loaded. ``folder`` is for the sets of
    the rows that were kept.
    """

    def __init__(self, settings: ScreeningSettings, folder: Path | None = None) -> None:
        self.findings = ScreeningFindings()
        self._settings = settings
        self._exact = ExactDuplicates()
        near, structure = settings.near_duplicates, settings.structural_duplicates
        self._near = NearDuplicates(near.threshold, folder=folder) if near.enabled else None
        self._shapes = _structural(structure.shape, SHAPE_RUN, folder)
        self._opcodes = _structural(structure.opcodes, 1, folder)
        self.decontamination = Decontamination(settings.decontamination)

    def before_compiling(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows as they come from the sources."""
        return _in_batches(rows, self._screen_sources)

    def after_compiling(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows with machine code, in input order."""
        return _in_batches(rows, self._screen_opcodes)

    def _screen_sources(self, rows: list[Row]) -> None:
        for index, row in enumerate(rows):
            if not is_rejected(row):
                rows[index] = self._alone(row)
        live = _live(rows)
        sets = hash_sets([source_tokens(source_of(rows[index])) for index in live]) if live else []
        self._decontaminate(rows, live, sets)
        self._deduplicate(rows, live, sets)

    def _alone(self, row: Row) -> Row:
        """What needs no other row."""
        verdict = first_objection(row, self._settings.filters)
        if verdict is None:
            verdict = license_objection(row, self._settings.licenses)
        if verdict is not None:
            return rejected(row, Stage.FILTER, *verdict)
        overlap = self.decontamination.by_origin(row)
        return self.findings.overlap(row, overlap) if overlap else self._scrubbed(row)

    def _scrubbed(self, row: Row) -> Row:
        columns = [name for name in ("cuda_source", "opencl_source") if row.get(name)]
        for column in columns:
            text, found = scrub(row[column], self._settings.scrub)
            if found:
                self.findings.scrubbed.update(found)
                row = {**row, column: text}
        return row

    def _decontaminate(self, rows: list[Row], live: list[int], sets: Sequence[Hashes]) -> None:
        for index, overlap in zip(live, self.decontamination.by_source(sets), strict=True):
            if overlap is not None:
                rows[index] = self.findings.overlap(rows[index], overlap)

    def _deduplicate(self, rows: list[Row], live: list[int], sets: Sequence[Hashes]) -> None:
        for index in live:
            row = rows[index]
            if is_rejected(row):
                continue
            if (first := self._exact.offer(row["id"])) is not None:
                rows[index] = self.findings.duplicate(
                    row, Reason.EXACT_DUPLICATE, "exact", Similar(first, 1.0)
                )
        if self._near is not None:
            left = [(i, own) for i, own in zip(live, sets, strict=True) if not is_rejected(rows[i])]
            self._mark(rows, left, self._near, Reason.NEAR_DUPLICATE, "near")
        if self._shapes is not None:
            wanted = [index for index in live if self._is_structural(rows[index])]
            shapes = [syntax_shape(source_of(rows[index])) for index in wanted]
            if wanted:
                pairs = list(zip(wanted, hash_sets(shapes, SHAPE_RUN), strict=True))
                self._mark(rows, pairs, self._shapes, Reason.STRUCTURAL_DUPLICATE, "shape")

    def _screen_opcodes(self, rows: list[Row]) -> None:
        sets: list[tuple[int, Hashes]] = []
        for index in _live(rows):
            listing = rows[index].get("cuda_device") or ""
            overlap = self.decontamination.by_opcodes(listing)
            if overlap is not None:
                rows[index] = self.findings.overlap(rows[index], overlap)
            elif self._opcodes is not None and self._is_structural(rows[index]):
                own = opcode_set(listing)
                if own is not None:
                    sets.append((index, own))
        if self._opcodes is not None:
            self._mark(rows, sets, self._opcodes, Reason.STRUCTURAL_DUPLICATE, "opcodes")

    def _is_structural(self, row: Row) -> bool:
        origins = self._settings.structural_duplicates.origins
        return not is_rejected(row) and row.get("origin") in origins

    def _mark(
        self,
        rows: list[Row],
        sets: Sequence[tuple[int, Hashes]],
        known: NearDuplicates,
        reason: Reason,
        level: str,
    ) -> None:
        """Reject the rows whose sets repeat those of an earlier row."""
        if not sets:
            return
        ids = [rows[index]["id"] for index, _ in sets]
        found = known.offer_sets(ids, [own for _, own in sets])
        for (index, _), similar in zip(sets, found, strict=True):
            if similar is not None:
                rows[index] = self.findings.duplicate(rows[index], reason, level, similar)


def _structural(threshold: float | None, run: int, folder: Path | None) -> NearDuplicates | None:
    return NearDuplicates(threshold, run, folder) if threshold is not None else None


def _live(rows: Sequence[Row]) -> list[int]:
    return [index for index, row in enumerate(rows) if not is_rejected(row)]


def _in_batches(rows: Iterable[Row], screen: Callable[[list[Row]], None]) -> Iterator[Row]:
    source = iter(rows)
    while batch := list(islice(source, _BATCH)):
        screen(batch)
        yield from batch
