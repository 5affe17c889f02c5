"""Finish rows in the driver when every compiler result they need is in this machine's cache.

A re-run over unchanged input then needs no cluster at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.dataset.schema import is_rejected
from cass_ray.pipeline.ingest import finished_columns
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import NotCached, Row, RowStage
from cass_ray.pipeline.stages.order import (
    Pool,
    StageContext,
    make_stages,
    translates_when_read,
    wanted_stages,
)
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.errors import ToolMissing


class CachedRun:
    """Stages that may read the cache and may not compile."""

    def __init__(self, prepare: Sequence[RowStage], rest: Sequence[RowStage] | None = None) -> None:
        self._prepare = prepare
        self._rest = rest

    @classmethod
    def on_this_machine(cls, settings: BuildSettings, trees: TreeStore) -> CachedRun:
        """Stages for the toolchains found here; without both of them nothing is finished early."""
        cache = result_cache(settings)
        context = StageContext(settings, Workspace(trees.get), cache, cached_only=True)
        if not translates_when_read(settings):
            return cls(())
        prepare = make_stages(wanted_stages(settings, [Pool.TRANSLATOR]), context)
        rest = wanted_stages(settings, [pool for pool in Pool if pool is not Pool.TRANSLATOR])
        if not rest:
            return cls(prepare, ())
        if cache is None or not all(stage.replayable for stage in rest):
            return cls(prepare)
        try:
            return cls(prepare, make_stages(rest, context))
        except ToolMissing:
            return cls(prepare)

    def prepare(self, row: Row) -> Row:
        """Translate ``row``, unless the engine is slow: such engines run on the cluster."""
        for stage in self._prepare:
            [row] = stage.run([row])
        return row

    def finish(self, row: Row) -> Row | None:
        """A prepared row with every stage done, or None when a tool has to run."""
        if self._rest is None:
            return None
        try:
            for stage in self._rest:
                if not is_rejected(row):
                    [row] = stage.run([row])
        except NotCached:
            return None
        return finished_columns(row)
