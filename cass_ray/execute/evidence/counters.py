"""What the engine counted while a program ran, as evidence.

The device process writes one JSON object: ``{"kernels": [{"kernel": name, "launches": …,
"by_class": {…}, "by_mnemonic": {…}, "instruction_coverage": {"reached": …, "of": …}, …}]}``. Names
in it are the program's: it is checked all the same (:func:`parse_counters`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from cass_ray.config import StrictModel
from cass_ray.emulator.launches import Launch

_CROSS_LANE = re.compile(r"permute|permlane|swizzle|readlane|readfirstlane|writelane|_dpp")


_RECORDED_CHARACTERS = 463
"""Of a kernel's name, in the record of launches."""

_Count = Annotated[int, Field(ge=0, le=1 << 62, strict=True)]


class _Reached(BaseModel):
    reached: _Count
    of: _Count

    @model_validator(mode="after")
    def _reaches_what_is_there(self) -> _Reached:
        if self.reached > self.of:
            raise ValueError("more instructions reached than there are")
        return self


class _Classes(BaseModel):
    barrier: _Count
    atomic: _Count
    lds: _Count


class _Kernel(BaseModel):
    kernel: str = Field(max_length=1 << 16)
    launches: _Count
    instructions: _Count
    by_class: _Classes
    by_mnemonic: dict[str, _Count]
    instruction_coverage: _Reached


class _File(BaseModel):
    kernels: list[_Kernel] = Field(max_length=1 << 16)


def parse_counters(text: bytes | None) -> dict[str, Any]:
    """The object that the engine wrote; empty where a program left none, or one that can't be."""
    if not text:
        return {}
    try:
        value = json.loads(text)
        _File.model_validate(value)
    except (ValueError, RecursionError, ValidationError):
        return {}
    return dict(value)


class KernelCounters(StrictModel):
    """Dynamic counts of one kernel over all runs; ``instructions`` are of waves, not of lanes.

    ``reached`` of ``size`` instructions of its code ran at least once, in the run with the most.
    """

    launches: int = 0
    instructions: int = 0
    barriers: int = 0
    atomics: int = 0
    cross_lane: int = 0
    lds: int = 0
    reached: int = 0
    size: int = 0


class KernelCoverage(StrictModel):
    """Counters by kernel. Empty where nothing was counted."""

    kernels: dict[str, KernelCounters] = {}

    @property
    def share(self) -> float:
        """How much of the launched kernels' code ran at least once; 0 where nothing was counted."""
        size = sum(kernel.size for kernel in self.kernels.values())
        return sum(kernel.reached for kernel in self.kernels.values()) / size if size else 0.0


def disagreement(launches: Iterable[Launch], counters: Mapping[str, Any]) -> str:
    """How the record of launches and the counters of one finished run contradict each other, in
    words; empty where they agree. A launch that failed is in the record alone.
    """
    recorded: Counter[str] = Counter()
    for launch in launches:
        recorded[launch.kernel] += launch.count
    for name, kernel in coverage_of([counters]).kernels.items():
        record = recorded[name[:_RECORDED_CHARACTERS]]
        if kernel.launches > record:
            return f"{kernel.launches} launches of {name} are counted, {record} are recorded"
    return ""


def coverage_of(runs: Iterable[Mapping[str, Any]]) -> KernelCoverage:
    """Counters of several runs together."""
    kernels: dict[str, KernelCounters] = {}
    for run in runs:
        for entry in run.get("kernels", []):
            name = str(entry["kernel"])
            kernels[name] = _sum(kernels.get(name, KernelCounters()), _counters(entry))
    return KernelCoverage(kernels=dict(sorted(kernels.items())))


def _counters(entry: Mapping[str, Any]) -> KernelCounters:
    by_class, by_mnemonic = entry["by_class"], entry["by_mnemonic"]
    coverage = entry["instruction_coverage"]
    return KernelCounters(
        launches=entry["launches"],
        instructions=entry["instructions"],
        barriers=by_class["barrier"],
        atomics=by_class["atomic"],
        lds=by_class["lds"],
        cross_lane=sum(
            count for mnemonic, count in by_mnemonic.items() if _CROSS_LANE.search(mnemonic)
        ),
        reached=coverage["reached"],
        size=coverage["of"],
    )


def _sum(one: KernelCounters, other: KernelCounters) -> KernelCounters:
    return KernelCounters(
        launches=one.launches + other.launches,
        instructions=one.instructions + other.instructions,
        barriers=one.barriers + other.barriers,
        atomics=one.atomics + other.atomics,
        lds=one.lds + other.lds,
        cross_lane=one.cross_lane + other.cross_lane,
        reached=max(one.reached, other.reached),
        size=max(one.size, other.size),
    )
