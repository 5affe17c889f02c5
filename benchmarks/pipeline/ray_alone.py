"""What Ray costs a build: CPU seconds by process, with each compiler replaced by a pause.

    python -m benchmarks.pipeline.ray_alone --rows 100
    python -m benchmarks.pipeline.ray_alone --rows 100 --all-of-ray

``--all-of-ray`` leaves in what a build on one machine does without (``actors/minimal_head.py``,
``actors/lean_data.py``). Takes root.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated
from unittest import mock

import typer
from rich.console import Console

from benchmarks.folders import REPOSITORY
from benchmarks.measure.accounting import measure
from benchmarks.pipeline import contenders
from benchmarks.pipeline.tables import table

app = typer.Typer(add_completion=False)
_SLOTS = 2


@app.command()
def main(
    rows: Annotated[int, typer.Option(help="Of the build, eight to a block.")] = 100,
    seconds: Annotated[float, typer.Option(help="Of nvcc, for a row; clang takes half.")] = 0.25,
    all_of_ray: Annotated[bool, typer.Option("--all-of-ray")] = False,
    inside: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Print a table."""
    if inside is not None:
        _build(inside, rows, seconds, all_of_ray)
        return
    with tempfile.TemporaryDirectory(prefix="cass-ray-alone-") as folder:
        words = [sys.executable, "-m", __spec__.name, *sys.argv[1:], "--inside", folder]
        cost = measure(words, cwd=REPOSITORY, env=contenders.environment())
    processes = Counter(process.name for process in cost.processes)
    lines = [
        [name, str(processes[name]), f"{cpu:.1f}"]
        for name, cpu in cost.by(lambda process: process.name).items()
    ]
    lines.append(["all", str(len(cost.processes)), f"{cost.cpu_seconds:.1f}"])
    print(table(["process", "number", "CPU s"], lines))


def _build(folder: Path, rows: int, seconds: float, all_of_ray: bool) -> None:
    from actors import build_pipeline, session, stage_workers
    from benchmarks.pipeline.scale.replay import Recorded, Recording, workers
    from benchmarks.pipeline.scale.source import settings_of
    from cass_ray.pipeline.pieces.blocks import OpenBlocks
    from cass_ray.pipeline.pieces.runner import InlineRunner
    from cass_ray.pipeline.pieces.steps import ROWS_PER_BLOCK, Steps
    from cass_ray.pipeline.pieces.work import BuildWork
    from cass_ray.pipeline.progress import Progress
    from cass_ray.pipeline.stages.order import Pool
    from cass_ray.storage.store import Store

    pauses = {Pool.NVIDIA_COMPILER.value: seconds, Pool.AMD_COMPILER.value: seconds / 2}
    recording = folder / "recording.json"
    recorded = Recording(programs=[Recorded(seconds=pauses, columns={})])
    recording.write_text(recorded.model_dump_json())
    settings = settings_of(rows, str(folder / "out"), slots=_SLOTS)
    work = BuildWork(Store(folder / "out"), settings)
    progress = Progress(Console(quiet=True))
    pieces = Steps(work, InlineRunner(), progress, _SLOTS, from_cache=False).read(folder)
    blocks = list(OpenBlocks(work, pieces, ROWS_PER_BLOCK))
    stage_workers.WORKERS.update(workers(recording))
    if all_of_ray:
        mock.patch.object(session, "minimal_head", lambda _: nullcontext()).start()
        mock.patch.object(build_pipeline, "without_reporters", nullcontext).start()
    done = sum(1 for _ in build_pipeline.compile_blocks(work, blocks))
    if done != len(blocks):
        raise AssertionError(f"{done} of {len(blocks)} blocks")


if __name__ == "__main__":
    app()
