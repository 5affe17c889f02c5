"""What a process holds, told from what its allocators keep for later.

A peak of resident memory is mostly the latter, and how many answers happened to wait: it differs
from run to run by more than a million rows of bookkeeping take.
"""

from __future__ import annotations

import ctypes
import gc
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

_MIB = 1 << 20
_PEAK_FROM_NOW = "5"
"""Written to ``clear_refs``, ``proc_pid_clear_refs(5)``."""


@dataclass(frozen=True)
class Held:
    """MiB of resident memory at one moment."""

    live: float
    """After garbage was collected and freed memory given back."""
    peak: float
    """The most since the moment before."""


class LiveMemory:
    """Moments in the life of this process."""

    def __init__(self) -> None:
        self.moments: list[Held] = []
        self.note()

    def note(self) -> None:
        """Note this moment; threads that work meanwhile count with what they have in hand."""
        peak = _status("VmHWM")
        gc.collect()
        pa.default_memory_pool().release_unused()
        ctypes.CDLL(None).malloc_trim(0)
        self.moments.append(Held(_status("VmRSS"), peak))
        Path("/proc/self/clear_refs").write_text(_PEAK_FROM_NOW)

    @property
    def first(self) -> float:
        """What was held at first."""
        return self.moments[0].live

    @property
    def last(self) -> float:
        """What was held at last."""
        return self.moments[-1].live

    @property
    def most(self) -> float:
        """The most that was held."""
        return max(moment.live for moment in self.moments)

    @property
    def beyond(self) -> float:
        """The most by which a peak was above what was held after it."""
        return max(moment.peak - moment.live for moment in self.moments[1:])


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024 / _MIB
