"""The second step: which rows of the pieces repeat an earlier one, decided in input order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from cass_ray.cache import digest
from cass_ray.corpus.dedup.shards import Shards, ShardsLost
from cass_ray.corpus.screening.comparison import SimilarityLevel
from cass_ray.corpus.screening.decide import Decider, Duplicate
from cass_ray.dataset.row import Reason, Stage, rejected
from cass_ray.pipeline.pieces.read import compared_part
from cass_ray.pipeline.pieces.work import Committed, Deduplicated, EntryCounts
from cass_ray.pipeline.stages.base import Row
from cass_ray.storage.ahead import in_order
from cass_ray.storage.manifest import ManifestEntry, PartFile, PartManifest

LINES_OF_A_SPAN = 2048
"""Lines decided together, in whole runs: each span asks every shard a few times."""

_ATTEMPTS = 8
"""Nodes that hold shards may be lost; what was committed before is the same in the next attempt."""

DUPLICATES_SCHEMA = pa.schema(
    [
        ("run", pa.int32()),
        ("position", pa.int32()),
        ("level", pa.string()),
        ("reason", pa.string()),
        ("repeats", pa.string()),
        ("similarity", pa.float64()),
    ]
)
_PART = "duplicates"


def chained(keys: Iterable[str]) -> list[Deduplicated]:
    """What is decided of each piece is called after all pieces up to it."""
    result: list[Deduplicated] = []
    chain = ""
    for index, key in enumerate(keys):
        chain = digest([chain, key])
        result.append(Deduplicated(index, key, f"{index:06}-{chain[:12]}"))
    return result


@dataclass
class _Open:
    """A piece of which some runs may be undecided."""

    decided: Deduplicated
    runs_left: int
    lines: list[Row] = field(default_factory=list)


class _Compared(NamedTuple):
    """A run, and what its rows are compared on."""

    opened: _Open
    run: int
    table: pa.Table


@dataclass(frozen=True)
class DecidePieces:
    """Decides pieces in order and commits what was found of each.

    Nothing is read where the last piece is committed already; else all is decided again, from the
    first, for the shards begin empty.

    Args:
        compared: the pieces whose parts ``compared-N`` are looked at, and their key there.
        results: where ``duplicates`` are committed.
        levels: kinds of similarity.
        shards: made when they are needed.
        exact: whether equal ids go first.
    """

    compared: PartManifest
    compared_key: Callable[[Deduplicated], str]
    results: PartManifest
    levels: Sequence[SimilarityLevel]
    shards: Callable[[], Shards]
    exact: bool = True

    def __call__(self, pieces: Sequence[Deduplicated]) -> Iterator[Committed]:
        """What was committed, in order. Counts: ``gone-N`` of run N, ``reason-WHY``.

        Raises ``ShardsLost`` where shards were lost each of several times.
        """
        if not pieces or self.results.get(pieces[-1].key) is not None:
            for key, entry in self.results.read_entries(piece.key for piece in pieces):
                yield Committed(key, entry.counts)
            return
        attempts = Retrying(
            retry=retry_if_exception_type(ShardsLost),
            stop=stop_after_attempt(_ATTEMPTS),
            reraise=True,
        )
        committed = attempts(self._decide_all, pieces)
        for piece in pieces:
            yield Committed(piece.key, committed.of(piece.key))

    def _decide_all(self, pieces: Sequence[Deduplicated]) -> EntryCounts:
        committed = EntryCounts(self.results)
        for done in in_order(self._commit, self._decided(pieces)):
            committed.note(done)
        return committed

    def _decided(self, pieces: Sequence[Deduplicated]) -> Iterator[_Open]:
        """Pieces as they are decided, those without rows last."""
        decider = Decider(self.levels, self.shards(), exact=self.exact)
        without_rows: list[_Open] = []
        waiting: list[_Compared] = []
        lines = 0
        for each in in_order(self._read, self._runs(pieces, without_rows)):
            waiting.append(each)
            lines += each.table.num_rows
            if lines >= LINES_OF_A_SPAN:
                yield from _decide(decider, waiting)
                waiting, lines = [], 0
        yield from _decide(decider, waiting)
        yield from without_rows

    def _runs(
        self, pieces: Sequence[Deduplicated], without_rows: list[_Open]
    ) -> Iterator[tuple[_Open, int, PartFile]]:
        entries = self.compared.read_entries(map(self.compared_key, pieces))
        for decided, (_, entry) in zip(pieces, entries, strict=True):
            runs = _compared_runs(entry)
            opened = _Open(decided, len(runs))
            if not runs:
                without_rows.append(opened)
            for run in runs:
                yield opened, run, entry.parts[compared_part(run)]

    def _read(self, run: tuple[_Open, int, PartFile]) -> _Compared:
        opened, number, part = run
        return _Compared(opened, number, self.compared.table(part))

    def _commit(self, opened: _Open) -> Committed:
        draft = self.results.draft(opened.decided.key)
        if opened.lines:
            draft.write_table(_PART, pa.Table.from_pylist(opened.lines, schema=DUPLICATES_SCHEMA))
        counts: dict[str, int] = {}
        for line in opened.lines:
            for name in (f"gone-{line['run']}", f"reason-{line['reason']}"):
                counts[name] = counts.get(name, 0) + 1
        return Committed(opened.decided.key, draft.commit(**counts).counts)


def _decide(decider: Decider, waiting: Sequence[_Compared]) -> Iterator[_Open]:
    """Decide these runs; the pieces of which no run is left."""
    if not waiting:
        return
    # Positions differ from run to run, the rest of the columns makes one table of lines.
    decisions = iter(decider.offer(pa.concat_tables([each.table for each in waiting])))
    duplicate = next(decisions, None)
    first = 0
    for opened, run, table in waiting:
        positions = table.column("position").to_pylist()
        while duplicate is not None and duplicate.line < first + table.num_rows:
            opened.lines.append(_line(run, positions[duplicate.line - first], duplicate))
            duplicate = next(decisions, None)
        first += table.num_rows
        opened.runs_left -= 1
        if not opened.runs_left:
            yield opened


def _compared_runs(entry: ManifestEntry) -> list[int]:
    prefix = compared_part(0).rstrip("0")
    return sorted(int(name.removeprefix(prefix)) for name in entry.parts if name.startswith(prefix))


def _line(run: int, position: int, duplicate: Duplicate) -> Row:
    return {
        "run": run,
        "position": position,
        "level": duplicate.level,
        "reason": duplicate.reason.value,
        "repeats": duplicate.repeats,
        "similarity": duplicate.similarity,
    }


def duplicates_of(manifest: PartManifest, key: str) -> dict[int, dict[int, Row]]:
    """What was decided of a piece: run -> position -> line of :data:`DUPLICATES_SCHEMA`."""
    entry = manifest.get(key)
    assert entry is not None, f"piece {key} was not decided"
    result: dict[int, dict[int, Row]] = {}
    part = entry.parts.get(_PART)
    for line in manifest.table(part).to_pylist() if part is not None else ():
        result.setdefault(line["run"], {})[line["position"]] = line
    return result


def marked(row: Row, line: Row) -> Row:
    """``row`` rejected as a duplicate, as ``line`` says."""
    own = Duplicate(0, line["level"], Reason(line["reason"]), line["repeats"], line["similarity"])
    return rejected(row, Stage.DEDUPLICATE, own.reason, own.message(), duplicate_of=own.repeats)
