"""The third step: blocks of rows that need work, and finished ones committed."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from cass_ray.dataset.row import is_rejected
from cass_ray.dataset.schema import REJECT_SCHEMA
from cass_ray.pipeline.pieces.duplicates import duplicates_of
from cass_ray.pipeline.pieces.read import rows_part
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.stages.base import BLOCK_COLUMN, Row
from cass_ray.storage.manifest import ManifestEntry

_KEY = re.compile(r"(\d+)-([0-9a-f]+)-(\d+)-(\d+)-(\d+)")
_RUNS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of one run that are worked on together: neither rejected nor duplicates."""

    decided: str
    """Key of the piece, :attr:`~.work.Decided.key`."""
    run: int
    start: int
    """Among the rows of the run that need work."""
    rows: int

    @property
    def key(self) -> str:
        """Sorts as the input does."""
        return f"{self.decided}-{self.run:05}-{self.start:03}-{self.rows:03}"

    @classmethod
    def parse(cls, key: str) -> Block:
        """The block that ``key`` names. Raises ``ValueError``."""
        match = _KEY.fullmatch(key)
        if match is None:
            raise ValueError(f"{key!r} is not the key of a block")
        index, chain, run, start, rows = match.groups()
        return cls(f"{index}-{chain}", int(run), int(start), int(rows))


def blocks_of_run(decided: str, run: int, rows: int, rows_per_block: int) -> Iterator[Block]:
    """The blocks of a run in which ``rows`` rows need work."""
    for start in range(0, rows, rows_per_block):
        yield Block(decided, run, start, min(rows_per_block, rows - start))


class BlockReader:
    """Rows of blocks; runs that were read lately stay decoded. For use by several threads."""

    def __init__(self, work: BuildWork) -> None:
        self._work = work
        self._kept: OrderedDict[tuple[str, int], list[Row]] = OrderedDict()
        self._lock = threading.Lock()

    def rows(self, block: Block, read_key: str) -> list[Row]:
        """The rows of ``block`` of the piece that was read as ``read_key``."""
        key = (block.decided, block.run)
        with self._lock:
            live = self._kept.get(key)
            if live is None:
                live = self._kept[key] = self._live(block, read_key)
                if len(self._kept) > _RUNS_KEPT:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
        own = live[block.start : block.start + block.rows]
        assert len(own) == block.rows, f"block {block.key} has {len(own)} rows"
        return [{**row, BLOCK_COLUMN: block.key} for row in own]

    def _live(self, block: Block, read_key: str) -> list[Row]:
        entry = self._work.pieces.get(read_key)
        assert entry is not None, f"piece {read_key} was not read"
        rows = self._work.pieces.table(entry.parts[rows_part(block.run)]).to_pylist()
        gone = duplicates_of(self._work.duplicates, block.decided).get(block.run, {})
        return [row for place, row in enumerate(rows) if place not in gone and not is_rejected(row)]


def commit_block(work: BuildWork, key: str, rows: Sequence[Row]) -> ManifestEntry:
    """Make ``rows``, finished, the result of the block ``key``, unless it has one.

    Counts: ``rows``, ``pairs``, and ``reason-WHY`` of those that were rejected.
    """
    assert len(rows) == Block.parse(key).rows, f"block {key} comes back with {len(rows)} rows"
    draft = work.blocks.draft(key)
    finished = [finished_columns(row) for row in rows]
    draft.write_table("rows", pa.Table.from_pylist(finished, schema=REJECT_SCHEMA))
    reasons = Counter(f"reason-{row['reason']}" for row in rows if is_rejected(row))
    return draft.commit(rows=len(rows), pairs=len(rows) - reasons.total(), **reasons)


def finished_columns(row: Row) -> Row:
    """``row`` without the working columns."""
    return {name: row.get(name) for name in REJECT_SCHEMA.names}


@dataclass(frozen=True)
class OpenBlocks:
    """The blocks of a build, and which of them are committed."""

    work: BuildWork
    pieces: Sequence[Deduplicated]
    rows_per_block: int

    def __iter__(self) -> Iterator[tuple[Deduplicated, Block]]:
        """Blocks that are not committed, in order, with their pieces."""
        committed = set(self.work.blocks.keys())
        for piece, block in self.all():
            if block.key not in committed:
                yield piece, block

    def committed(self) -> Iterator[ManifestEntry]:
        """Entries of the blocks that an earlier run committed."""
        keys = set(self.work.blocks.keys())
        own = (block.key for _, block in self.all() if block.key in keys) if keys else ()
        for _, entry in self.work.blocks.read_entries(own):
            yield entry

    def all(self) -> Iterator[tuple[Deduplicated, Block]]:
        """Every block, in order."""
        for piece in self.pieces:
            for run, rows in live_runs(self.work, piece):
                for block in blocks_of_run(piece.key, run, rows, self.rows_per_block):
                    yield piece, block


def live_runs(work: BuildWork, piece: Deduplicated) -> Iterator[tuple[int, int]]:
    """Each run of ``piece``, and how many of its rows need work."""
    decided = work.duplicate_counts.of(piece.key)
    for name, live in work.read_counts.of(piece.read).items():
        if name.startswith("live-"):
            run = int(name.removeprefix("live-"))
            yield run, live - decided.get(f"gone-{run}", 0)


def live_rows(work: BuildWork, pieces: Iterable[Deduplicated]) -> int:
    """How many rows need work."""
    return sum(rows for piece in pieces for _, rows in live_runs(work, piece))
