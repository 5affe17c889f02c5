"""What a command costs: CPU seconds of every process that it starts, by tool.

The command runs below a process of its own that adopts orphans (``subreaper.py``), so daemons are
waited for. The sum is that of a control group (``cgroup.py``), which is exact; exit records
(``taskstats.py``) say which process spent it. Both need root. Elsewhere ``getrusage`` is all there
is, and it misses processes whose parent ignores ``SIGCHLD``, as the workers of Ray's raylet.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure.cgroup import ControlGroup, ControlGroupUnavailableError
from benchmarks.measure.taskstats import ExitRecords, TaskstatsUnavailableError, ThreadExit

_SUBREAPER = Path(__file__).with_name("subreaper.py")

_LATE_SECONDS = 1.0
"""A record may be read so much later than it was made; no process number is used again so soon."""


@dataclass(frozen=True)
class Process:
    """One process that ended, its threads together. Times are ``time.monotonic`` seconds."""

    pid: int
    parent: int
    name: str
    cpu_seconds: float
    began: float
    ended: float
    peak_bytes: int


@dataclass(frozen=True)
class Cost:
    """What one run of a command cost.

    ``group_seconds`` is the control group's sum, None where there is none; ``rusage_seconds`` is
    what ``getrusage`` saw. ``processes`` is empty where the kernel gives no exit records. A record
    is made before the process frees its memory, so ``processes`` add up to less than the sum.
    """

    wall_seconds: float
    group_seconds: float | None
    rusage_seconds: float
    processes: tuple[Process, ...] = ()
    output: str = field(default="", repr=False)

    @property
    def cpu_seconds(self) -> float:
        """User and system CPU seconds of everything that ran."""
        return self.rusage_seconds if self.group_seconds is None else self.group_seconds

    @property
    def method(self) -> str:
        """How ``cpu_seconds`` was counted."""
        return "getrusage" if self.group_seconds is None else "control group"

    def by(self, group: Callable[[Process], str]) -> dict[str, float]:
        """CPU seconds by ``group`` of the process, the largest first."""
        sums: dict[str, float] = defaultdict(float)
        for process in self.processes:
            sums[group(process)] += process.cpu_seconds
        return dict(sorted(sums.items(), key=lambda item: -item[1]))


class CommandFailedError(RuntimeError):
    """A measured command did not do its work; the message ends with what it printed."""


def measure(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    watch: Callable[[ControlGroup], contextlib.AbstractContextManager[object]] | None = None,
) -> Cost:
    """Run ``command`` and every process it leaves behind to the end.

    ``watch`` opens something that looks on while it runs; it needs a control group.
    Raises :class:`CommandFailedError` on a status other than 0.
    """
    words = [str(word) for word in command]
    with tempfile.TemporaryDirectory(prefix="cass-benchmark-") as folder:
        run = _Run(Path(folder))
        with contextlib.ExitStack() as stack:
            run.open(stack, watch)
            run.execute(words, cwd, env)
            cost = run.cost()
    if run.status != 0:
        raise CommandFailedError(
            f"{' '.join(words)}\nended with status {run.status}:\n{cost.output[-4000:]}"
        )
    return cost


class _Run:
    """One measured run; its files are in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._result, self._output = folder / "result.json", folder / "output"
        self._group: ControlGroup | None = None
        self._records: ExitRecords | None = None
        self._exits: list[ThreadExit] = []
        self._root = 0
        self._wall_seconds = 0.0
        self.status = 0

    def open(
        self,
        stack: contextlib.ExitStack,
        watch: Callable[[ControlGroup], contextlib.AbstractContextManager[object]] | None,
    ) -> None:
        """Open what the kernel offers for counting."""
        with contextlib.suppress(ControlGroupUnavailableError):
            self._group = stack.enter_context(ControlGroup())
        with contextlib.suppress(TaskstatsUnavailableError):
            self._records = stack.enter_context(ExitRecords())
        if watch is not None:
            if self._group is None:
                raise ControlGroupUnavailableError("run as root: this needs a control group")
            stack.enter_context(watch(self._group))

    def execute(self, words: list[str], cwd: Path, env: Mapping[str, str] | None) -> None:
        """Run the subreaper with the command to its end."""
        group = str(self._group.path) if self._group else ""
        started = time.monotonic()
        with self._output.open("wb") as sink:
            root = subprocess.Popen(
                [sys.executable, str(_SUBREAPER), str(self._result), group, *words],
                cwd=cwd,
                env=env,
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
            if self._records is not None:
                self._exits = _until_exit(self._records, root.pid)
            root.wait()
        self._wall_seconds = time.monotonic() - started
        self._root = root.pid

    def cost(self) -> Cost:
        outcome = json.loads(self._result.read_text())
        self.status = outcome["status"]
        return Cost(
            wall_seconds=self._wall_seconds,
            group_seconds=self._group.cpu_seconds if self._group else None,
            rusage_seconds=outcome["cpu_seconds"],
            processes=descendants(self._exits, self._root),
            output=self._output.read_text(errors="replace"),
        )


def _until_exit(records: Iterable[ThreadExit], process: int) -> list[ThreadExit]:
    """Exits up to that of ``process``, its own included.

    Whoever was waited for has its record sent before, so none of its descendants is missing.
    """
    exits = []
    for thread_exit in records:
        exits.append(thread_exit)
        if thread_exit.thread == process:
            break
    return exits


def descendants(exits: Sequence[ThreadExit], root: int) -> tuple[Process, ...]:
    """The processes below ``root`` in the order of their ends; ``exits`` is in time order."""
    ends: dict[int, list[int]] = defaultdict(list)  # of each process number, places in exits
    for place, thread_exit in enumerate(exits):
        if thread_exit.thread == thread_exit.process:
            ends[thread_exit.process].append(place)
    seconds: dict[int, float] = defaultdict(float)
    for place, thread_exit in enumerate(exits):
        holder = _holder(exits, ends[thread_exit.process], place)
        if holder is not None:
            seconds[holder] += thread_exit.cpu_seconds
    belongs: dict[int, bool] = {}
    for places in ends.values():
        for place in places:
            _settle(exits, ends, place, root, belongs)
    return tuple(
        _process(exits[place], seconds[place])
        for place in sorted(belongs)
        if belongs[place] and exits[place].process != root
    )


def _holder(exits: Sequence[ThreadExit], ends: Sequence[int], place: int) -> int | None:
    """Which of ``ends``, the ends of one process number, is of the process that held it at
    ``place``.

    It ends after its threads and its children, so the next one. But where that began only later,
    the last one: threads may end after their process does, and so do all in a name space of process
    numbers whose first process ended.
    """
    after = bisect_left(ends, place)
    if after < len(ends):
        leader = exits[ends[after]]
        if leader.ended - leader.elapsed_seconds <= exits[place].ended + _LATE_SECONDS:
            return ends[after]
    return ends[after - 1] if after else None


def _settle(
    exits: Sequence[ThreadExit],
    ends: Mapping[int, Sequence[int]],
    place: int,
    root: int,
    belongs: dict[int, bool],
) -> None:
    """Find out whether the process that ended at ``place`` is ``root`` or below it."""
    line: dict[int, None] = {}
    at: int | None = place
    found = False
    while at is not None and at not in line:
        if at in belongs:
            found = belongs[at]
            break
        line[at] = None
        if root in (exits[at].process, exits[at].parent):
            found = True
            break
        at = _holder(exits, ends.get(exits[at].parent, ()), at)
    belongs.update(dict.fromkeys(line, found))


def _process(leader: ThreadExit, cpu_seconds: float) -> Process:
    return Process(
        pid=leader.process,
        parent=leader.parent,
        name=leader.name,
        cpu_seconds=cpu_seconds,
        began=leader.ended - leader.elapsed_seconds,
        ended=leader.ended,
        peak_bytes=leader.peak_bytes,
    )
