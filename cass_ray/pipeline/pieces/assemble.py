"""The last step: Parquet parts of the data set, each made by itself from runs of the pieces.

Every part holds a fixed number of rows, so which rows are in it follows from counts alone, and the
bytes are those that one process would write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from cass_ray.corpus.screening.comparison import opcode_levels
from cass_ray.dataset.parquet import ROWS_PER_PART, part_bytes, part_name
from cass_ray.dataset.row import is_rejected
from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA
from cass_ray.pipeline.output import KINDS
from cass_ray.pipeline.pieces.blocks import live_runs
from cass_ray.pipeline.pieces.duplicates import duplicates_of
from cass_ray.pipeline.pieces.postprocess import facts_of, finished_run, with_facts
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.report import Tally
from cass_ray.pipeline.stages.base import Row

PAIRS, REJECTS = KINDS
SCHEMAS = {PAIRS: PAIR_SCHEMA, REJECTS: REJECT_SCHEMA}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows of one kind in one run: ``count`` of them, ``skip`` before."""

    piece: Deduplicated
    run: int
    live: int
    skip: int
    count: int


@dataclass(frozen=True)
class PartPlan:
    """One Parquet file to be, of rows of ``kind``."""

    kind: str
    number: int
    stretches: tuple[Stretch, ...]

    @property
    def name(self) -> str:
        """Path in the data set."""
        return f"{self.kind}/{part_name(self.number)}"


def plan(work: BuildWork, pieces: Sequence[Deduplicated]) -> Iterator[PartPlan]:
    """Every part of the data set, in order; one without rows where there are none of a kind."""
    for kind in (PAIRS, REJECTS):
        number, left = 0, ROWS_PER_PART
        stretches: list[Stretch] = []
        for piece, run, live, counts in _counted(work, pieces):
            taken, rows = 0, counts[kind]
            while taken < rows:
                count = min(left, rows - taken)
                stretches.append(Stretch(piece, run, live, taken, count))
                taken, left = taken + count, left - count
                if not left:
                    yield PartPlan(kind, number, tuple(stretches))
                    number, left, stretches = number + 1, ROWS_PER_PART, []
        if stretches or not number:
            yield PartPlan(kind, number, tuple(stretches))


def _counted(
    work: BuildWork, pieces: Sequence[Deduplicated]
) -> Iterator[tuple[Deduplicated, int, int, dict[str, int]]]:
    """Each run with the rows that were worked on, and its rows by kind."""
    for piece in pieces:
        read, facts = work.read_counts.of(piece.read), work.fact_counts.of(piece.key)
        structural = structural_of(work, piece)
        for run, live in live_runs(work, piece):
            pairs = facts[f"pairs-{run}"]
            if gone := structural.get(run):
                # A row that goes for its machine code may have gone already, for its length.
                figures = facts_of(work, piece, run)
                pairs -= sum(not figures[place]["reason"] for place in gone)
            rows = read[f"rows-{run}"]
            yield piece, run, live, {PAIRS: pairs, REJECTS: rows - pairs}


@dataclass(frozen=True)
class WriteParts:
    """Writes a part to ``folder`` of the data set's place; what is in it comes back."""

    work: BuildWork
    folder: str
    rows_per_block: int

    def __call__(self, part: PartPlan) -> Tally:
        """Counts over the rows of ``part``."""
        tally = Tally()

        def rows() -> Iterator[Row]:
            for stretch in part.stretches:
                for row in self._rows(part.kind, stretch):
                    tally.add(row)
                    yield row

        content = part_bytes(rows(), SCHEMAS[part.kind])
        name = f"{self.folder}/{part.name}" if self.folder else part.name
        self.work.root.put(name, content)
        return tally

    def _rows(self, kind: str, stretch: Stretch) -> Iterator[Row]:
        rows = self._leaving(stretch)
        own = (row for row in rows if is_rejected(row) == (kind == REJECTS))
        part = list(islice(own, stretch.skip, stretch.skip + stretch.count))
        assert len(part) == stretch.count, f"run {stretch.run} of {stretch.piece.key} has changed"
        yield from part

    def _leaving(self, stretch: Stretch) -> Iterator[Row]:
        work, piece, run = self.work, stretch.piece, stretch.run
        lines = duplicates_of(work.duplicates, piece.key).get(run, {})
        rows = finished_run(work, piece, run, stretch.live, lines, self.rows_per_block)
        facts, structural = facts_of(work, piece, run), structural_of(work, piece).get(run, {})
        for place, row in enumerate(rows):
            yield with_facts(row, facts.get(place), structural.get(place))


def structural_of(work: BuildWork, piece: Deduplicated) -> dict[int, dict[int, Row]]:
    """Duplicates by machine code of ``piece``: run -> place -> line."""
    if not opcode_levels(work.settings) or not work.settings.compile:
        return {}
    counts = work.structural_counts.of(piece.key)
    return duplicates_of(work.structural, piece.key) if counts else {}
