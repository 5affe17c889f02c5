"""The fourth step: what is said of finished rows once all of a piece is there.

Overlap with evaluation data by machine code, and what of the pairs is trained on. The rows are not
written again: these *facts* lie beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from cass_ray.corpus.screening.comparison import compared_opcodes, opcode_levels
from cass_ray.corpus.screening.screening import removed
from cass_ray.corpus.screening.selection import SELECTION_SCHEMA, Selection
from cass_ray.dataset.duplicates_report import RemovedRow, removed_table
from cass_ray.dataset.row import is_rejected
from cass_ray.pipeline.funnel import UNIT_COLUMNS
from cass_ray.pipeline.pieces.blocks import blocks_of_run, live_runs
from cass_ray.pipeline.pieces.duplicates import duplicates_of, marked
from cass_ray.pipeline.pieces.read import compared_part, rows_part, screening_of
from cass_ray.pipeline.pieces.work import BuildWork, Committed, Deduplicated
from cass_ray.pipeline.stages.base import Row
from cass_ray.storage.ahead import in_order
from cass_ray.storage.manifest import ManifestEntry

_VERDICT = ("stage", "reason", "diagnostic", "duplicate_of")
FACTS_SCHEMA = pa.schema(
    [
        ("position", pa.int32()),
        *((name, pa.string()) for name in _VERDICT),
        ("line", pa.struct(list(SELECTION_SCHEMA))),
    ]
)
"""A line for each row that is rejected now, or has a line in ``selection.parquet``."""


@dataclass(frozen=True)
class PostprocessPieces:
    """Commits the facts of a piece."""

    work: BuildWork
    rows_per_block: int

    def __call__(self, piece: Deduplicated) -> Committed:
        """What was committed. Counts: ``pairs-N`` of run N, before :attr:`BuildWork.structural`.

        Raises ``KeyError`` when a block of the piece was never finished.
        """
        manifest = self.work.facts
        if (entry := manifest.get(piece.key)) is not None:
            return Committed(piece.key, entry.counts)
        draft = manifest.draft(piece.key)
        counts: Counter[str] = Counter()
        overlaps, clusters = self._read_overlaps(piece), list[RemovedRow]()
        selection = Selection(self.work.settings.selection)
        for run, rows, lines in finished_runs(self.work, piece, self.rows_per_block):
            clusters += [
                removed(rows[place], line["level"], line["repeats"], line["similarity"])
                for place, line in sorted(lines.items())
            ]
            facts = _Facts(rows)
            if self.work.settings.compile:
                overlaps += self._by_machine_code(facts)
                if opcode_levels(self.work.settings):
                    compared = compared_opcodes(facts.rows, self.work.settings)
                    draft.write_table(compared_part(run), compared)
            facts.select(selection)
            draft.write_table(_facts_part(run), facts.table())
            counts[f"pairs-{run}"] = sum(not is_rejected(row) for row in facts.rows)
        draft.write_table("overlaps", removed_table(overlaps))
        draft.write_table("clusters", removed_table(clusters))
        return Committed(piece.key, draft.commit(**counts).counts)

    def _by_machine_code(self, facts: _Facts) -> list[RemovedRow]:
        done = screening_of(self.work.settings).machine_code(facts.rows)
        facts.rows = done.rows
        return done.overlaps

    def _read_overlaps(self, piece: Deduplicated) -> list[RemovedRow]:
        entry = self.work.pieces.get(piece.read)
        assert entry is not None
        table = self.work.pieces.table(entry.parts["overlaps"])
        return [RemovedRow(**line) for line in table.to_pylist()]


class _Facts:
    """The rows of a run, and what is new of them."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self._before = [is_rejected(row) for row in rows]
        self._lines: dict[int, Row] = {}

    def select(self, selection: Selection) -> None:
        """Reject what is too long; note a line of each of the rest."""
        for place, row in enumerate(self.rows):
            if is_rejected(row):
                continue
            self.rows[place], line = selection.one(row)
            if line is not None:
                self._lines[place] = line

    def table(self) -> pa.Table:
        """:data:`FACTS_SCHEMA`."""
        result: list[dict[str, Any]] = []
        for place, (row, before) in enumerate(zip(self.rows, self._before, strict=True)):
            if before:
                continue
            verdict = {name: row[name] if is_rejected(row) else "" for name in _VERDICT}
            result.append({"position": place, **verdict, "line": self._lines.get(place)})
        return pa.Table.from_pylist(result, schema=FACTS_SCHEMA)


def finished_runs(
    work: BuildWork, piece: Deduplicated, rows_per_block: int
) -> Iterator[tuple[int, list[Row], dict[int, Row]]]:
    """Each run of ``piece``: its number, its rows as the stages left them, duplicates by place.

    Raises ``KeyError`` when a block was never finished.
    """
    gone = duplicates_of(work.duplicates, piece.key)
    for run, live in live_runs(work, piece):
        lines = gone.get(run, {})
        yield run, finished_run(work, piece, run, live, lines, rows_per_block), lines


def finished_run(
    work: BuildWork,
    piece: Deduplicated,
    run: int,
    live: int,
    lines: dict[int, Row],
    rows_per_block: int,
) -> list[Row]:
    """The rows of one run, ``live`` of which were worked on, in order."""
    read = work.pieces.get(piece.read)
    assert read is not None
    keys = [block.key for block in blocks_of_run(piece.key, run, live, rows_per_block)]
    blocks = in_order(partial(_block_rows, work), keys)
    worked = iter([row for rows in blocks for row in rows])
    result: list[Row] = []
    for place, row in enumerate(work.pieces.table(read.parts[rows_part(run)]).to_pylist()):
        if is_rejected(row):
            result.append(row)
        elif place in lines:
            result.append(marked(row, lines[place]))
        else:
            result.append({**next(worked), **{name: row.get(name) for name in UNIT_COLUMNS}})
    assert next(worked, None) is None, f"run {run} of piece {piece.key} has rows to spare"
    return result


def _block_rows(work: BuildWork, key: str) -> list[Row]:
    entry = work.blocks.get(key)
    if entry is None:
        raise KeyError(f"block {key} was never finished")
    rows: list[Row] = work.blocks.table(entry.parts["rows"]).to_pylist()
    return rows


def _facts_part(run: int) -> str:
    return f"facts-{run:05}"


def postprocessed_runs(entry: ManifestEntry) -> list[int]:
    """The runs of a piece whose facts are in ``entry``, in order."""
    prefix = _facts_part(0).rstrip("0")
    return sorted(int(name.removeprefix(prefix)) for name in entry.parts if name.startswith(prefix))


def facts_of(work: BuildWork, piece: Deduplicated, run: int) -> dict[int, Row]:
    """Lines of :data:`FACTS_SCHEMA` of a run, by place."""
    entry = work.facts.get(piece.key)
    assert entry is not None, f"piece {piece.key} is not postprocessed"
    return facts_in(work, entry, run)


def facts_in(work: BuildWork, entry: ManifestEntry, run: int) -> dict[int, Row]:
    """:func:`facts_of` the piece whose facts are in ``entry``."""
    table = work.facts.table(entry.parts[_facts_part(run)])
    return {line["position"]: line for line in table.to_pylist()}


def with_facts(row: Row, fact: Row | None, structural: Row | None) -> Row:
    """``row`` as it leaves: marked by what was decided last."""
    if structural is not None:
        return marked(row, structural)
    if fact is not None and fact["reason"]:
        return {**row, **{name: fact[name] for name in _VERDICT}}
    return row
