"""What a running service holds: memory of its processes, disk, over time."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure.memory import object_store_bytes

_LASTING_SECONDS = 30.0
"""A process older than that is the service's own; compilers and programs end before."""
_MIB = 2**20


@dataclass(frozen=True)
class ServiceSample:
    """Bytes at one moment; ``seconds`` since the first."""

    seconds: float
    lasting: int
    """Resident, of the service's own processes."""
    all: int
    """Resident, with compilers and programs under way."""
    processes: int
    disk: int
    store: int
    """In shared memory: Ray's object store."""


class Resources:
    """Samples the processes below ``root`` and what lies in ``folders``."""

    def __init__(self, root: int, folders: Sequence[Path]) -> None:
        self.root = root
        self.folders = folders
        self.samples: list[ServiceSample] = []
        self._seen: dict[int, float] = {}
        self._started = time.monotonic()

    async def sample_each(self, seconds: float) -> None:
        """Until cancelled."""
        while True:
            self.samples.append(await asyncio.to_thread(self.sample))
            await asyncio.sleep(seconds)

    def sample(self) -> ServiceSample:
        now = time.monotonic()
        pids = _descendants(self.root)
        self._seen = {pid: self._seen.get(pid, now) for pid in pids}
        resident = {pid: _resident_bytes(pid) for pid in pids}
        old = [pid for pid in pids if now - self._seen[pid] >= _LASTING_SECONDS]
        return ServiceSample(
            seconds=now - self._started,
            lasting=sum(resident[pid] for pid in old),
            all=sum(resident.values()),
            processes=len(pids),
            disk=sum(map(_folder_bytes, self.folders)),
            store=sum(object_store_bytes(pid) for pid in pids if _name(pid) == "raylet"),
        )

    def as_dict(self) -> dict[str, Any]:
        """Figures in MiB; slopes by least squares over the later half, in MiB a minute."""
        later = self.samples[len(self.samples) // 2 :]
        found: dict[str, Any] = {"sample_count": len(self.samples)}
        for name in ("lasting", "all", "disk", "store"):
            values = [getattr(each, name) / _MIB for each in later]
            minutes = [each.seconds / 60 for each in later]
            slope = statistics.linear_regression(minutes, values).slope if len(later) > 2 else 0.0
            found[name] = {
                "later_half_min_mib": round(min(values), 1),
                "later_half_max_mib": round(max(values), 1),
                "slope_mib_per_minute": round(slope, 3),
            }
        found["timeline"] = [
            {
                "s": round(each.seconds),
                "lasting_mib": round(each.lasting / _MIB, 1),
                "all_mib": round(each.all / _MIB, 1),
                "processes": each.processes,
                "disk_mib": round(each.disk / _MIB, 1),
                "store_mib": round(each.store / _MIB, 1),
            }
            for each in self.samples
        ]
        return found


def _descendants(root: int) -> list[int]:
    found = [root]
    for pid in found:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, task.read_text().split())
    return found


def _resident_bytes(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _folder_bytes(folder: Path) -> int:
    """On disk, links not followed."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += (Path(place) / name).lstat().st_blocks * 512
    return total
