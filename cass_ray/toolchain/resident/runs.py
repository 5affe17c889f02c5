"""Compiler runs in a process of the tool that has started already, where that is the same.

A run is the same as one of :func:`cass_ray.toolchain.sandbox.process.run`: the same tool sees the
same files and writes the same ones. What ends in another way than with status 0 or 1 (a signal, a
limit) is done again in a process of its own, which tells how.
"""

from __future__ import annotations

import contextlib
import filecmp
import functools
import os
import shutil
import stat
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.toolchain.resident.library import preloaded_library
from cass_ray.toolchain.resident.tool import LIBRARY_SOURCE, JobEnd, ResidentTool, ToolStopped
from cass_ray.toolchain.sandbox import isolation, process
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process import (
    ABANDON,
    COMPILE_LIMITS,
    Abandoned,
    Completed,
    Limits,
    ProcessOutcome,
)

_RUNS_BEFORE = 5
"""A process is started for the run after so many: its start costs as much as one saves twice."""
_MOST_TOOLS = 6
_MOST_FAILURES = 3
_MOST_FILES = 8
_MOST_BYTES = 16 << 20
"""A folder with more is not copied for a run."""
_LOOK_SECONDS = 0.1
_ELF = b"\x7fELF"
_ENDED_BY_ITSELF = (0, 1)

_Key = tuple[str, tuple[Path, ...]]


def run(
    argv: Sequence[str | Path], *, cwd: Path, view: View, limits: Limits = COMPILE_LIMITS
) -> Completed:
    """As :func:`~cass_ray.toolchain.sandbox.process.run` does, with less CPU time."""
    command = [str(argument) for argument in argv]
    if _may_be_forked(command, cwd, view, limits):
        tool = _POOL.tool((command[0], view.read_only), view)
        if tool is not None:
            with contextlib.suppress(ToolStopped, OSError):
                done = _forked(tool, command, cwd, view, limits)
                if done is not None:
                    return done
    return process.run(argv, cwd=cwd, view=view, limits=limits)


def _may_be_forked(command: Sequence[str], cwd: Path, view: View, limits: Limits) -> bool:
    """Whether a run sees nothing but the toolchain and a folder with few files, which is `cwd`."""
    plain = View(read_only=view.read_only, writable=view.writable, mounts=view.mounts)
    here = all(mount.source == cwd and not mount.writable for mount in view.mounts)
    if view != plain or not here or view.writable not in ((), (cwd,)):
        return False
    # Debug information names the folder.
    if any(argument.startswith("-g") for argument in command):
        return False
    bounded = limits.address_space_bytes is not None and not process.gives_way()
    return bounded and _is_program(command[0]) and isolation.isolates() and _files(cwd) is not None


@functools.cache
def _is_program(path: str) -> bool:
    """Whether it is no script, whose interpreter would be forked."""
    try:
        with Path(path).open("rb") as file:
            return path.startswith("/") and file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def _files(folder: Path) -> list[Path] | None:
    """The files of ``folder``; None where it holds anything else, or much."""
    files: list[Path] = []
    size = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            size += status.st_size
            if not stat.S_ISREG(status.st_mode) or size > _MOST_BYTES or len(files) == _MOST_FILES:
                return None
            files.append(Path(entry.path))
    return files


def _forked(
    tool: ResidentTool, command: Sequence[str], cwd: Path, view: View, limits: Limits
) -> Completed | None:
    """The run in a fork of ``tool``; None where a process of its own has to tell how it ends."""
    started = time.monotonic()
    with tool.new_folder() as folder:
        given = _files(cwd)
        if given is None:
            return None
        for file in given:
            shutil.copyfile(file, folder / file.name)
        outputs = [folder / name for name in (".stdout", ".stderr")]
        with outputs[0].open("w+b") as stdout, outputs[1].open("w+b") as stderr:
            number, end = tool.begin(folder, command, limits)
            reply = _await(tool, number, end, limits)
            if reply is None or reply.status < 0 or not os.WIFEXITED(reply.status):
                return None
            status = os.WEXITSTATUS(reply.status)
            said = [file.read(limits.output_bytes + 1) for file in (stdout, stderr)]
        if status not in _ENDED_BY_ITSELF or sum(map(len, said)) > limits.output_bytes:
            return None
        if view.writable:
            _take_over(folder, given, cwd)
    return Completed(
        outcome=ProcessOutcome.EXIT if status else ProcessOutcome.OK,
        returncode=status,
        signal=0,
        stdout=said[0],
        stderr=said[1],
        wall_seconds=time.monotonic() - started,
        cpu_seconds=reply.cpu_seconds,
        peak_memory_bytes=reply.peak_memory_bytes,
    )


def _await(tool: ResidentTool, number: int, end: Future[JobEnd], limits: Limits) -> JobEnd | None:
    """The end of a job; None where it took too long by the clock, and was ended."""
    abandon = ABANDON.get()
    deadline = time.monotonic() + limits.wall_seconds
    while time.monotonic() < deadline:
        try:
            return end.result(_LOOK_SECONDS)
        except TimeoutError:
            if abandon is not None and abandon.is_set():
                tool.kill(number)
                raise Abandoned from None
    tool.kill(number)
    return None


def _take_over(folder: Path, given: Sequence[Path], target: Path) -> None:
    """Make of ``target``, which has ``given``, what the job made of its copy, ``folder``."""
    for file in given:
        copy = folder / file.name
        if copy.is_symlink() or not copy.is_file():
            file.unlink()
        elif filecmp.cmp(file, copy, shallow=False):
            copy.unlink()
    with os.scandir(folder) as entries:
        left = list(entries)
    for entry in left:
        if entry.is_file(follow_symlinks=False):
            shutil.move(entry.path, target / entry.name)


class _Pool:
    """The processes that wait: one for each tool and what it sees."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start with none, as in a process that was forked: they are its parent's."""
        self._lock = threading.Lock()
        self._runs: dict[_Key, int] = {}
        self._tools: dict[_Key, ResidentTool] = {}
        self._failures: dict[_Key, int] = {}

    def tool(self, key: _Key, view: View) -> ResidentTool | None:
        """The process for ``key``; None while there is none."""
        with self._lock:
            tool = self._tools.get(key)
            if tool is not None and tool.alive:
                return tool
            if tool is not None:
                tool.stop()
                del self._tools[key]
                self._failures[key] = self._failures.get(key, 0) + 1
            self._runs[key] = self._runs.get(key, 0) + 1
            may_start = self._failures.get(key, 0) < _MOST_FAILURES
            if self._runs[key] > _RUNS_BEFORE and may_start and len(self._tools) < _MOST_TOOLS:
                self._start(key, view)
            return self._tools.get(key)

    def _start(self, key: _Key, view: View) -> None:
        compiler = shutil.which("cc")
        if compiler is not None:
            library = preloaded_library(LIBRARY_SOURCE, Path(compiler), default_directory())
            if library is not None:
                with contextlib.suppress(ToolStopped, OSError):
                    self._tools[key] = ResidentTool(key[0], view, library)
                    return
        # What is linked statically loads no library of ours, now or later.
        self._failures[key] = _MOST_FAILURES


_POOL = _Pool()
os.register_at_fork(after_in_child=_POOL.forget)
