"""Which tool a process was, by its name, and how busy the compile slots were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.measure.accounting import Process

ACTORS = "our actors (Python)"
RAY_WORKERS = "Ray's own workers (Python)"
RAY_DAEMONS = "Ray daemons (raylet, GCS, agents)"
DRIVER = "driver (Python)"
OTHER = "other"
UNATTRIBUTED = "process ends (freeing memory)"
"""What the control group counted beyond the exit records."""

_TOOLS: tuple[tuple[str, str], ...] = (
    ("ray::MapWorker", ACTORS),
    ("ray::Coordinato", ACTORS),
    ("ray::DashboardA", RAY_DAEMONS),
    ("ray::RuntimeEnv", RAY_DAEMONS),
    ("ray::", RAY_WORKERS),
    ("ray-dashboard", RAY_DAEMONS),
    ("raylet", RAY_DAEMONS),
    ("gcs_server", RAY_DAEMONS),
    ("python", DRIVER),
    ("cass", DRIVER),
    ("cudafe++", "cudafe++"),
    ("cicc", "cicc"),
    ("ptxas", "ptxas"),
    ("fatbinary", "nvcc (driver, fatbinary)"),
    ("nvcc", "nvcc (driver, fatbinary)"),
    ("nvlink", "nvcc (driver, fatbinary)"),
    ("cc1plus", "g++ (preprocessing, host code)"),
    ("x86_64-linux-gn", "g++ (preprocessing, host code)"),
    ("g++", "g++ (preprocessing, host code)"),
    ("gcc", "g++ (preprocessing, host code)"),
    ("cuobjdump", "disassembly (cuobjdump, nvdisasm)"),
    ("nvdisasm", "disassembly (cuobjdump, nvdisasm)"),
    ("clang", "clang"),
    ("ld.lld", "clang"),
    ("lld", "clang"),
    ("hipify", "hipify"),
    ("perl", "hipify"),
    ("bwrap", "sandbox (bwrap, prlimit, sh)"),
    ("prlimit", "sandbox (bwrap, prlimit, sh)"),
    ("sh", "sandbox (bwrap, prlimit, sh)"),
)
"""Prefix of the kernel's name for the process (15 characters) -> tool; the first match counts."""

PYTHON_TOOLS = frozenset({ACTORS, RAY_WORKERS, RAY_DAEMONS, DRIVER})


def tool_of(process: Process) -> str:
    """The row of the table that ``process`` belongs to."""
    return next((tool for prefix, tool in _TOOLS if process.name.startswith(prefix)), OTHER)


def is_compiler(process: Process) -> bool:
    """Whether ``process`` is a compiler, a part of one, a disassembler or their sandbox."""
    return tool_of(process) not in PYTHON_TOOLS


@dataclass(frozen=True)
class SlotUse:
    """How compile slots were used from the actors' first compiler start to their last end."""

    slots: int
    window_seconds: float
    busy_share: float
    """Mean of min(running compiler commands, slots) / slots."""
    mean_running: float
    """Mean number of compiler commands that ran at once."""


def slot_use(processes: Sequence[Process], slots: int) -> SlotUse:
    """Use of ``slots`` by compiler commands: compiler processes that an actor started.

    The driver's probes, and the parts that a compiler runs, are none. Nor is a resident cicc, which
    waits for as long as its actor lives: what it forks is. Raises ``ValueError`` where no actor ran
    a compiler.
    """
    parents = {process.pid: process.parent for process in processes}
    compilers = [process for process in processes if is_compiler(process)]
    cicc = {process.pid for process in compilers if process.name == "cicc"}
    forks = [process for process in compilers if process.name == "cicc" and process.parent in cicc]
    resident = {each for fork in forks for each in _line(fork.parent, parents)}
    actors = {process.pid for process in processes if tool_of(process) == ACTORS}
    started = [p for p in compilers if p.parent in actors and p.pid not in resident]
    commands = [*started, *forks]
    if not commands:
        raise ValueError("no actor ran a compiler")
    began = min(process.began for process in commands)
    ended = max(process.ended for process in commands)
    window = ended - began
    busy = running = 0.0
    for seconds, count in _levels(commands):
        busy += seconds * min(count, slots)
        running += seconds * count
    return SlotUse(slots, window, busy / (window * slots), running / window)


def _line(pid: int, parents: Mapping[int, int]) -> Iterable[int]:
    """``pid``, its parent, and so on."""
    seen: set[int] = set()
    while pid in parents and pid not in seen:
        seen.add(pid)
        yield pid
        pid = parents[pid]


def _levels(commands: Iterable[Process]) -> Iterable[tuple[float, int]]:
    """(seconds, number running) for each stretch between two starts or ends."""
    changes = [(command.began, 1) for command in commands]
    changes += [(command.ended, -1) for command in commands]
    changes.sort()
    running = 0
    for (time, change), (following, _) in pairwise(changes):
        running += change
        yield following - time, running
