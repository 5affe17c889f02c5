"""A hard limit on processes and threads: a ``pids`` control group for one child process.

``RLIMIT_NPROC`` does not bind root, and a watch that samples is too slow for a fork bomb, which
starves it. The kernel's ``pids`` controller binds everybody. Making a group needs write access to
the hierarchy (root, or a delegated one); an ordinary user has ``RLIMIT_NPROC`` instead, which the
sandbox sets inside its user name space (:mod:`cass_ray.toolchain.sandbox.isolation`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_REMOVAL_SECONDS = 2.0

# The shell moves itself into the group ("0" is the writer), then becomes the command.
_ENTER = 'echo 0 > "$0/cgroup.procs" && exec "$@"'


THREADS = 512
"""Tasks beyond the number of processes: threads count, and engines start one for each core."""


def inside(command: list[str], processes: int) -> list[str]:
    """``command`` under RLIMIT_NPROC, for use inside a sandbox: there it counts the sandbox's own
    tasks. It does not bind root."""
    script = f'ulimit -p {processes + THREADS} 2>/dev/null; exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *command]


@contextlib.contextmanager
def capped(processes: int) -> Iterator[list[str]]:
    """The beginning of a command line under which at most ``processes`` and :data:`THREADS` more
    tasks exist at a time, counting descendants.

    Empty where no group can be made (see :func:`group_parent`). What is left in the group at the
    end of the context must be dead or dying.
    """
    parent = group_parent()
    if parent is None:
        yield []
        return
    group = Path(tempfile.mkdtemp(prefix="cass-", dir=parent))
    try:
        (group / "pids.max").write_text(str(processes + THREADS))
        yield ["/bin/sh", "-c", _ENTER, str(group)]
    finally:
        _remove(group)


@functools.cache
def group_parent() -> Path | None:
    """The folder to make groups in, of either version of control groups; None if there is none."""
    for parent in _candidates():
        with contextlib.suppress(OSError):
            probe = Path(tempfile.mkdtemp(prefix="cass-", dir=parent))
            usable = (probe / "pids.max").exists() and os.access(probe / "cgroup.procs", os.W_OK)
            probe.rmdir()
            if usable:
                return parent
    return None


def _candidates() -> Iterator[Path]:
    """This process's own group and its ancestors, version 1 before version 2."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    roots_1 = [Path(fields[1]) for fields in mounts if _has_pids(fields)]
    roots_2 = [Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        roots = roots_1 if "pids" in controllers.split(",") else roots_2 if not controllers else []
        for root in roots:
            own = root / path.lstrip("/")
            yield own
            # Version 2 allows no groups below one that holds processes: look further up.
            yield from (folder for folder in own.parents if folder.is_relative_to(root))


def _has_pids(fields: list[str]) -> bool:
    return fields[2] == "cgroup" and "pids" in fields[3].split(",")


def _remove(group: Path) -> None:
    """Processes that were killed leave the group a moment later."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    while True:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.002)
        else:
            return
