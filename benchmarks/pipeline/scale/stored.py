"""The driver of a build into object storage, as it is, beside a server that speaks S3.

What workers leave there is written before, by another process: the first pieces are built as ever,
with the compilers' work played back, and the entries of the others name the same parts. Everything
that the driver reads, decides on and writes goes to the server.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar, cast

import fsspec  # type: ignore[import-untyped]
import numpy as np
from rich.console import Console

from benchmarks.measure.live_memory import LiveMemory
from benchmarks.pipeline.faults.weather import BUCKET, Weather, environment, options, storage
from benchmarks.pipeline.scale.replay import Recording
from benchmarks.pipeline.scale.source import ROWS_OF_A_SPLIT, settings_of
from cass_ray.corpus.dedup.shards import Shards
from cass_ray.pipeline.output import FolderOutput, StorageOutput
from cass_ray.pipeline.pieces.assemble import PAIRS, PartPlan, WriteParts
from cass_ray.pipeline.pieces.blocks import Block, BlockReader, commit_block
from cass_ray.pipeline.pieces.duplicates import chained
from cass_ray.pipeline.pieces.postprocess import PostprocessPieces
from cass_ray.pipeline.pieces.read import ReadPieces, pieces_of
from cass_ray.pipeline.pieces.runner import InlineRunner
from cass_ray.pipeline.pieces.side_tables import PIECES_OF_A_SPAN, GatherLines, spans_of
from cass_ray.pipeline.pieces.steps import Steps
from cass_ray.pipeline.pieces.work import BuildWork, Committed, Deduplicated
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.report import Tally
from cass_ray.pipeline.stages.base import Row
from cass_ray.storage.ahead import in_order
from cass_ray.storage.manifest import ManifestEntry, PartManifest
from cass_ray.storage.store import Store

T = TypeVar("T")
R = TypeVar("R")

REAL = PIECES_OF_A_SPAN
"""Pieces that are read: more than are decided on at a time, so that rows seldom meet again."""
_SLOTS = 1000
_MOMENTS_OF_A_STEP = 20

Entries = dict[str, Sequence[ManifestEntry]]
"""Of the real pieces: ``pieces`` and ``facts``, in order, and ``sides`` of all of them."""


def measure(rows: int, folder: Path, recording: Path) -> dict[str, float]:
    """Seconds and peak memory of a driver of a build of ``rows``, in a process of its own."""
    with _served(rows, recording, folder) as (server, endpoint, entries):
        os.environ.update(environment(endpoint))
        before = _requests(server)
        found = _driven(rows, entries, folder)
        return found | {"requests": _requests(server) - before}


def _driven(rows: int, entries: Entries, folder: Path) -> dict[str, float]:
    settings = settings_of(rows, f"s3://{BUCKET}/build", slots=_SLOTS)
    output = StorageOutput(str(settings.out))
    work = BuildWork(output.store, settings)
    progress = Progress(Console(quiet=True))
    memory = _Watched(rows // ROWS_OF_A_SPLIT // _MOMENTS_OF_A_STEP)
    steps = Steps(work, _Answers(entries, memory), progress, _SLOTS, from_cache=False)
    times = [_Moment()]
    pieces = steps.read(folder)
    times.append(_Moment())
    rows_per_block = steps.finish(pieces, _compiled)
    times.append(_Moment())
    tally, _ = steps.write(pieces, rows_per_block, output)
    times.append(_Moment())
    if tally.rows != rows:
        raise AssertionError(f"{tally.rows} of {rows} rows")
    found: dict[str, float] = {"rows": rows, "pieces": len(pieces)}
    for name, since, until in zip(("read", "finish", "write"), times, times[1:], strict=False):
        found[f"{name} cpu s"] = round(until.cpu - since.cpu, 1)
        found[f"{name} s"] = round(until.clock - since.clock, 1)
    memory.note()
    return found | {
        "mib before": round(memory.first, 1),
        "mib after": round(memory.last, 1),
        "most mib": round(memory.most, 1),
        "mib beyond": round(memory.beyond, 1),
        "peak mib": round(max(moment.peak for moment in memory.moments), 1),
    }


class _Watched(LiveMemory):
    """Moments at every so many pieces of work that are handed out."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every = max(1, every)
        self._handed_out = 0

    def handed_out(self) -> None:
        """One more."""
        self._handed_out += 1
        if self._handed_out % self._every == 0:
            self.note()


class _Moment:
    def __init__(self) -> None:
        self.clock, self.cpu = time.monotonic(), time.process_time()


def _compiled(blocks: Iterable[tuple[Deduplicated, Block]]) -> Iterator[dict[str, int]]:
    for _, block in blocks:
        yield {"rows": block.rows, "pairs": block.rows}


class _Answers:
    """A :class:`~cass_ray.pipeline.pieces.runner.Runner` whose workers have been there before."""

    def __init__(self, entries: Entries, memory: _Watched) -> None:
        self._entries = entries
        self._memory = memory

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """What would come back of each."""
        answers: dict[type, Callable[[Any], Any]] = {
            ReadPieces: lambda piece: Committed(piece.key, self._counts("pieces", piece.index)),
            PostprocessPieces: lambda piece: Committed(
                piece.key, self._counts("facts", piece.index)
            ),
            WriteParts: _written,
            GatherLines: lambda span: Committed(span.key, self._counts("sides", 0)),
        }
        answer = answers[type(work)]
        for item in items:
            self._memory.handed_out()
            yield cast(R, answer(item))

    def shards(self) -> Shards:
        """Elsewhere."""
        return _Elsewhere(self._memory)

    def _counts(self, name: str, index: int) -> Mapping[str, int]:
        return dict(self._entries[name][index % REAL].counts)


def _written(part: PartPlan) -> Tally:
    tally = Tally()
    tally.rows = sum(stretch.count for stretch in part.stretches)
    if part.kind == PAIRS:
        tally.pairs = tally.rows
    else:
        tally.rejects["compile", "error"] = tally.rows
    return tally


class _Elsewhere:
    """Shards of other nodes, where no row is like another."""

    def __init__(self, memory: _Watched) -> None:
        self._memory = memory

    def __len__(self) -> int:
        return 1

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """As :meth:`Shards.call`."""
        self._memory.handed_out()
        (own,) = arguments
        answers: dict[str, Callable[[], Any]] = {
            "repeated": lambda: np.zeros(len(own[0]), np.bool_),
            "candidates": lambda: np.zeros(0, np.uint64),
            "similarities": lambda: np.zeros(len(own[1]), np.float64),
            "ids": list,
        }
        return [answers[method]() if method in answers else None]


@contextmanager
def _served(rows: int, recording: Path, folder: Path) -> Iterator[tuple[Connection, str, Entries]]:
    """A server in a process of its own, its address, and what workers leave there of ``rows``."""
    with _beside(_serve) as server:
        endpoint = server.recv()
        with _beside(_leave, rows, endpoint, recording, folder) as writer:
            entries = writer.recv()
        yield server, endpoint, entries


def _requests(server: Connection) -> int:
    """That it has answered."""
    server.send(None)
    answered: int = server.recv()
    return answered


@contextmanager
def _beside(work: Callable[..., None], *arguments: Any) -> Iterator[Connection]:
    """A process that runs ``work`` for as long as this is held open, and what it says.

    ``recv`` raises ``EOFError`` once it has died.
    """
    processes = multiprocessing.get_context("spawn")
    ours, theirs = processes.Pipe()
    process = processes.Process(target=work, args=(theirs, *arguments))
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        process.terminate()
        process.join()


def _serve(parent: Connection) -> None:
    with storage("127.0.0.1", Weather(), 1) as server:
        fsspec.filesystem("s3", **options(server.good)).makedirs(BUCKET, exist_ok=True)
        parent.send(server.bad)  # the door that counts
        while True:
            parent.recv()
            parent.send(server.counts["requests"])


def _leave(parent: Connection, rows: int, endpoint: str, recording: Path, folder: Path) -> None:
    """What workers write of a build of ``rows``."""
    os.environ.update(environment(endpoint))
    real = _real_pieces(recording)
    settings = settings_of(rows, f"s3://{BUCKET}/build", slots=_SLOTS)
    work = BuildWork(Store(str(settings.out)), settings)
    keys = [piece.key for piece in pieces_of(settings, folder)]
    decided = chained(keys)
    entries: Entries = {}
    for name, source, target, names in (
        ("pieces", real.pieces, work.pieces, keys),
        ("facts", real.facts, work.facts, [piece.key for piece in decided]),
        ("sides", real.sides, work.sides, [span.key for span in spans_of(decided)]),
    ):
        entries[name] = list(source.entries().values())
        _copy_parts(entries[name], source, target)
        for _ in in_order(_committing(target, entries[name]), enumerate(names)):
            pass
    parent.send(entries)


def _copy_parts(
    entries: Iterable[ManifestEntry], source: PartManifest, target: PartManifest
) -> None:
    for part in (part for entry in entries for part in entry.parts.values()):
        target.store.put(target.part_path(part.file), source.read(part))


def _committing(
    target: PartManifest, real: Sequence[ManifestEntry]
) -> Callable[[tuple[int, str]], None]:
    def commit(piece: tuple[int, str]) -> None:
        index, key = piece
        content = real[index % len(real)].model_dump_json().encode()
        target.store.create(target.entry_path(key), content)

    return commit


def _real_pieces(recorded: Path) -> BuildWork:
    """A build of :data:`REAL` pieces, made once beside ``recorded``."""
    folder = recorded.with_name("real")
    settings = settings_of(REAL * ROWS_OF_A_SPLIT, str(folder), rows_per_block=64)
    output = FolderOutput(folder)
    work = BuildWork(output.store, settings)
    if (folder / PAIRS).exists():
        return work
    recording = Recording.model_validate_json(recorded.read_text())
    steps = Steps(work, InlineRunner(), Progress(Console(quiet=True)), 1, from_cache=False)
    pieces = steps.read(folder)

    def compiled(blocks: Iterable[tuple[Deduplicated, Block]]) -> Iterator[dict[str, int]]:
        reader = BlockReader(work)
        for piece, block in blocks:
            rows = [_finished(row, recording) for row in reader.rows(block, piece.read)]
            yield dict(commit_block(work, block.key, rows).counts)

    steps.write(pieces, steps.finish(pieces, compiled), output)
    return work


def _finished(row: Row, recording: Recording) -> Row:
    made = recording.of(row["id"]).columns
    return row | {name: value for name, value in made.items() if value is not None}
