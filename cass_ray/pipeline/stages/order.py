"""The way of a row, in order: every stage, what it needs of a node, and who wants it.

The job's actors, the cached run and the plain loop of the benchmarks all read this list. Stages of
one :class:`Pool` run in one worker, one after the other, without the rows leaving it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from cass_ray.architectures import emulated_architectures
from cass_ray.cache import ContentCache
from cass_ray.execute.backends.lifted import LiftedBackend
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.execute.backends.registry import candidate_backend
from cass_ray.execute.originals import shown_as
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.align import AlignStage
from cass_ray.pipeline.stages.amd import AmdStage
from cass_ray.pipeline.stages.base import Needs, Row, RowStage
from cass_ray.pipeline.stages.execute import ExecuteStage
from cass_ray.pipeline.stages.lift import CubinLifter, LiftStage
from cass_ray.pipeline.stages.lifted_side import LiftedSideStage, OriginalPrograms
from cass_ray.pipeline.stages.nvidia import NvidiaStage
from cass_ray.pipeline.stages.reference import ReferenceStage
from cass_ray.pipeline.stages.translate import SourcePairStage, TranslateStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.engines.registry import IN_PROCESS_ENGINES, make_translator
from cass_ray.translate.protocol import Translator


class Pool(StrEnum):
    """Workers that a row passes; each is an actor pool of the job."""

    TRANSLATOR = "translator"
    NVIDIA_COMPILER = "Nvidia compiler"
    AMD_COMPILER = "AMD compiler"
    NVIDIA_EXECUTOR = "Nvidia executor"
    AMD_EXECUTOR = "AMD executor"


@dataclass(frozen=True)
class StageContext:
    """What stages are made from. ``cached_only``: they may read the cache and may not compile."""

    settings: BuildSettings
    workspace: Workspace
    cache: ContentCache | None = None
    cached_only: bool = False

    @functools.cached_property
    def translator(self) -> Translator:
        """The engine of the settings, made once for all stages."""
        return make_translator(self.settings.translator)


@dataclass(frozen=True, slots=True)
class StageEntry:
    """A stage of the list.

    ``problem`` says why this node cannot run it although it offers what the stage needs. Only
    stages with ``replayable`` results take part in a run from the cache alone.
    """

    name: str
    pool: Pool
    needs: Needs
    make: Callable[[StageContext], RowStage]
    wanted: Callable[[BuildSettings], bool]
    replayable: bool = True
    problem: Callable[[], ToolMissing | None] = lambda: None


def _always(settings: BuildSettings) -> bool:
    del settings
    return True


def _compile(settings: BuildSettings) -> bool:
    return settings.compile


def _execute(settings: BuildSettings) -> bool:
    return settings.execute


def _lifted_reference(settings: BuildSettings) -> bool:
    return settings.execute and settings.lifted_reference


def _lift(settings: BuildSettings) -> bool:
    return settings.lift


def _make_nvidia(given: StageContext) -> RowStage:
    return NvidiaStage(
        find_nvidia(architectures=given.settings.nvidia_architectures),
        given.workspace,
        given.settings,
        given.cache,
        given.cached_only,
    )


def _make_amd(given: StageContext) -> RowStage:
    return AmdStage(
        find_amd(architectures=given.settings.amd_architectures),
        given.workspace,
        given.translator,
        given.settings,
        given.cache,
        given.cached_only,
    )


def _make_lift(given: StageContext) -> RowStage:
    return LiftStage(_lifter(given))


def _lifter(given: StageContext) -> CubinLifter:
    return CubinLifter(find_amd(), given.settings, given.cache, given.cached_only)


def _make_reference(given: StageContext) -> RowStage:
    return ReferenceStage(_nvidia_backend(), given.workspace)


def _make_lifted_reference(given: StageContext) -> RowStage:
    port = replace(_amd_backend(), architecture=given.settings.amd_architectures[0])
    [lifted] = shown_as([_lifted_backend()], port)
    return ReferenceStage(lifted, given.workspace, stand_in=True)


def _make_execute(given: StageContext) -> RowStage:
    backend, architecture = _amd_backend(), given.settings.amd_architectures[0]
    if not backend.real_gpu and architecture not in emulated_architectures():
        text = f"A backend to execute {architecture} on"
        raise ToolMissing(text, "Run without --execute, or name an emulated one first.")
    backend = replace(backend, architecture=architecture)
    originals = OriginalPrograms(given.workspace, given.settings)
    return ExecuteStage(
        backend,
        given.workspace,
        given.translator,
        cache=given.cache,
        original_programs=originals if given.settings.lifted_rows else None,
    )


@functools.cache
def _nvidia_backend() -> NvidiaBackend:
    return NvidiaBackend()


@functools.cache
def _lifted_backend() -> LiftedBackend:
    return LiftedBackend(threads=1)


@functools.cache
def _amd_backend() -> HipBackend:
    """A GPU where there is one, else the CPU: one core, as a slot is."""
    return candidate_backend().single_threaded()


def _no_nvidia_gpu() -> ToolMissing | None:
    problem = _nvidia_backend().problem()
    text = "An Nvidia GPU to execute on"
    return ToolMissing(text, "Run without --execute.", problem) if problem else None


def _no_backend() -> ToolMissing | None:
    problem = _amd_backend().problem()
    text = "A backend to execute on"
    return ToolMissing(text, "Run without --execute.", problem) if problem else None


STAGES: tuple[StageEntry, ...] = (
    StageEntry(
        "translate",
        Pool.TRANSLATOR,
        Needs.NOTHING,
        lambda given: TranslateStage(given.translator, given.workspace, given.settings.lifted_rows),
        _always,
    ),
    StageEntry(
        "sources alone",
        Pool.TRANSLATOR,
        Needs.NOTHING,
        lambda given: SourcePairStage(),
        lambda settings: not settings.compile,
    ),
    StageEntry(
        "compile Nvidia", Pool.NVIDIA_COMPILER, Needs.NVIDIA_TOOLCHAIN, _make_nvidia, _compile
    ),
    StageEntry("compile AMD", Pool.AMD_COMPILER, Needs.AMD_TOOLCHAIN, _make_amd, _compile),
    StageEntry(
        "align",
        Pool.AMD_COMPILER,
        Needs.NOTHING,
        lambda given: AlignStage(given.settings.lifted_rows),
        _compile,
    ),
    StageEntry(
        "lifted side",
        Pool.AMD_COMPILER,
        Needs.AMD_TOOLCHAIN,
        lambda given: LiftedSideStage(_lifter(given)),
        lambda settings: settings.lifted_rows,
    ),
    StageEntry("lift", Pool.AMD_COMPILER, Needs.AMD_TOOLCHAIN, _make_lift, _lift),
    StageEntry(
        "reference",
        Pool.NVIDIA_EXECUTOR,
        Needs.NVIDIA_GPU,
        _make_reference,
        _execute,
        replayable=False,
        problem=_no_nvidia_gpu,
    ),
    StageEntry(
        "lifted reference",
        Pool.AMD_EXECUTOR,
        Needs.AMD_TOOLCHAIN,
        _make_lifted_reference,
        _lifted_reference,
        replayable=False,
    ),
    StageEntry(
        "execute",
        Pool.AMD_EXECUTOR,
        Needs.AMD_TOOLCHAIN,
        _make_execute,
        _execute,
        replayable=False,
        problem=_no_backend,
    ),
)
"""Every stage, in the order in which rows pass them."""


def translates_in_process(settings: BuildSettings) -> bool:
    """Whether the engine is quick enough to need no workers of its own."""
    return settings.translator in IN_PROCESS_ENGINES


def wanted_pools(settings: BuildSettings) -> list[tuple[Pool, ...]]:
    """Pools that rows pass under ``settings``, in order; those in a tuple share their workers.

    A translator that works in process goes along with the first compiler.
    """
    pools = list(dict.fromkeys(stage.pool for stage in wanted_stages(settings)))
    if not translates_in_process(settings) or pools == [Pool.TRANSLATOR]:
        return [(pool,) for pool in pools]
    return [(Pool.TRANSLATOR, pools[1]), *((pool,) for pool in pools[2:])]


def wanted_stages(settings: BuildSettings, pools: Iterable[Pool] = Pool) -> list[StageEntry]:
    """The stages of ``pools`` that rows pass under ``settings``, in order."""
    among = frozenset(pools)
    return [stage for stage in STAGES if stage.pool in among and stage.wanted(settings)]


def make_stages(entries: Iterable[StageEntry], context: StageContext) -> list[RowStage]:
    """The stages themselves. Raises ``ToolMissing`` where this node lacks a tool of one."""
    return [entry.make(context) for entry in entries]


def run_stages(stages: Iterable[RowStage], rows: list[Row]) -> list[Row]:
    """``rows`` through ``stages``, one stage after the other; as many come out."""
    for stage in stages:
        rows = stage.run(rows)
    return rows
