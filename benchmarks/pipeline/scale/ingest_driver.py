"""Reading and screening: rows a second in one process, and what is left to the driver."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from actors.piece_tasks import TaskRunner
from actors.session import join_submitted
from benchmarks.pipeline.scale.source import settings_of
from cass_ray.pipeline.pieces.read import screening_of
from cass_ray.pipeline.pieces.runner import InlineRunner, Runner
from cass_ray.pipeline.pieces.steps import Steps
from cass_ray.pipeline.pieces.work import BuildWork
from cass_ray.pipeline.progress import Progress
from cass_ray.storage.store import Store


def measure(rows: int, nodes: int, folder: Path) -> dict[str, float]:
    """This process alone for 0 ``nodes``, else with the cluster of ``RAY_ADDRESS``, which has so
    many nodes of a core each.

    Call it in a process of its own that has had the cluster's environment from its start: Ray reads
    whether it has a token when it is imported.
    """
    settings = settings_of(rows, str(folder / "out"))
    work = BuildWork(Store(folder / "out"), settings)
    runner: Runner = InlineRunner()
    if nodes:
        join_submitted(log_to_driver=False)
        runner = TaskRunner()
        list(runner.each(_ready, range(4 * nodes)))  # workers have started and imported
    steps = Steps(work, runner, Progress(Console(quiet=True)), 2, from_cache=False)
    began, cpu = time.monotonic(), time.process_time()
    steps.read(folder)
    seconds = time.monotonic() - began
    driver = (time.process_time() - cpu) / rows
    return {
        "rows": rows,
        "nodes": nodes,
        "rows/s": round(rows / seconds, 1),
        "driver cpu us a row": round(driver * 1e6, 1),
        "rows/s at most": round(1 / driver, 1),
    }


def _ready(number: int) -> int:
    screening_of(settings_of(1, "out"))
    return number
