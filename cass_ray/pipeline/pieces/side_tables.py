"""``clusters.parquet``, ``decontamination.parquet`` and ``selection.parquet``.

Their lines are gathered a span of pieces at a time by whoever does the work of pieces; the driver
puts them one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow as pa

from cass_ray.corpus.screening.screening import removed
from cass_ray.corpus.screening.selection import SELECTION_SCHEMA
from cass_ray.dataset.duplicates_report import REMOVED_SCHEMA, RemovedRow, removed_table
from cass_ray.dataset.parquet import LineWriter
from cass_ray.pipeline.pieces.assemble import structural_of
from cass_ray.pipeline.pieces.blocks import live_runs
from cass_ray.pipeline.pieces.duplicates import duplicates_of
from cass_ray.pipeline.pieces.postprocess import facts_in, finished_run, postprocessed_runs
from cass_ray.pipeline.pieces.runner import Runner
from cass_ray.pipeline.pieces.work import BuildWork, Committed, Deduplicated
from cass_ray.pipeline.stages.base import Row
from cass_ray.storage.ahead import in_order
from cass_ray.storage.manifest import ManifestEntry
from cass_ray.storage.store import Store
from cass_ray.temporary import temporary_prefix

PIECES_OF_A_SPAN = 64

CLUSTERS, DECONTAMINATION, SELECTION = "clusters", "decontamination", "selection"
SCHEMAS = {
    CLUSTERS: REMOVED_SCHEMA,
    DECONTAMINATION: REMOVED_SCHEMA,
    SELECTION: SELECTION_SCHEMA,
}
"""Of the files, by name without ``.parquet``."""


@dataclass(frozen=True)
class SideSpan:
    """Consecutive pieces."""

    pieces: tuple[Deduplicated, ...]

    @property
    def key(self) -> str:
        """Sorts as the input does."""
        return f"{self.pieces[-1].key}-{len(self.pieces):03}"


def spans_of(pieces: Sequence[Deduplicated]) -> Iterator[SideSpan]:
    """All pieces, in order."""
    left = iter(pieces)
    while some := tuple(islice(left, PIECES_OF_A_SPAN)):
        yield SideSpan(some)


class _Lines(NamedTuple):
    """What the side files say of one piece."""

    clusters: list[pa.Table]
    overlaps: pa.Table
    selection: list[Row]


@dataclass(frozen=True)
class GatherLines:
    """Commits the lines of a span; as they are where they were committed before."""

    work: BuildWork
    rows_per_block: int

    def __call__(self, span: SideSpan) -> Committed:
        """What was committed. Counts: pairs by split, and ``copies`` in an epoch."""
        manifest = self.work.sides
        if (entry := manifest.get(span.key)) is not None:
            return Committed(span.key, entry.counts)
        counts: Counter[str] = Counter()
        tables: dict[str, list[pa.Table]] = {name: [] for name in SCHEMAS}
        facts = self.work.facts.read_entries(piece.key for piece in span.pieces)
        postprocessed = (
            (piece, entry) for piece, (_, entry) in zip(span.pieces, facts, strict=True)
        )
        for each in in_order(self._of_piece, postprocessed):
            tables[CLUSTERS] += each.clusters
            tables[DECONTAMINATION].append(each.overlaps)
            tables[SELECTION].append(pa.Table.from_pylist(each.selection, schema=SELECTION_SCHEMA))
            for line in each.selection:
                counts[line["split"]] += 1
                counts["copies"] += line["copies"]
        draft = manifest.draft(span.key)
        for name, own in tables.items():
            if (table := pa.concat_tables(own)).num_rows:
                draft.write_table(name, table)
        return Committed(span.key, draft.commit(**counts).counts)

    def _of_piece(self, postprocessed: tuple[Deduplicated, ManifestEntry]) -> _Lines:
        piece, entry = postprocessed
        structural = structural_of(self.work, piece)
        clusters = [
            self._removed(entry, "clusters"),
            removed_table(self._by_machine_code(piece, structural)),
        ]
        lines = list(self._lines(entry, structural))
        return _Lines(clusters, self._removed(entry, "overlaps"), lines)

    def _removed(self, entry: ManifestEntry, name: str) -> pa.Table:
        part = entry.parts[name]
        return self.work.facts.table(part) if part.rows else removed_table([])

    def _by_machine_code(
        self, piece: Deduplicated, structural: dict[int, dict[int, Row]]
    ) -> list[RemovedRow]:
        result: list[RemovedRow] = []
        live = dict(live_runs(self.work, piece)) if structural else {}
        gone = duplicates_of(self.work.duplicates, piece.key) if structural else {}
        for run, lines in sorted(structural.items()):
            rows = finished_run(
                self.work, piece, run, live[run], gone.get(run, {}), self.rows_per_block
            )
            result += [
                removed(rows[place], line["level"], line["repeats"], line["similarity"])
                for place, line in sorted(lines.items())
            ]
        return result

    def _lines(self, entry: ManifestEntry, structural: dict[int, dict[int, Row]]) -> Iterator[Row]:
        for run in postprocessed_runs(entry):
            for place, fact in sorted(facts_in(self.work, entry, run).items()):
                if fact["line"] is not None and place not in structural.get(run, {}):
                    yield fact["line"]


@dataclass(frozen=True)
class SideFiles:
    """The three files of a data set in ``store``."""

    work: BuildWork
    runner: Runner
    store: Store
    rows_per_block: int

    def write(self, pieces: Sequence[Deduplicated]) -> dict[str, int]:
        """Write them; pairs by split and copies in an epoch."""
        spans = list(spans_of(pieces))
        selected = {"train": 0, "validation": 0, "copies": 0}
        for done in self.runner.each(GatherLines(self.work, self.rows_per_block), spans):
            for name, count in done.counts.items():
                selected[name] += count
        with TemporaryDirectory(prefix=temporary_prefix("build")) as folder:
            self._put_together(spans, Path(folder))
            for path in sorted(Path(folder).iterdir()):
                self.store.upload(path.name, path)
        return selected

    def _put_together(self, spans: Sequence[SideSpan], folder: Path) -> None:
        with ExitStack() as stack:
            writers = {
                name: stack.enter_context(LineWriter(folder / f"{name}.parquet", schema))
                for name, schema in SCHEMAS.items()
            }
            entries = self.work.sides.read_entries(span.key for span in spans)
            for tables in in_order(self._tables, (entry for _, entry in entries)):
                for name, table in tables.items():
                    writers[name].write(table)

    def _tables(self, entry: ManifestEntry) -> dict[str, pa.Table]:
        return {name: self.work.sides.table(part) for name, part in entry.parts.items()}
