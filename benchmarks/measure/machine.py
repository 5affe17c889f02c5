"""What a figure was measured on and with; nothing that names the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cass_ray.toolchain.locate import find_amd, find_nvidia


class MeasuredMachine(BaseModel):
    """Cores, memory, system and versions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cores: int
    processor: str
    memory_gib: float
    system: str
    versions: dict[str, str]


def this_machine() -> MeasuredMachine:
    """Describe this machine. Raises ``ToolMissing`` when a toolchain is not there."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return MeasuredMachine(
        cores=len(os.sched_getaffinity(0)),
        processor=_processor(),
        memory_gib=round(memory / 2**30, 1),
        system=f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        versions={
            "python": platform.python_version(),
            "ray": version("ray"),
            "nvcc": find_nvidia().version,
            "clang": find_amd().version,
        },
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.processor()
