"""Hard limits on memory and on processes, and a share of the processors: a control group for one
child process.

Resource limits do not bound a tree of processes, nor memory that belongs to no process (files in
memory, System V segments, inodes), and ``RLIMIT_NPROC`` does not bind root; a watch that samples
is too slow for a fork bomb, which starves it. The kernel's ``memory`` and ``pids`` controllers bind
everybody. Making a group needs write access to the hierarchy (root, or a delegated one). An
ordinary user without one has ``RLIMIT_NPROC`` inside the sandbox's user name space, the sampled
sum of resident memory, and a filter of system calls that leaves no memory outside of processes
but the sandbox's bounded ``/tmp`` and ``/dev/shm`` (:mod:`cass_ray.toolchain.sandbox.seccomp`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

THREADS = 512
"""Tasks beyond the number of processes: threads count, and engines start one for each core."""

MEMORY_HEADROOM = 64 << 20
"""For bubblewrap, its shell and the kernel's own structures, which the group counts as well."""

_PREFIX = "cass-"
_OWNER = re.compile(rf"{_PREFIX}(\d+)-(\d+)-")
_REMOVAL_SECONDS = 2.0
_FORGOTTEN_SECONDS = 24 * 3600.0

# The shell moves itself into the groups ("0" is the writer), then becomes the command.
_ENTER = (
    'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"'
)

_MEMORY_LIMIT_FILES = ("memory.max", "memory.limit_in_bytes")
_MEMORY_PEAK_FILES = ("memory.peak", "memory.max_usage_in_bytes")
_WEIGHTS = {"cpu.weight": (100, 1), "cpu.shares": (1024, 2)}
"""File -> what a group has that nobody has weighed, and the least (sched-design-CFS.rst and
cgroup-v2.rst in Linux); a task of ordinary priority beside a group weighs as much as that."""
_MEMORY_EVENT_FILES = ("memory.events", "memory.oom_control")


@dataclass(frozen=True)
class Group:
    """One child's groups, a folder for each hierarchy; none where none can be made."""

    folders: tuple[Path, ...] = ()

    @property
    def joining(self) -> list[str]:
        """The beginning of a command line whose command joins the groups."""
        if not self.folders:
            return []
        return ["/bin/sh", "-c", _ENTER, "sh", *map(str, self.folders), "--"]

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel killed one of its processes at the memory limit."""
        for folder in self.folders:
            for name in _MEMORY_EVENT_FILES:
                with contextlib.suppress(OSError):
                    match = re.search(r"^oom_kill (\d+)$", (folder / name).read_text(), re.M)
                    if match and int(match[1]):
                        return True
        return False

    @property
    def peak_memory_bytes(self) -> int:
        """The most that its processes held together; 0 where the kernel does not say."""
        peaks = [0]
        for folder in self.folders:
            for name in _MEMORY_PEAK_FILES:
                with contextlib.suppress(OSError, ValueError):
                    peaks.append(int((folder / name).read_text()))
        return max(peaks)


@contextlib.contextmanager
def limited(
    processes: int, memory_bytes: int, processor_share: float | None = None
) -> Iterator[Group]:
    """Groups with at most ``processes`` and :data:`THREADS` more tasks at a time, and
    ``memory_bytes`` of memory of any kind, counting descendants; where :func:`shares_processors`,
    with ``processor_share`` of what another program gets, all of them together.

    What is left in them at the end of the context must be dead or dying.
    """
    folders: list[Path] = []
    parents = [pids_parent(), memory_parent()]
    if processor_share is not None:
        parents.append(processor_parent())
    try:
        for parent in dict.fromkeys(filter(None, parents)):
            folder = Path(tempfile.mkdtemp(prefix=_own_prefix(), dir=parent))
            folders.append(folder)
            _limit(folder, processes + THREADS, memory_bytes + MEMORY_HEADROOM)
            if processor_share is not None:
                _weigh(folder, processor_share)
        yield Group(tuple(folders))
    finally:
        for folder in folders:
            _remove(folder)


def bounds_memory() -> bool:
    """Whether memory that belongs to no process is bounded here."""
    return memory_parent() is not None


@functools.cache
def pids_parent() -> Path | None:
    """The folder to make groups for tasks in, of either version; None if there is none."""
    return _parent("pids", ("pids.max",))


@functools.cache
def memory_parent() -> Path | None:
    """The folder to make groups for memory in, of either version; None if there is none."""
    return _parent("memory", _MEMORY_LIMIT_FILES)


def shares_processors() -> bool:
    """Whether a program's share of the processors can be set, however many processes it starts."""
    return processor_parent() is not None


@functools.cache
def processor_parent() -> Path | None:
    """The folder to make groups with a share of the processors in; None if there is none.

    In version 2 a process has one group for all controllers.
    """
    parent = _parent("cpu", tuple(_WEIGHTS))
    others = {folder for folder in (pids_parent(), memory_parent()) if folder is not None}
    if parent is None or (_is_version_2(parent) and any(map(_is_version_2, others - {parent}))):
        return None
    return parent


def _is_version_2(folder: Path) -> bool:
    return (folder / "cgroup.controllers").exists()


def _weigh(folder: Path, share: float) -> None:
    for name, (ordinary, least) in _WEIGHTS.items():
        if (folder / name).exists():
            (folder / name).write_text(str(max(least, round(share * ordinary))))


def _limit(folder: Path, tasks: int, memory_bytes: int) -> None:
    if (folder / "pids.max").exists():
        (folder / "pids.max").write_text(str(tasks))
    for name in _MEMORY_LIMIT_FILES:
        if (folder / name).exists():
            (folder / name).write_text(str(memory_bytes))
    # Swap would only delay the end. Where the kernel does not count it, there is no such file.
    with contextlib.suppress(OSError):
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0")


def _parent(controller: str, limit_files: tuple[str, ...]) -> Path | None:
    for parent in _candidates(controller):
        with contextlib.suppress(OSError):
            _sweep(parent)
            probe = Path(tempfile.mkdtemp(prefix=_own_prefix(), dir=parent))
            limits = any((probe / name).exists() for name in limit_files)
            usable = limits and os.access(probe / "cgroup.procs", os.W_OK)
            probe.rmdir()
            if usable:
                return parent
    return None


def _candidates(controller: str) -> Iterator[Path]:
    """This process's own group and its ancestors, version 1 before version 2."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    roots_1 = [
        Path(fields[1])
        for fields in mounts
        if fields[2] == "cgroup" and controller in fields[3].split(",")
    ]
    roots_2 = [Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        among = controllers.split(",")
        roots = roots_1 if controller in among else roots_2 if not controllers else []
        for root in roots:
            own = root / path.lstrip("/")
            yield own
            # Version 2 allows no groups below one that holds processes: look further up.
            yield from (folder for folder in own.parents if folder.is_relative_to(root))


def _own_prefix() -> str:
    """How groups of this process are called: its PID name space, and its number there."""
    return f"{_PREFIX}{_pid_name_space()}-{os.getpid()}-"


def _pid_name_space() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _sweep(parent: Path) -> None:
    """Remove what processes left behind that were killed.

    Containers may share a hierarchy: a number of another name space says nothing about who lives
    there, so that only age tells.
    """
    here, now = _pid_name_space(), time.time()
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = _OWNER.match(folder.name)
        if owner and int(owner[1]) == here:
            dead = not Path(f"/proc/{owner[2]}").exists()
        else:
            dead = now - _changed(folder, now) > _FORGOTTEN_SECONDS
        if dead:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _changed(folder: Path, removed_at: float) -> float:
    """When ``folder`` was changed last; ``gone`` where it is not there any more."""
    try:
        return folder.stat().st_mtime
    except OSError:
        return removed_at


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
