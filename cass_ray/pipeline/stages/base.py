"""What every stage keeps to: rows in, the same number of rows out, and what it needs of a node.

A row is a dictionary of ``cass_ray.dataset.schema`` columns plus the working columns of
:data:`WORK_SCHEMA`. A stage returns it a step further, or marked as rejected, or as it is where it
was rejected before. Stages know nothing of Ray; ``order`` lists them, actors hold them.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from cass_ray.cache import ContentCache, digest
from cass_ray.dataset.row import (
    Reason,
    Stage,
    is_rejected,
    rejected,
)
from cass_ray.dataset.schema import REJECT_SCHEMA
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits, Starved
from cass_ray.toolchain.unit import CompileFailure, says_killed

Row = dict[str, Any]

CUBINS_COLUMN = "cubins"
BLOCK_COLUMN = "block"
NO_PORT_COLUMN = "no_port"

_CUBIN = pa.struct(
    [("arch", pa.string()), ("cubin", pa.large_binary()), ("listing", pa.large_string())]
)
_NO_PORT = pa.struct([(name, pa.string()) for name in ("stage", "reason", "diagnostic")])
WORK_SCHEMA = pa.schema(
    [
        *REJECT_SCHEMA,
        (BLOCK_COLUMN, pa.string()),
        ("tree", pa.string()),
        ("include_directories", pa.list_(pa.string())),
        ("definitions", pa.list_(pa.string())),
        ("forced", pa.list_(pa.string())),
        ("standard", pa.string()),
        ("header_packages", pa.list_(pa.string())),
        ("dependencies", pa.list_(pa.string())),
        ("lacks", pa.list_(pa.string())),
        ("part_of", pa.string()),
        ("configured", pa.string()),
        (CUBINS_COLUMN, pa.list_(_CUBIN)),
        (NO_PORT_COLUMN, _NO_PORT),
    ]
)
"""``block``: key of the block that the row is worked on in. ``tree``: digest of the archive that
holds the program. ``include_directories``: relative to the tree. ``definitions`` to
``configured``: as of a :class:`~cass_ray.corpus.program.Program`. ``cubins``: for the lifter, with
their listings. ``no_port``: why the AMD side is to be lifted
(:mod:`cass_ray.pipeline.stages.lifted_side`)."""

_TOKEN = re.compile(r"\w+|[^\w\s]")

_TRANSIENT = frozenset(
    {
        Reason.TIME_LIMIT,
        Reason.STARVED,
        Reason.MEMORY_LIMIT,
        Reason.OUTPUT_LIMIT,
        Reason.COMPILER_KILLED,
        Reason.INTERNAL_ERROR,
        Reason.TOOL_MISSING,
        Reason.MISSING_HEADER,
    }
)
"""Failures that depend on the machine, what is installed on it, its load or on limits, which are in
no key: not remembered in the cache."""


_OF_PROJECTS = 4
"""Times the seconds of the settings: a project's unit instantiates what other programs do not.
ptxas needs 60 to 150 s for faiss' selections."""


def compiler_limits(settings: BuildSettings, row: Row) -> Limits:
    """Limits of one compiler process of ``row``: those of the settings, for projects more time."""
    limits = settings.limits
    times = _OF_PROJECTS if row.get("configured") else 1
    return replace(
        COMPILE_LIMITS,
        cpu_seconds=limits.cpu_seconds * times,
        wall_seconds=limits.wall_seconds * times,
        memory_bytes=limits.memory_mib << 20,
        output_bytes=limits.output_mib << 20,
    )


def token_count(assembly: str) -> int:
    """Words and punctuation marks of ``assembly``; a model's tokenizer counts differently."""
    return len(_TOKEN.findall(assembly))


class Needs(StrEnum):
    """The resource that a node must offer for a stage to run there."""

    NOTHING = ""
    NVIDIA_TOOLCHAIN = "nvidia"
    AMD_TOOLCHAIN = "amd"
    NVIDIA_GPU = "GPU"


class RowStage(Protocol):
    """One step of a row's way: as many rows out as in, in the same order."""

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """The rows in the same order, each a step further or rejected; never raises for a row.

        Raises :class:`NotCached` where the stage may only read the cache.
        """
        ...


class NotCached(LookupError):
    """The row needs a compiler, and only cached results were asked for."""


T = TypeVar("T")


def guarded(stage: Stage, row: Row, work: Callable[[Row], Row]) -> Row:
    """``work(row)``; a bug of ours costs this row, not the job. Rejected rows pass through."""
    if is_rejected(row):
        return row
    try:
        return work(row)
    except NotCached:
        raise
    except CompileFailure as failure:
        return rejected(row, stage, failure.reason, f"{failure.tool}: {failure.diagnostic}")
    except Starved as error:
        return rejected(row, stage, Reason.STARVED, str(error))
    except Exception:
        return rejected(row, stage, Reason.INTERNAL_ERROR, traceback.format_exc())


@dataclass(frozen=True)
class Remedy:
    """What is done since then about some failures of a compiler."""

    name: str
    fits: Callable[[CompileFailure], bool]


@dataclass
class CachedResults:
    """Compiler results through a content cache; ``only`` forbids running the compiler.

    Failures that the ``remedy`` fits have keys of their own: those that were kept before there was
    the remedy say nothing of what comes of the unit now.
    """

    cache: ContentCache | None
    only: bool = False
    remedy: Remedy | None = None

    def get(self, key: str) -> dict[str, Any] | None:
        """The value of ``key``. Raises ``CompileFailure`` where that is it, and ``NotCached``."""
        if self.remedy is None:
            return self._get(key)
        value = None
        try:
            value = self._get(key)
        except NotCached:
            pass
        except CompileFailure as failure:
            if not self.remedy.fits(failure):
                raise
        return value if value is not None else self._get(digest([key, self.remedy.name]))

    def _get(self, key: str) -> dict[str, Any] | None:
        entry = self.cache.get(key) if self.cache is not None else None
        if entry is None:
            if self.only:
                raise NotCached(key)
            return None
        value: dict[str, Any] = json.loads(entry)
        if self.cache is not None and _is_transient(value):
            self.cache.remove(key)  # kept by an older version
            return self._get(key)
        if "reason" in value:
            raise CompileFailure(
                reason=Reason(value["reason"]), diagnostic=value["diagnostic"], tool=value["tool"]
            )
        return value

    def put(self, key: str, value: dict[str, Any]) -> None:
        if self.cache is not None:
            self.cache.put(key, json.dumps(value, sort_keys=True).encode())

    def put_failure(self, key: str, failure: CompileFailure) -> None:
        if self.remedy is not None and self.remedy.fits(failure):
            key = digest([key, self.remedy.name])
        if failure.reason not in _TRANSIENT:
            self.put(
                key,
                {
                    "reason": failure.reason.value,
                    "diagnostic": failure.diagnostic,
                    "tool": failure.tool,
                },
            )


def _is_transient(value: dict[str, Any]) -> bool:
    if "reason" not in value:
        return False
    reason = Reason(value["reason"])
    killed = reason is Reason.COMPILER_CRASHED and says_killed(value["diagnostic"])
    return killed or reason in _TRANSIENT


def located(find: Callable[[], T], cached_only: bool) -> T:
    """``find()``; a missing tool is this row's failure, for other rows may not need the tool.

    Where nothing may be compiled anyway, another node may have it.
    """
    try:
        return find()
    except ToolMissing as error:
        if cached_only:
            raise NotCached(str(error)) from None
        raise CompileFailure(Reason.TOOL_MISSING, str(error), "OpenCL") from None
