"""The same build without Ray: one process, one block of rows after another.

What its Python costs is what the library costs; the rest of the pipeline's Python is Ray's doing.
``python -m benchmarks.pipeline.plain_loop --config CONFIG`` writes ``plain_loop.json`` beside the
data set.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console

from cass_ray.config import load
from cass_ray.pipeline.pieces.blocks import Block, BlockReader, commit_block
from cass_ray.pipeline.pieces.work import Deduplicated
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.settings import BuildSettings
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

COMPILERS = (Pool.TRANSLATOR, Pool.NVIDIA_COMPILER, Pool.AMD_COMPILER)


class PlainBuild(Build):
    """The job with a plain loop where it has the Ray Data pipeline."""

    def _compile(self, blocks: Iterable[tuple[Deduplicated, Block]]) -> Iterator[dict[str, int]]:
        work = self.work
        context = StageContext(
            self.settings, Workspace(work.trees.get), result_cache(self.settings)
        )
        stages = make_stages(wanted_stages(self.settings, COMPILERS), context)
        reader = BlockReader(work)
        for piece, block in blocks:
            rows = run_stages(stages, reader.rows(block, piece.read))
            yield commit_block(work, block.key, rows).counts


def _own_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main(config: Path) -> None:
    """Build as ``config`` says; note what Python cost, imports and start left out."""
    settings = load(BuildSettings, config, {})
    before = _own_cpu_seconds()
    tally = PlainBuild(settings, Console()).run(resume=False)
    figures = {"python_cpu_seconds": _own_cpu_seconds() - before, "rows": tally.rows}
    (Path(settings.out) / RESULT).write_text(json.dumps(figures))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    main(parser.parse_args().config)
