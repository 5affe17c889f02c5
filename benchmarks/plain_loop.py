"""The same build without Ray: one process, one block of rows after another.

What its Python costs is what the library costs; the rest of the pipeline's Python is Ray's doing.
``python -m benchmarks.plain_loop --config CONFIG`` writes ``plain_loop.json`` beside the data set.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pyarrow.dataset as pads
from rich.console import Console

from actors.compilers import result_cache
from cass_ray.ingest import Ingested, finished_columns
from cass_ray.journal import Journal
from cass_ray.progress import Progress
from cass_ray.settings import BuildSettings
from cass_ray.stages import AmdStage, NvidiaStage, Row, align
from cass_ray.strict import load
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.registry import make_translator
from cass_ray.unpacked import UnpackedTrees
from jobs.build_dataset import Build

RESULT = "plain_loop.json"

_ROWS_PER_BLOCK = 8


class PlainBuild(Build):
    """The job with a plain loop where it has the Ray Data pipeline.

    Rows are translated when they are read, as by every engine that runs in the driver.
    """

    def _compile(self, ingested: Ingested, journal: Journal, progress: Progress) -> None:
        settings = self.settings
        trees = UnpackedTrees(self.trees.get)
        translator = make_translator(settings.translator)
        cache = result_cache(settings)
        nvidia = NvidiaStage(find_nvidia(), trees, settings, cache)
        amd = AmdStage(find_amd(), trees, translator, settings, cache)
        for block in _blocks(ingested.staged, settings.rows_per_block or _ROWS_PER_BLOCK):
            rows = amd.compile(nvidia.compile(block))
            finished = [finished_columns(align(row)) for row in rows]
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
