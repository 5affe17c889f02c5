"""``cass build-dataset`` where there is no Ray: all stages of a block in a thread of one process.

``python -m benchmarks.elsewhere.without_ray OPTIONS-OF-BUILD-DATASET …``. Results are the
same bytes; a stage that kills its process ends the build, which ``--resume`` continues. A stage
that this machine cannot run is left out, as where no node of a cluster offers what it needs.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from cass_ray.pipeline.pieces.blocks import Block, BlockReader, commit_block
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.stages.base import RowStage
from cass_ray.pipeline.stages.order import (
    StageContext,
    make_stages,
    run_stages,
    wanted_stages,
)
from cass_ray.pipeline.workspace import Workspace
from jobs import build_dataset

Blocks = Iterable[tuple[Deduplicated, Block]]


class BlockBuilder:
    """Builds single blocks, each thread with stages of its own."""

    def __init__(self, work: BuildWork) -> None:
        self._work = work
        self._reader = BlockReader(work)
        self._of_thread = threading.local()

    def build(self, piece: Deduplicated, block: Block) -> dict[str, int]:
        """Commit ``block``; its counts."""
        rows = self._reader.rows(block, piece.read)
        entry = commit_block(self._work, block.key, run_stages(self._stages(), rows))
        return dict(entry.counts)

    def _stages(self) -> Sequence[RowStage]:
        made: Sequence[RowStage] | None = getattr(self._of_thread, "stages", None)
        if made is None:
            settings = self._work.settings
            workspace = Workspace(self._work.trees.get)
            context = StageContext(settings, workspace, result_cache(settings))
            runnable = [each for each in wanted_stages(settings) if each.problem() is None]
            made = self._of_thread.stages = make_stages(runnable, context)
        return made


def compile_in_threads(work: BuildWork, slots: int) -> Callable[[Blocks], Iterator[dict[str, int]]]:
    """A function that compiles blocks in ``slots`` threads of this process, instead of on Ray, and
    yields the counts of each block."""

    def compiled(blocks: Blocks) -> Iterator[dict[str, int]]:
        builder = BlockBuilder(work)
        with ThreadPoolExecutor(slots) as threads:
            drawn = list(blocks)
            random.Random(0).shuffle(drawn)  # of a build that is ended, what is done is a sample
            begun = [threads.submit(builder.build, *each) for each in drawn]
            for each in as_completed(begun):
                yield each.result()

    return compiled


class BuildInThreads(build_dataset.Build):
    """A build whose blocks are compiled by the threads of this process."""

    def _compile(self, blocks: Blocks) -> Iterator[dict[str, int]]:
        return compile_in_threads(self.work, self._slots())(blocks)


def main() -> None:
    """Command line."""
    build_dataset.Build = BuildInThreads  # type: ignore[misc]
    build_dataset.app(sys.argv[1:])


if __name__ == "__main__":
    main()
