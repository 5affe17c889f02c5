"""The steps of a build in order: the caller has the compilers and does the work of pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from cass_ray.corpus.screening.comparison import opcode_levels, source_levels
from cass_ray.pipeline.output import Output
from cass_ray.pipeline.pieces.assemble import PartPlan, WriteParts, plan
from cass_ray.pipeline.pieces.blocks import Block, OpenBlocks, live_rows
from cass_ray.pipeline.pieces.cached import FinishCached
from cass_ray.pipeline.pieces.duplicates import DecidePieces, chained
from cass_ray.pipeline.pieces.postprocess import PostprocessPieces
from cass_ray.pipeline.pieces.read import ROWS_PER_RUN, ReadPieces, pieces_of, rows_of
from cass_ray.pipeline.pieces.runner import Runner
from cass_ray.pipeline.pieces.side_tables import SideFiles
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated, Piece
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.report import Tally

ROWS_PER_BLOCK = 8
_BLOCKS_PER_SLOT = 4
_MANY_BLOCKS = 20_000
"""The driver knows each block: with more of them blocks grow, up to a whole run."""

Compile = Callable[[Iterable[tuple[Deduplicated, Block]]], Iterator[dict[str, int]]]
"""Finishes and commits blocks; the counts of each as it is committed."""


@dataclass
class Steps:
    """One build.

    ``slots`` is how many compilers run at a time; ``from_cache`` whether this process finishes
    what needs no compiler, before any is started.
    """

    work: BuildWork
    runner: Runner
    progress: Progress
    slots: int
    from_cache: bool

    def read(self, folder: Path) -> list[Deduplicated]:
        """Read all sources and decide which rows repeat others.

        ``folder`` is for what sources fetch. Raises ``SourceError`` when a source as a whole cannot
        be read.
        """
        keys: list[str] = []

        def noted() -> Iterator[Piece]:
            for piece in pieces_of(self.work.settings, folder, self.progress.step):
                keys.append(piece.key)
                yield piece

        for done in self.runner.each(ReadPieces(self.work, folder), noted()):
            self.work.read_counts.note(done)
            self.progress.add(done.counts)
        pieces = chained(keys)
        self.progress.step("looking for duplicates")
        decide = DecidePieces(
            compared=self.work.pieces,
            compared_key=attrgetter("read"),
            results=self.work.duplicates,
            levels=source_levels(self.work.settings),
            shards=self.runner.shards,
        )
        for done in decide(pieces):
            self.work.duplicate_counts.note(done)
            self.progress.add(done.counts)
        return pieces

    def finish(self, pieces: Sequence[Deduplicated], compile_blocks: Compile) -> int:
        """Finish every row; returns how many rows a whole block has."""
        rows = live_rows(self.work, pieces)
        wanted = rows_per_block(self.work.settings.rows_per_block, rows, self.slots)
        # A resumed run may have other slots, and goes on with the blocks of the first.
        agreed = self.work.agreed("rows_per_block", wanted)
        blocks = OpenBlocks(self.work, pieces, agreed)
        for entry in blocks.committed():
            self.progress.add(entry.counts)
        self.progress.step("taking results of earlier builds")
        if self.from_cache:
            for entry in FinishCached(self.work)(blocks):
                self.progress.add(entry.counts)
        left = sum(block.rows for _, block in blocks)
        self.progress.expect(left, rows_of(self.work, pieces))
        if left:
            self.progress.step("compiling")
            for counts in compile_blocks(blocks):
                self.progress.add(counts, compiled=True)
        return agreed

    def write(
        self, pieces: Sequence[Deduplicated], rows_per_block: int, output: Output
    ) -> tuple[Tally, dict[str, int]]:
        """Write the data set; what is in it, and the counts of its selection.

        Raises ``ConservationError`` if a row got lost.
        """
        work = self.work
        self.progress.step("writing")
        for done in self.runner.each(PostprocessPieces(work, rows_per_block), pieces):
            work.fact_counts.note(done)
        levels = opcode_levels(work.settings)
        if levels and work.settings.compile:
            decide = DecidePieces(
                compared=work.facts,
                compared_key=attrgetter("key"),
                results=work.structural,
                levels=levels,
                shards=self.runner.shards,
                exact=False,
            )
            for done in decide(pieces):
                work.structural_counts.note(done)
        tally = Tally()
        names: set[str] = set()

        def noted() -> Iterator[PartPlan]:
            for part in plan(work, pieces):
                names.add(part.name)
                yield part

        with output.replaced(names):
            parts = WriteParts(work, output.parts, rows_per_block)
            for counts in self.runner.each(parts, noted()):
                tally.merge(counts)
            tally.check_conservation(rows_of(work, pieces))
            sides = SideFiles(work, self.runner, output.store, rows_per_block)
            selected = sides.write(pieces)
        return tally, selected


def rows_per_block(wanted: int | None, rows: int, slots: int) -> int:
    """As wanted; else 8, fewer when every slot would not get a few blocks to work on, or more when
    there are very many."""
    if wanted is not None:
        return wanted
    most = min(ROWS_PER_RUN, max(ROWS_PER_BLOCK, rows // _MANY_BLOCKS))
    return max(1, min(most, rows // (_BLOCKS_PER_SLOT * slots)))
