"""Blocks finished from the cache of compiler results, where nothing has to run.

A re-run over unchanged input then needs no cluster at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cass_ray.dataset.row import is_rejected
from cass_ray.pipeline.pieces.blocks import Block, BlockReader, commit_block
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import NotCached, Row, RowStage
from cass_ray.pipeline.stages.order import (
    StageContext,
    make_stages,
    translates_in_process,
    wanted_stages,
)
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.manifest import ManifestEntry
from cass_ray.toolchain.errors import ToolMissing


@dataclass(frozen=True)
class FinishCached:
    """Commits the blocks of a run that need no tool."""

    work: BuildWork

    def __call__(self, blocks: Iterable[tuple[Deduplicated, Block]]) -> Iterator[ManifestEntry]:
        """Entries of those that are finished here."""
        stages = stages_without_tools(self.work)
        if stages is not None:
            yield from self._finished(blocks, stages, BlockReader(self.work))

    def _finished(
        self,
        blocks: Iterable[tuple[Deduplicated, Block]],
        stages: Sequence[RowStage],
        reader: BlockReader,
    ) -> Iterator[ManifestEntry]:
        for piece, block in blocks:
            try:
                rows = [through(stages, row) for row in reader.rows(block, piece.read)]
            except NotCached:
                continue
            yield commit_block(self.work, block.key, rows)


def stages_without_tools(work: BuildWork) -> list[RowStage] | None:
    """Every stage, such that a row which needs a tool raises ``NotCached``.

    None where no row can be finished without one: the translator is slow, a stage executes, or this
    machine lacks a toolchain, whose version the results depend on.
    """
    settings = work.settings
    wanted = wanted_stages(settings)
    if not translates_in_process(settings) or not all(stage.replayable for stage in wanted):
        return None
    cache = result_cache(settings)
    if cache is None and _compiles(settings):
        return None
    context = StageContext(settings, Workspace(work.trees.get), cache, cached_only=True)
    try:
        return make_stages(wanted, context)
    except ToolMissing:
        return None


def _compiles(settings: BuildSettings) -> bool:
    return settings.compile


def through(stages: Sequence[RowStage], row: Row) -> Row:
    """``row`` through ``stages``, as far as it is not rejected. Raises ``NotCached``."""
    for stage in stages:
        if not is_rejected(row):
            [row] = stage.run([row])
    return row
