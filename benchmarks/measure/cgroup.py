"""A control group of its own for a measured command: the scheduler's exact sum of CPU time.

Everything that the command starts stays in the group, whoever its parent is and however it ends,
so ``usage_usec`` of ``cpu.stat`` (cgroup v2, ``Documentation/admin-guide/cgroup-v2.rst``) misses
nothing. Making a group needs write access to the mounted hierarchy: root, or a delegated
group (``systemd-run --user --scope -p Delegate=yes``).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType


class ControlGroupUnavailableError(RuntimeError):
    """No control group can be made here; the message says why."""


class ControlGroup:
    """A new, empty group while it is open (a context manager); removed once it is empty.

    Raises :class:`ControlGroupUnavailableError` on entry.
    """

    def __enter__(self) -> ControlGroup:
        parent = _own_group()
        try:
            self.path = Path(tempfile.mkdtemp(prefix="cass-benchmark-", dir=parent))
        except OSError as error:
            raise ControlGroupUnavailableError(f"{parent}: {error.strerror}") from error
        if not (self.path / "cpu.stat").exists():
            self.path.rmdir()
            raise ControlGroupUnavailableError(f"{parent} has no cpu.stat")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.path.rmdir()

    @property
    def cpu_seconds(self) -> float:
        """User and system CPU seconds of everything that ever ran in the group."""
        lines = (self.path / "cpu.stat").read_text().splitlines()
        values = dict(line.split() for line in lines)
        return int(values["usage_usec"]) / 1e6

    def processes(self) -> list[int]:
        """The processes in the group now."""
        return [int(pid) for pid in (self.path / "cgroup.procs").read_text().split()]


def _own_group() -> Path:
    """The directory of this process's own v2 group."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    roots = [Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"]
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = [line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
    if not roots or not own:
        raise ControlGroupUnavailableError("no cgroup v2 hierarchy is mounted")
    return roots[0] / own[0]
