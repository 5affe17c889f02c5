"""A process and its descendants, as ``/proc`` shows them: what they use and what they wait for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class TreeUsage:
    """What the processes of a tree use together; ``memory_bytes`` is resident memory.

    ``sessions`` are the leaders of sessions among them, ``ready`` says whether one of them could go
    on if it had a processor, or the disk.
    """

    cpu_seconds: float
    memory_bytes: int
    processes: int
    sessions: frozenset[int]
    ready: bool


def usage(root: int) -> TreeUsage:
    """Usage of the processes below and including ``root``."""
    ticks, pages, processes, ready = 0, 0, 0, False
    sessions = []
    for pid in tree(root):
        try:
            status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:  # it ended meanwhile
            continue
        values = status.rpartition(")")[2].split()  # from field 3 (state) of proc(5) on
        ticks += sum(map(int, values[11:15]))  # utime, stime and those of reaped children
        pages += int(values[21])
        processes += 1
        ready = ready or values[0] in "RD"
        if int(values[3]) == pid:
            sessions.append(pid)
    cpu_seconds = ticks / _TICKS_PER_SECOND
    return TreeUsage(cpu_seconds, pages * _PAGE_BYTES, processes, frozenset(sessions), ready)


def waited_seconds(root: int) -> float:
    """How long the threads of a tree were ready to run and had no processor, in sum.

    From ``schedstat`` (Documentation/scheduler/sched-stats.rst in Linux: the second number is the
    time on a run queue, in nanoseconds); 0 where the kernel does not keep it. What ended does not
    count, nor a wait that has not ended yet.
    """
    nanoseconds = 0
    for pid in tree(root):
        for task in _tasks(pid):
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = Path(f"/proc/{pid}/task/{task}/schedstat").read_text()
                nanoseconds += int(text.split()[1])
    return nanoseconds / 1e9


def give_way(session: int, niceness: int) -> None:
    """Let a session, by its leader, give way to others as ``niceness`` says.

    Where the kernel schedules each session as a whole (``autogroup`` in sched(7)), the niceness of
    processes counts inside their session alone, and a sandbox is a session of its own. Does nothing
    where the kernel does not or where it refuses (of ordinary users it takes ten changes a second).
    """
    with contextlib.suppress(OSError):
        Path(f"/proc/{session}/autogroup").write_text(str(niceness))


def tree(root: int) -> Iterator[int]:
    """The processes below and including ``root``."""
    pending = [root]
    while pending:
        pid = pending.pop()
        yield pid
        pending += children(pid)


def children(pid: int) -> list[int]:
    """The children of all threads of ``pid``; empty once it ended."""
    processes: list[int] = []
    for task in _tasks(pid):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/task/{task}/children").read_text()
            processes += map(int, text.split())
    return processes


def _tasks(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []
