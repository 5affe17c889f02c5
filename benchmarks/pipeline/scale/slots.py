"""Many simulated compile slots: how many blocks a second Ray Data starts, and what waits for it."""

from __future__ import annotations

import heapq
import resource
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from actors import build_pipeline, nodes, stage_workers
from actors.session import start_local
from benchmarks.pipeline.scale.replay import Recording, workers
from benchmarks.pipeline.scale.source import settings_of
from cass_ray.pipeline.pieces.blocks import Block, BlockReader, OpenBlocks, live_rows
from cass_ray.pipeline.pieces.runner import InlineRunner
from cass_ray.pipeline.pieces.steps import Steps
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.stages.order import Pool
from cass_ray.storage.store import Store

_THREADS = 64
"""Slots of one worker process: memory has not room for a process each."""


def measure(
    slots: int, seconds: float, block_seconds: float, folder: Path, recording: Path
) -> dict[str, float]:
    """As many slots of ``nvidia``, and of ``amd`` what keeps up with them, for about ``seconds``.

    A block has one row, with which nvcc is busy for ``block_seconds`` on average: the relation of
    programs and of compilers is the recorded one, how busy the machine was then is left out. Call
    it in a process of its own.
    """
    played = Recording.model_validate_json(recording.read_text())
    recorded = played.programs
    of_nvcc = [program.seconds[Pool.NVIDIA_COMPILER.value] for program in recorded]
    times = block_seconds * len(recorded) / sum(of_nvcc)
    each = {
        pool: times * sum(program.seconds[pool] for program in recorded) / len(recorded)
        for pool in recorded[0].seconds
    }
    nvidia, amd = each[Pool.NVIDIA_COMPILER.value], each[Pool.AMD_COMPILER.value]
    amd_slots = _THREADS * max(1, round(slots * amd / nvidia * 1.3 / _THREADS))
    rows = int(slots * seconds / nvidia)
    settings = settings_of(
        rows, str(folder / "out"), near_duplicates={"enabled": False}, slots=slots
    )
    work = BuildWork(Store(folder / "out"), settings)
    steps = Steps(work, InlineRunner(), Progress(Console(quiet=True)), slots, from_cache=False)
    pieces = steps.read(folder)
    read = time.process_time()
    blocks = list(OpenBlocks(work, pieces, 1))
    if live_rows(work, pieces) != rows:
        raise AssertionError("rows of the source repeat each other or are filtered")
    pauses = _pauses(work, blocks, played, times)
    start_local(
        num_cpus=2,
        resources={"nvidia": slots, "amd": amd_slots},
        object_store_memory=512 << 20,
        log_to_driver=False,
    )
    nodes._MOST_THREADS = _THREADS
    stage_workers.WORKERS.update(workers(recording, times))
    began = time.monotonic()
    done = [time.monotonic() - began for _ in build_pipeline.compile_blocks(work, blocks)]
    return {
        "slots": slots,
        "rows": rows,
        "blocks": len(blocks),
        "seconds a block": round(sum(pauses) / len(blocks), 1),
        "seconds at least": round(_at_least(pauses, slots), 1),
        "seconds": round(done[-1], 1),
        "seconds to the first": round(done[0], 1),
        "blocks/s": round(len(blocks) / done[-1], 1),
        "busy": round(sum(pauses) / (slots * done[-1]), 3),
        "busy in the middle": round(sum(pauses) / len(blocks) * _rate(done) / slots, 3),
        "driver cpu ms a block": round((time.process_time() - read) * 1000 / len(blocks), 2),
        "driver mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def _pauses(
    work: BuildWork,
    blocks: Sequence[tuple[Deduplicated, Block]],
    recording: Recording,
    times: float,
) -> list[float]:
    """How long nvcc's slots pause for each block."""
    reader, pool = BlockReader(work), Pool.NVIDIA_COMPILER.value
    return [
        times * sum(recording.of(row["id"]).seconds[pool] for row in reader.rows(block, piece.read))
        for piece, block in blocks
    ]


def _at_least(pauses: Sequence[float], slots: int) -> float:
    """When the last pause ends where each begins, in order, as soon as a slot is free."""
    free = [0.0] * slots
    for pause in pauses:
        heapq.heapreplace(free, free[0] + pause)
    return max(free)


def _rate(done: Sequence[float]) -> float:
    """Blocks a second, the first and the last quarter of them left out."""
    first, last = len(done) // 4, 3 * len(done) // 4
    return (last - first) / (done[last] - done[first])
