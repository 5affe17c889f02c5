"""What the engine counted while a program ran, as evidence.

The engine writes one JSON object: ``{"kernels": [{"kernel": name, "launches": …, "by_class": {…},
"by_mnemonic": {…}, "instruction_coverage": {"reached": …, "of": …}, …}]}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

_CROSS_LANE = re.compile(r"permute|permlane|swizzle|readlane|readfirstlane|writelane|_dpp")


class KernelCounters(BaseModel):
    """Dynamic counts of one kernel over all runs; ``instructions`` are of waves, not of lanes.

    ``reached`` of ``size`` instructions of its code ran at least once, in the run with the most.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    launches: int = 0
    instructions: int = 0
    barriers: int = 0
    atomics: int = 0
    cross_lane: int = 0
    lds: int = 0
    reached: int = 0
    size: int = 0


class KernelCoverage(BaseModel):
    """Counters by kernel. Empty where nothing was counted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kernels: dict[str, KernelCounters] = {}

    @property
    def share(self) -> float:
        """How much of the launched kernels' code ran at least once; 0 where nothing was counted."""
        size = sum(kernel.size for kernel in self.kernels.values())
        return sum(kernel.reached for kernel in self.kernels.values()) / size if size else 0.0


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
