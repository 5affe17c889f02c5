"""The same build without Ray: one process, one block of rows after another.

What its Python costs is what the library costs; the rest of the pipeline's Python is Ray's doing.
``python -m benchmarks.pipeline.plain_loop --config CONFIG`` writes ``plain_loop.json`` beside the
data set.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pyarrow.dataset as pads
from rich.console import Console

from cass_ray.config import load
from cass_ray.pipeline.ingest import Ingested, finished_columns
from cass_ray.pipeline.journal import Journal
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.stages.order import (
    Pool,
    StageContext,
    make_stages,
    run_stages,
    wanted_stages,
)
from cass_ray.pipeline.workspace import Workspace
from jobs.build_dataset import Build

RESULT = "plain_loop.json"

_ROWS_PER_BLOCK = 8

COMPILERS = (Pool.NVIDIA_COMPILER, Pool.AMD_COMPILER)


class PlainBuild(Build):
    """The job with a plain loop where it has the Ray Data pipeline.

    Rows are translated when they are read, as by every engine that runs in the driver.
    """

    def _compile(self, ingested: Ingested, journal: Journal, progress: Progress) -> None:
        settings = self.settings
        context = StageContext(settings, Workspace(self.trees.get), result_cache(settings))
        stages = make_stages(wanted_stages(settings, COMPILERS), context)
        for block in _blocks(ingested.staged, settings.rows_per_block or _ROWS_PER_BLOCK):
            finished = [finished_columns(row) for row in run_stages(stages, block)]
            journal.append(finished)
            for row in finished:
                progress.add(row, compiled=True)


def _blocks(staged: Path, rows: int) -> Iterator[list[Row]]:
    for batch in pads.dataset(staged).to_batches(batch_size=rows):
        yield batch.to_pylist()


def _own_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main(config: Path) -> None:
    """Build as ``config`` says; note what Python cost, imports and start left out."""
    settings = load(BuildSettings, config, {})
    before = _own_cpu_seconds()
    tally = PlainBuild(settings, Console()).run(resume=False)
    figures = {"python_cpu_seconds": _own_cpu_seconds() - before, "rows": tally.rows}
    (settings.out / RESULT).write_text(json.dumps(figures))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    main(parser.parse_args().config)
