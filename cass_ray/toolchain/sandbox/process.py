"""One bounded child process: limits on CPU, time, memory and output, inside an isolated view.

:func:`run` is safe to call from several threads. Limits hold for the whole tree of processes: hard
limits of the kernel (``prlimit``) for each process, and a watch over their sum.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO

from cass_ray.toolchain.sandbox import control_group, isolation, process_tree, seccomp
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process_tree import TreeUsage

WATCH_SECONDS = 0.1
"""How often the tree of processes is measured against the limits; first at half of it."""

_READ_BYTES = 1 << 16
_SHELLS_BLOCK = 512
"""The unit of ``ulimit -f`` (POSIX)."""
_NOT_FOUND_STATUS = 127
_SIGNAL_STATUS = 128  # a shell reports death by signal n as 128 + n
_LAST_SIGNAL = int(signal.SIGRTMAX)
_KILL_SECONDS = 2.0

_HAD_ENOUGH = 0.9
"""A process that had a processor for this share of its time was not short of one."""
_PATIENCE = 4.0
"""What had no processor gets more time by the clock, up to so many times its limit."""


class ProcessOutcome(StrEnum):
    """How a child process ended."""

    OK = "ok"
    EXIT = "exit"  # non-zero status
    SIGNAL = "signal"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    NOT_FOUND = "not_found"


@dataclass(frozen=True)
class Limits:
    """Bounds of one run. ``address_space_bytes`` is for each process, the rest for all together.

    ``memory_bytes`` is resident memory. ``wall_seconds`` becomes longer by the time that processes
    were ready to run and had no processor, up to fourfold. ``file_bytes`` bounds each file written,
    ``output_bytes`` stdout and stderr together. CUDA programs reserve address space far beyond the
    memory that they use: run them with ``address_space_bytes=None``. ``shown_cpu_seconds`` is the
    limit of CPU time that a program can read, where that is not to tell it ``cpu_seconds``.
    """

    cpu_seconds: float = 60.0
    wall_seconds: float = 120.0
    memory_bytes: int = 4 << 30
    address_space_bytes: int | None = 4 << 30
    file_bytes: int = 256 << 20
    output_bytes: int = 64 << 20
    processes: int = 64
    open_files: int = 256
    shown_cpu_seconds: int | None = None


COMPILE_LIMITS = Limits(wall_seconds=600.0)
"""Limits of one compiler step: of the clock only where it waits for something else than a
processor."""


class Abandoned(Exception):
    """Whoever asked for a run does not want it any more; nothing of it is left running."""


class Starved(Exception):
    """The machine had no processor for a run within several times its limit: nothing is known."""


_LOWEST_PRIORITY = 19


@dataclass(frozen=True)
class _Way:
    """How a run gives way to others: by the share of its group, else by its niceness."""

    share: float | None = None
    niceness: int = 0


_way = _Way()


def give_way(share: float) -> None:
    """Let each :func:`run` of this process have ``share`` of the processor time that another
    program gets, from now on: 1 is as much, for all of its processes together.

    A program that forks without end must not starve who watches it, which keeps its own priority.
    Where no control groups can be made that takes the lowest priority (nice 19), whatever the
    share.
    """
    global _way
    grouped = control_group.shares_processors()
    _way = _Way(share=share) if grouped else _Way(niceness=_LOWEST_PRIORITY)


def gives_way() -> bool:
    """Whether :func:`give_way` was called."""
    return _way != _Way()


ABANDON: ContextVar[threading.Event | None] = ContextVar("ABANDON", default=None)
"""An event that ends every :func:`run` of this context once it is set."""


@dataclass(frozen=True)
class Companion:
    """A process of ours that starts the sandboxed program and runs beside it, outside the sandbox.

    ``command`` is followed by the program's; it ends with the program's status (128 + n after
    signal n). It has the open files ``descriptors``, which it does not pass on, and counts for
    ``processes`` processes. It is bound by the limits on the whole tree, and bounds itself beyond.
    """

    command: tuple[str, ...]
    descriptors: tuple[int, ...] = ()
    processes: int = 1


@dataclass(frozen=True)
class Completed:
    """How a run ended, what it said and what it cost, its descendants included.

    ``peak_memory_bytes`` is the largest resident sum over the tree that the watch saw, or the peak
    of the largest single process where the kernel tells it; 0 for a short run that neither saw. In
    a sandbox a status of 128 and a signal's number is read as death by signal.
    """

    outcome: ProcessOutcome
    returncode: int
    signal: int
    stdout: bytes
    stderr: bytes
    wall_seconds: float
    cpu_seconds: float
    peak_memory_bytes: int

    @property
    def ok(self) -> bool:
        """Whether the process ended with status 0 within its limits."""
        return self.outcome is ProcessOutcome.OK

    @property
    def stderr_text(self) -> str:
        """``stderr`` as text; bytes that are not UTF-8 are replaced."""
        return self.stderr.decode("utf-8", "replace")

    @property
    def stdout_text(self) -> str:
        """``stdout`` as text; bytes that are not UTF-8 are replaced."""
        return self.stdout.decode("utf-8", "replace")


CLEAN_ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",  # messages that classify() can read
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
}
"""The environment of a child process unless its caller gives one."""


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    limits: Limits = COMPILE_LIMITS,
    view: View | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    companion: Companion | None = None,
) -> Completed:
    """Run ``argv`` in ``cwd`` to its end or to the first limit; then nothing of it is left running.

    With a ``view`` the process is sandboxed (:mod:`cass_ray.toolchain.sandbox.isolation`); ``cwd``
    is a host path that the view shows. Without one only the limits apply: for trusted tools on
    trusted input. ``env`` replaces :data:`CLEAN_ENVIRONMENT`. A ``companion`` runs beside it.

    Raises :class:`~cass_ray.toolchain.sandbox.isolation.IsolationUnavailableError`,
    :class:`Starved`, and :class:`Abandoned` when the event in :data:`ABANDON` is set.
    """
    command = [str(argument) for argument in argv]
    environment = dict(CLEAN_ENVIRONMENT if env is None else env)
    if not _exists(command[0], cwd, view, environment):
        message = f"{command[0]}: command not found".encode()
        return Completed(ProcessOutcome.NOT_FOUND, _NOT_FOUND_STATUS, 0, b"", message, 0.0, 0.0, 0)
    isolated = view is not None and isolation.isolates()
    beside, inherited = (companion.command, companion.descriptors) if companion else ((), ())
    if companion:
        limits = replace(limits, processes=limits.processes + companion.processes)
    own_peak = _peak_bytes(resource.getrusage(resource.RUSAGE_SELF))
    started = time.monotonic()
    with (
        control_group.limited(limits.processes, limits.memory_bytes, _way.share) as group,
        system_call_filter(view) as descriptors,
        _standard_input(stdin) as input_file,
    ):
        inside = isolation.command_line(
            command, view, cwd, *descriptors, limits=_set_by_shell(limits)
        )
        child = subprocess.Popen(
            [
                *_giving_way(),
                *group.joining,
                *beside,
                *(() if isolated else _limiting(limits)),
                *inside,
            ],
            cwd=cwd,
            env=environment,
            stdin=input_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=(*descriptors, *inherited),
            start_new_session=True,
        )
        if _way.niceness:
            process_tree.give_way(child.pid, _way.niceness)
        watch = _Watch(child, limits, started, isolated)
        try:
            watch.until_exit()
        finally:
            usage, status = watch.reap()
        ran_out = group.ran_out_of_memory
        # Killed by the kernel at once, it may never have been measured.
        held = group.peak_memory_bytes if ran_out else 0
    # A child that was vforked starts with the peak of its parent, which then hides its own.
    peak = _peak_bytes(usage) if _peak_bytes(usage) > own_peak else 0
    returncode = os.waitstatus_to_exitcode(status)
    died_by = -returncode if returncode < 0 else 0
    if (isolated or companion) and _SIGNAL_STATUS < returncode <= _SIGNAL_STATUS + _LAST_SIGNAL:
        died_by = returncode - _SIGNAL_STATUS
    cpu_seconds = max(watch.cpu_seconds, usage.ru_utime + usage.ru_stime)
    outcome = watch.broken or _outcome(returncode, died_by, ran_out)
    if outcome is ProcessOutcome.EXIT and cpu_seconds >= limits.cpu_seconds:
        outcome = ProcessOutcome.TIME_LIMIT  # of a process that this one cannot do without
    return Completed(
        outcome=outcome,
        returncode=returncode,
        signal=died_by,
        stdout=bytes(watch.stdout),
        stderr=bytes(watch.stderr),
        wall_seconds=time.monotonic() - started,
        cpu_seconds=cpu_seconds,
        peak_memory_bytes=max(watch.peak_memory_bytes, peak, held),
    )


def _peak_bytes(usage: resource.struct_rusage) -> int:
    return usage.ru_maxrss * 1024


def _outcome(returncode: int, died_by: int, ran_out_of_memory: bool) -> ProcessOutcome:
    if died_by == signal.SIGXCPU:
        return ProcessOutcome.TIME_LIMIT
    if died_by == signal.SIGXFSZ:
        return ProcessOutcome.OUTPUT_LIMIT
    if ran_out_of_memory:
        return ProcessOutcome.MEMORY_LIMIT
    if died_by:
        return ProcessOutcome.SIGNAL
    return ProcessOutcome.OK if returncode == 0 else ProcessOutcome.EXIT


def _giving_way() -> list[str]:
    return ["/usr/bin/nice", "-n", str(_way.niceness)] if _way.niceness else []


def _limiting(limits: Limits) -> list[str]:
    """``prlimit`` sets the kernel's limits and becomes the command; a preexec_fn is not safe here.

    Memory and the number of processes are capped by ``control_group`` and watched.
    """
    command = [
        "/usr/bin/prlimit",
        "--cpu={}:{}".format(*_kernels_seconds(limits)),
        f"--fsize={limits.file_bytes}",
        f"--nofile={limits.open_files}",
        "--core=0",
    ]
    if limits.address_space_bytes is not None:
        command.append(f"--as={limits.address_space_bytes}")
    return [*command, "--"]


def _set_by_shell(limits: Limits) -> str:
    """The same in a sandbox, whose shell becomes the command: one program less is started. There
    RLIMIT_NPROC counts the sandbox's own tasks; it does not bind root."""
    soft, hard = _kernels_seconds(limits)
    asked = [f"-S -t {soft}", f"-H -t {hard}", f"-n {limits.open_files}", "-c 0"]
    asked.append(f"-f {-(-limits.file_bytes // _SHELLS_BLOCK)}")
    if limits.address_space_bytes is not None:
        asked.append(f"-v {limits.address_space_bytes // 1024}")
    tasks = limits.processes + control_group.THREADS
    return f"ulimit -p {tasks}; {' && '.join(f'ulimit {each}' for each in asked)} && "


def _kernels_seconds(limits: Limits) -> tuple[int, int]:
    """Above what the watch allows: it says what happened, the kernel acts where it comes late."""
    seconds = max(round(limits.cpu_seconds + 0.5) + 1, limits.shown_cpu_seconds or 0)
    return seconds, seconds + 1


def _exists(program: str, cwd: Path, view: View | None, env: Mapping[str, str]) -> bool:
    if "/" not in program:
        return shutil.which(program, path=env.get("PATH", os.defpath)) is not None
    path = cwd / program
    return (view.outside(path) if view is not None else path).exists()


@contextlib.contextmanager
def system_call_filter(view: View | None) -> Iterator[tuple[int, ...]]:
    """An open file that holds the filter of ``view``, at its beginning; none without a sandbox."""
    if view is None or not isolation.isolates():
        yield ()
        return
    program = seccomp.filter_program(
        strict_sockets=not view.device_access,
        refused_sockets=view.refuses_sockets,
        memory_files=control_group.bounds_memory() or view.device_access,
    )
    descriptor = os.memfd_create("seccomp")
    try:
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield (descriptor,)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _standard_input(data: bytes) -> Iterator[IO[bytes]]:
    """An open file that holds ``data``: in memory, so that no pipe needs feeding."""
    if not data:
        with open(os.devnull, "rb") as file:  # noqa: PTH123
            yield file
        return
    with os.fdopen(os.memfd_create("stdin"), "w+b") as file:
        file.write(data)
        file.seek(0)
        yield file


class _Watch:
    """Collects a child's output and measures its tree until it ends or breaks a limit."""

    def __init__(
        self, child: subprocess.Popen[bytes], limits: Limits, started: float, isolated: bool
    ) -> None:
        self.child = child
        self.limits = limits
        self.isolated = isolated
        self.started = started
        self.deadline = started + limits.wall_seconds
        self.niceness = _way.niceness
        self.sessions: frozenset[int] = frozenset()
        self.broken: ProcessOutcome | None = None
        self.cpu_seconds = 0.0  # measured: killed descendants are missing in the rusage
        self.peak_memory_bytes = 0
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._exit = os.pidfd_open(child.pid)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._exit, selectors.EVENT_READ)
        for pipe, output in ((child.stdout, self.stdout), (child.stderr, self.stderr)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, output)

    def until_exit(self) -> None:
        """Return when the child has ended; a limit ends it."""
        measure_at = time.monotonic() + WATCH_SECONDS / 2
        abandon = ABANDON.get()
        while True:
            if abandon is not None and abandon.is_set():
                raise Abandoned
            now = time.monotonic()
            wait = max(0.0, min(measure_at, self.deadline) - now)
            for key, _ in self._selector.select(wait):
                if key.data is None:
                    return
                self._read(key.fd, key.data)
            now = time.monotonic()
            if now >= self.deadline:
                self._at_deadline()
            elif now >= measure_at:
                measure_at = now + WATCH_SECONDS
                self._measure()
            if self.broken:
                return

    def reap(self) -> tuple[resource.struct_rusage, int]:
        """End what is left of the tree, take the last output; (resource usage, wait status)."""
        if not self._exited(0.0):
            self._measure()
            if self.isolated:
                # Its process 1 dies with all others and is waited for; then so is bubblewrap.
                for pid in process_tree.children(self.child.pid):
                    _kill(pid)
                self._exited(_KILL_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                while self._read(key.fd, key.data):
                    pass
        self._selector.close()
        os.close(self._exit)
        for pipe in (self.child.stdout, self.child.stderr):
            assert pipe is not None
            pipe.close()
        return usage, status

    def _exited(self, seconds: float) -> bool:
        return bool(select.select([self._exit], [], [], seconds)[0])

    def _read(self, descriptor: int, output: bytearray) -> bool:
        """Move what the pipe holds to ``output``, up to the limit; whether there may be more."""
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(descriptor)
            return False
        room = self.limits.output_bytes - len(self.stdout) - len(self.stderr)
        output += data[:room]
        if len(data) > room:
            self.broken = self.broken or ProcessOutcome.OUTPUT_LIMIT
            return False
        return True

    def _at_deadline(self) -> None:
        """What waited for a processor is given the time that it had none."""
        used = self._measure()
        if self.broken:
            return
        limit = self.limits.wall_seconds
        waited = process_tree.waited_seconds(self.child.pid)
        now = time.monotonic()
        # A wait is only counted once it has ended.
        waits = used.ready or self.started + limit + waited > now
        if used.cpu_seconds >= _HAD_ENOUGH * limit or not waits:
            self.broken = ProcessOutcome.TIME_LIMIT
        elif now < self.started + _PATIENCE * limit:
            self.deadline = max(now + WATCH_SECONDS, self.started + limit + waited)
            self.deadline = min(self.deadline, self.started + _PATIENCE * limit)
        else:
            raise Starved(
                f"the machine is too busy: in {_PATIENCE * limit:g} s a program had a processor for"
                f" {used.cpu_seconds:.1f} s"
            )

    def _measure(self) -> TreeUsage:
        used = process_tree.usage(self.child.pid)
        self.cpu_seconds = max(self.cpu_seconds, used.cpu_seconds)
        self.peak_memory_bytes = max(self.peak_memory_bytes, used.memory_bytes)
        if self.niceness:
            for session in used.sessions - self.sessions:
                process_tree.give_way(session, self.niceness)
            self.sessions = used.sessions
        limits = self.limits
        if used.memory_bytes > limits.memory_bytes or used.processes > limits.processes:
            self.broken = self.broken or ProcessOutcome.MEMORY_LIMIT
        elif used.cpu_seconds > limits.cpu_seconds:
            self.broken = self.broken or ProcessOutcome.TIME_LIMIT
        return used


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
