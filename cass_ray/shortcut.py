"""Finish rows in the driver when every compiler result they need is in this machine's cache.

A re-run over unchanged input then needs no cluster at all.
"""

from __future__ import annotations

from cass_ray.cache import ContentCache, results_directory
from cass_ray.corpus.trees import TreeStore
from cass_ray.ingest import finished_columns
from cass_ray.lifted import LiftStage
from cass_ray.pairs import is_rejected
from cass_ray.settings import BuildSettings
from cass_ray.stages import AmdStage, NotCached, NvidiaStage, Row, align, translate
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.registry import IN_PROCESS_ENGINES, make_translator
from cass_ray.unpacked import UnpackedTrees


class Shortcut:
    """Stages that may read the cache and may not compile."""

    def __init__(
        self,
        settings: BuildSettings,
        trees: TreeStore,
        stages: tuple[NvidiaStage, AmdStage, LiftStage] | None,
    ) -> None:
        self._lift = settings.lift
        self._in_process = settings.translator in IN_PROCESS_ENGINES
        self._translator = make_translator(settings.translator)
        self._trees = UnpackedTrees(trees.get)
        self._stages = stages

    @classmethod
    def on_this_machine(cls, settings: BuildSettings, trees: TreeStore) -> Shortcut:
        """Stages for the toolchains found here; without both of them nothing is finished early."""
        if not settings.cache or settings.execute:
            return cls(settings, trees, None)
        try:
            nvidia, amd = find_nvidia(), find_amd()
        except ToolMissing:
            return cls(settings, trees, None)
        cache = ContentCache(results_directory())
        unpacked = UnpackedTrees(trees.get)
        translator = make_translator(settings.translator)
        stages = (
            NvidiaStage(nvidia, unpacked, settings, cache, cached_only=True),
            AmdStage(amd, unpacked, translator, settings, cache, cached_only=True),
            LiftStage(amd, settings, cache, cached_only=True),
        )
        return cls(settings, trees, stages)

    def prepare(self, row: Row) -> Row:
        """Translate ``row``, unless the engine is slow: such engines run on the cluster."""
        return translate(row, self._translator, self._trees) if self._in_process else row

    def finish(self, row: Row) -> Row | None:
        """A prepared row with every stage done, or None when a tool has to run."""
        if self._stages is None or not self._in_process:
            return None
        nvidia, amd, lifter = self._stages
        try:
            row = nvidia.compile([row])[0]
            if not is_rejected(row):
                row = align(amd.compile([row])[0])
            if self._lift and not is_rejected(row):
                row = lifter.lift([row])[0]
        except NotCached:
            return None
        return finished_columns(row)
