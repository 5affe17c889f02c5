"""How long a run of a port may take: several times what its original and it needed before.

So the machine's load, which all runs share, decides no verdict. Who takes longer would be too slow
on any day.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cass_ray.toolchain.sandbox.executable import Bounds, SandboxRun, SandboxVerdict

_SLACK, _TIMES = 5.0, 4.0
_CHECK_SLACK, _CHECK_TIMES = 20.0, 10.0


@dataclass(frozen=True)
class Needed:
    """The most that runs of a program took; zeros where that is not known."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0

    @classmethod
    def most(cls, *runs: Needed | SandboxRun) -> Needed:
        """Return the seconds that the longest of ``runs`` took, of each kind."""
        wall = max(run.wall_seconds for run in runs)
        return cls(wall, max(run.cpu_seconds for run in runs))

    @property
    def alone(self) -> float:
        """Seconds on a machine that does nothing else: neither load nor threads lengthen both."""
        return min(self.wall_seconds, self.cpu_seconds)


UNKNOWN = Needed()


def at_least(bounds: Bounds, needed: Needed) -> Bounds:
    """``bounds``, longer where that is less than several times what was ``needed``."""
    enough = several(bounds, needed)
    return replace(
        bounds,
        wall_seconds=max(bounds.wall_seconds, enough.wall_seconds),
        cpu_seconds=max(bounds.cpu_seconds, enough.cpu_seconds),
    )


def several(bounds: Bounds, needed: Needed, slack: float = _SLACK, times: float = _TIMES) -> Bounds:
    """``bounds`` with several times what was ``needed``."""
    return replace(
        bounds,
        wall_seconds=slack + times * needed.wall_seconds,
        cpu_seconds=slack + times * needed.cpu_seconds,
    )


def in_checking_mode(bounds: Bounds, needed: Needed) -> Bounds:
    """``bounds``, shorter where a run in checking mode, which takes longer, should have ended."""
    enough = several(bounds, needed, _CHECK_SLACK, _CHECK_TIMES)
    return replace(
        bounds,
        wall_seconds=min(bounds.wall_seconds, enough.wall_seconds),
        cpu_seconds=min(bounds.cpu_seconds, enough.cpu_seconds),
    )


def out_of_time(ended: SandboxRun, bounds: Bounds) -> str:
    """Which limit of time ended a run, in words; empty where none did."""
    if ended.verdict is not SandboxVerdict.TIME_LIMIT:
        return ""
    wall, cpu = bounds.wall_seconds, bounds.cpu_seconds
    return f"it does not end within {wall:.0f} s by the clock or {cpu:.0f} s of CPU time"
