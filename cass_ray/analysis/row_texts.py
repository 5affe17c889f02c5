"""The texts of a row that are compared and counted: by level and vendor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from cass_ray.assembly.opcodes import InstructionSet


class TextLevel(StrEnum):
    """Source, host assembly or device assembly."""

    SOURCE = "source"
    HOST = "host"
    DEVICE = "device"


class RowText(NamedTuple):
    """One text of a row."""

    level: TextLevel
    vendor: str
    """``CUDA`` or ``HIP``."""
    target: str
    """``sm_80``, ``gfx1100``; empty for source and host."""
    instruction_set: InstructionSet | None

    @property
    def name(self) -> str:
        """``CUDA source``, ``HIP device, gfx1100``."""
        return f"{self.vendor} {self.level}" + (f", {self.target}" if self.target else "")


def texts(row: Mapping[str, Any]) -> Iterator[tuple[RowText, str]]:
    """Every text of ``row`` that is not empty, Nvidia's first."""
    for vendor, prefix in (("CUDA", "cuda"), ("HIP", "hip")):
        for level, kind in ((TextLevel.SOURCE, None), (TextLevel.HOST, InstructionSet.X86)):
            if text := row.get(f"{prefix}_{level}"):
                yield RowText(level, vendor, "", kind), text
        yield from _device(row, vendor)


def _device(row: Mapping[str, Any], vendor: str) -> Iterator[tuple[RowText, str]]:
    if vendor == "HIP":
        if text := row.get("hip_device"):
            target = row.get("hip_arch") or ""
            yield RowText(TextLevel.DEVICE, vendor, target, InstructionSet.RDNA3), text
        return
    listings = row.get("cuda_device_by_arch") or []
    if not listings and row.get("cuda_device"):
        listings = [{"arch": (row.get("cuda_arch") or [""])[0], "sass": row["cuda_device"]}]
    for listing in listings:
        if listing["sass"]:
            side = RowText(TextLevel.DEVICE, vendor, listing["arch"], InstructionSet.SASS)
            yield side, listing["sass"]


def pair_of(row: Mapping[str, Any], level: TextLevel) -> tuple[str, str] | None:
    """Both vendors' texts at ``level``, first architecture each; None where one is missing."""
    texts = row.get(f"cuda_{level}"), row.get(f"hip_{level}")
    return (texts[0], texts[1]) if texts[0] and texts[1] else None
