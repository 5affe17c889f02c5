"""Finish rows in the driver when every compiler result they need is in this machine's cache.

A re-run over unchanged input then needs no cluster at all.
"""

from __future__ import annotations

from cass_ray.cache import ContentCache, results_directory
from cass_ray.corpus.trees import TreeStore
from cass_ray.ingest import finished_columns
from cass_ray.pairs import is_rejected
from cass_ray.settings import BuildSettings
from cass_ray.stages import AmdStage, NotCached, NvidiaStage, Row, align, translate
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.protocol import Translator
from cass_ray.translate.registry import make_translator
from cass_ray.unpacked import UnpackedTrees


class Shortcut:
    """Stages that may read the cache and may not compile."""

    def __init__(
        self,
        translator: Translator,
        unpacked: UnpackedTrees,
        nvidia: NvidiaStage | None,
        amd: AmdStage | None,
    ) -> None:
        self._translator = translator
        self._unpacked = unpacked
        self._nvidia = nvidia
        self._amd = amd

    @classmethod
    def on_this_machine(cls, settings: BuildSettings, trees: TreeStore) -> Shortcut:
        """Stages for the toolchains found here; without both of them nothing is finished early."""
        translator = make_translator(settings.translator)
        unpacked = UnpackedTrees(trees.get)
        if not settings.cache:
            return cls(translator, unpacked, None, None)
        try:
            nvidia, amd = find_nvidia(), find_amd()
        except ToolMissing:
            return cls(translator, unpacked, None, None)
        cache = ContentCache(results_directory())
        return cls(
            translator,
            unpacked,
            NvidiaStage(nvidia, unpacked, settings, cache, cached_only=True),
            AmdStage(amd, unpacked, translator, settings, cache, cached_only=True),
        )

    def finish(self, row: Row) -> Row | None:
        """``row`` with every stage done, or None when a compiler has to run."""
        if self._nvidia is None or self._amd is None:
            return None
        row = translate(row, self._translator, self._unpacked)
        try:
            if not is_rejected(row):
                row = self._nvidia.compile([row])[0]
            if not is_rejected(row):
                row = align(self._amd.compile([row])[0])
        except NotCached:
            return None
        return finished_columns(row)
