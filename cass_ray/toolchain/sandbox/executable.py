"""Run one untrusted executable: bounded, isolated, and with a verdict on how it ended.

The program sees the system's libraries, its own file and what :class:`Exposure` names, all
read-only, and an empty private folder of bounded size. It has no network. Built on
:mod:`cass_ray.toolchain.sandbox.process` and :mod:`cass_ray.toolchain.sandbox.isolation`.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.printable import printable_text
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.isolation import OURS, Identity, Mount, View
from cass_ray.toolchain.sandbox.process import (
    CLEAN_ENVIRONMENT,
    Companion,
    Completed,
    Limits,
    ProcessOutcome,
    run,
)
from cass_ray.toolchain.sandbox.written import WRITTEN_BYTES, Archive

WORKING_FOLDER = Path("/cass/work")
"""Where a program runs: in memory, gone when it ends."""

PROGRAM = Path("/cass/program")
"""Where a program sees itself: the same for an original and its port, which may print it."""

INPUT_ENTRIES = 256
"""Files and folders that a program is given in it; what is in those folders is not counted."""


class SandboxVerdict(StrEnum):
    """How a program ended in the sandbox: by itself, by a signal or by a limit."""

    OK = "ok"
    EXIT = "exit"  # non-zero status
    SIGNAL = "signal"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    VIOLATION = "sandbox_violation"
    """It made a system call that no program under test has a use for."""


_VERDICTS = {
    ProcessOutcome.OK: SandboxVerdict.OK,
    ProcessOutcome.EXIT: SandboxVerdict.EXIT,
    ProcessOutcome.SIGNAL: SandboxVerdict.SIGNAL,
    ProcessOutcome.TIME_LIMIT: SandboxVerdict.TIME_LIMIT,
    ProcessOutcome.MEMORY_LIMIT: SandboxVerdict.MEMORY_LIMIT,
    ProcessOutcome.OUTPUT_LIMIT: SandboxVerdict.OUTPUT_LIMIT,
}


@dataclass(frozen=True)
class Bounds:
    """Limits of one run; ``folder_bytes`` bounds what it can write, ``output_bytes`` both streams.

    ``processes`` counts processes, not threads. The clock allows as much as CPU time does, which is
    the same on each machine. A program can read neither, nor how much it may print; the rest is the
    same for all who judge and run ports, so that none of it tells them apart.
    """

    wall_seconds: float = 120.0
    cpu_seconds: float = 120.0
    memory_bytes: int = 8 << 30
    output_bytes: int = 16 << 20
    folder_bytes: int = 256 << 20
    processes: int = 64
    open_files: int = 1024

    def limits(self) -> Limits:
        """In the terms of :mod:`cass_ray.toolchain.sandbox.process`.

        Address space is not bounded: GPU runtimes reserve far more than they use.
        """
        return Limits(
            cpu_seconds=self.cpu_seconds,
            wall_seconds=self.wall_seconds,
            memory_bytes=self.memory_bytes,
            address_space_bytes=None,
            file_bytes=self.folder_bytes,
            output_bytes=self.output_bytes + WRITTEN_BYTES,
            processes=self.processes + _OWN_PROCESSES,
            open_files=self.open_files,
            shown_cpu_seconds=_SHOWN_CPU_SECONDS,
        )


_SHOWN_CPU_SECONDS = 3600
_OWN_PROCESSES = 4
"""Bubblewrap, its monitor, the sandbox's process 1 and its subshell."""


@dataclass(frozen=True)
class Exposure:
    """What a program sees beside the system, and how its environment differs from a clean one.

    ``mounts`` are what it sees at another path than ours. ``shared_files`` are files that the
    program may write and that outlast it, by the path where it sees them. ``device_access`` relaxes
    the filter of system calls for GPU drivers.
    """

    read_only: tuple[Path, ...] = ()
    mounts: tuple[Mount, ...] = ()
    devices: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    shared_files: Mapping[Path, Path] = field(default_factory=dict)
    device_access: bool = False
    identity: Identity = OURS


@dataclass(frozen=True)
class SandboxRun:
    """What a program did. ``status`` is its exit status, ``128 + n`` after signal ``n``."""

    verdict: SandboxVerdict
    status: int
    stdout: bytes
    stderr: bytes
    wall_seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What it left in its working folder, by name; none of a run that a limit ended, and none
    without a sandbox."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with status 0."""
        return self.verdict is SandboxVerdict.OK


def run_sandboxed(
    executable: Path,
    arguments: Sequence[str] = (),
    *,
    bounds: Bounds = Bounds(),
    exposure: Exposure = Exposure(),
    stdin: bytes = b"",
    inputs: Path | None = None,
    companion: Companion | None = None,
) -> SandboxRun:
    """Run ``executable`` (a host path) and wait until nothing of it is left.

    What is in the folder ``inputs`` it finds where it runs, as :func:`working_folder` says, which
    names what is raised too.

    Raises :class:`~cass_ray.toolchain.sandbox.isolation.IsolationUnavailableError` where no sandbox
    can be made and ``CASS_ALLOW_UNISOLATED=1`` is not set.
    """
    completed, files = complete(
        executable,
        arguments,
        bounds=bounds,
        exposure=exposure,
        stdin=stdin,
        inputs=inputs,
        companion=companion,
    )
    return _ended(completed, files)


def complete(
    executable: Path,
    arguments: Sequence[str],
    *,
    bounds: Bounds,
    exposure: Exposure,
    stdin: bytes,
    inputs: Path | None,
    companion: Companion | None,
) -> tuple[Completed, Mapping[str, bytes]]:
    """Do as :func:`run_sandboxed` does; return how the process ended, and the files it left."""
    executable = executable.resolve()
    with working_folder(bounds.folder_bytes, inputs) as folder:
        completed = run(
            [place_of(executable), *arguments],
            cwd=folder.start,
            limits=bounds.limits(),
            view=_view(executable, exposure, bounds, folder),
            env={**CLEAN_ENVIRONMENT, "TMPDIR": str(WORKING_FOLDER), **exposure.environment},
            stdin=stdin,
            companion=companion,
        )
    stderr, files = folder.archive.split(completed.stderr)
    return _cut(replace(completed, stderr=stderr), bounds.output_bytes), files


def _cut(completed: Completed, most: int) -> Completed:
    """``completed`` with ``most`` bytes of output; the limit of its process counts files, too."""
    stdout, stderr = completed.stdout, completed.stderr
    if len(stdout) + len(stderr) <= most:
        return completed
    return replace(
        completed,
        outcome=ProcessOutcome.OUTPUT_LIMIT,
        stdout=stdout[:most],
        stderr=stderr[: max(0, most - len(stdout))],
    )


def place_of(executable: Path) -> Path:
    """The path by which a sandboxed program is started; without a sandbox its own."""
    return PROGRAM if isolation.isolates() else executable


@functools.cache
def problem() -> str:
    """Why programs cannot be run here, in words and with the remedy; empty where they can.

    Probed once, by running one: it needs more than a compiler, a ``/proc`` of its own.
    """
    try:
        done = run_sandboxed(Path("/bin/true"))
    except isolation.IsolationUnavailableError as error:
        return str(error)
    if done.ok:
        return ""
    message = printable_text(done.stderr.decode("utf-8", "replace").strip()) or done.verdict.value
    return f"no program can be run in the sandbox: {message}\n" + (
        _MASKED if "proc" in message else "See SECURITY.md for what the sandbox needs."
    )


_MASKED = (
    "A container hides parts of /proc, and the kernel then allows no other one inside of it. Unmask"
    " it: in Docker and Podman --security-opt systempaths=unconfined; in Kubernetes procMount:"
    " Unmasked in the container's securityContext, with hostUsers: false in the pod."
    f" For programs that you trust, {isolation.ALLOW_UNISOLATED}=1 runs them under resource limits"
    " alone."
)


def _ended(completed: Completed, files: Mapping[str, bytes]) -> SandboxRun:
    verdict = _VERDICTS.get(completed.outcome, SandboxVerdict.EXIT)
    if verdict is SandboxVerdict.SIGNAL and completed.signal == signal.SIGSYS:
        verdict = SandboxVerdict.VIOLATION
    return SandboxRun(
        verdict=verdict,
        status=completed.returncode if completed.returncode >= 0 else 128 - completed.returncode,
        stdout=completed.stdout,
        stderr=completed.stderr,
        wall_seconds=completed.wall_seconds,
        cpu_seconds=completed.cpu_seconds,
        peak_memory_bytes=completed.peak_memory_bytes,
        files=files,
    )


def _view(executable: Path, exposure: Exposure, bounds: Bounds, folder: WorkingFolder) -> View:
    shared = tuple(
        Mount(host, inside, writable=True) for inside, host in exposure.shared_files.items()
    )
    return View(
        read_only=exposure.read_only,
        devices=exposure.devices,
        mounts=(folder.mount, Mount(executable, PROGRAM), *exposure.mounts, *shared),
        temporary_bytes=bounds.folder_bytes,
        process_filesystem=True,
        device_access=exposure.device_access,
        arguments=folder.arguments,
        at_end=folder.archive.words,
        identity=exposure.identity,
    )


@dataclass(frozen=True)
class WorkingFolder:
    """Where a program runs: ``start`` is the host path that it starts in.

    ``mount`` and ``arguments`` belong to the view, and the words of ``archive``: a program that
    reads the command line of process 1 sees no other one in other runs. What the program writes
    lies in memory alone.
    """

    start: Path
    mount: Mount
    arguments: tuple[str, ...]
    archive: Archive


@contextmanager
def working_folder(folder_bytes: int, inputs: Path | None = None) -> Iterator[WorkingFolder]:
    """A :data:`WORKING_FOLDER` for one run, in which a program may write ``folder_bytes``.

    It holds what the folder ``inputs`` holds, read-only (links as they are: those that lead out of
    it lead nowhere), or nothing. Without a sandbox it is a real folder with copies, which only the
    size of each file bounds. The first :data:`WRITTEN_BYTES` of what is left in it come back.

    Raises:
        ValueError: more than :data:`INPUT_ENTRIES` lie directly in ``inputs``.
        OSError: it cannot be read.
    """
    arguments = ["--size", str(folder_bytes), "--tmpfs", str(WORKING_FOLDER)]
    with contextlib.ExitStack() as stack:
        if isolation.isolates():
            start = _placeholder()
            arguments += _shown(inputs) if inputs else ()
        else:
            start = stack.enter_context(isolation.private_folder())
            if inputs:
                shutil.copytree(inputs, start, symlinks=True, dirs_exist_ok=True)
        given = tuple(entry.name for entry in inputs.iterdir()) if inputs else ()
        archive = Archive(WORKING_FOLDER, given)
        yield WorkingFolder(start, Mount(start, WORKING_FOLDER), tuple(arguments), archive)


def _shown(inputs: Path) -> Iterator[str]:
    """Arguments of bubblewrap that show what is in ``inputs``; sockets and the like stay out."""
    entries = sorted(inputs.resolve().iterdir())
    if len(entries) > INPUT_ENTRIES:
        raise ValueError(
            f"{inputs} holds more than {INPUT_ENTRIES} files and folders: put them into a folder"
            " inside of it, which counts once"
        )
    for entry in entries:
        place = str(WORKING_FOLDER / entry.name)
        if entry.is_symlink():
            yield from ("--symlink", str(entry.readlink()), place)
        elif entry.is_dir() or entry.is_file():
            yield from ("--ro-bind", str(entry), place)


def _placeholder() -> Path:
    """An empty folder that stays."""
    folder = default_directory() / "empty"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()
