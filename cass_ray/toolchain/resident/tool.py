"""One process of a tool that waits at its main, and the jobs that are forks of it.

The dynamic linker takes longer to load and relocate LLVM's libraries than clang takes to assemble
a program: 27 of 35 ms. The process (``shim/serve.c``) runs in the sandbox and sees the toolchain
and a folder of its own, in which each job has one whose name nobody can guess.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import threading
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from cass_ray.toolchain.sandbox import isolation, process
from cass_ray.toolchain.sandbox.isolation import Mount, View
from cass_ray.toolchain.sandbox.process import CLEAN_ENVIRONMENT, Limits

LIBRARY_SOURCE = Path(__file__).parent / "shim" / "serve.c"

RESIDENT_FOLDER = Path("/cass/resident")
"""Where a resident process sees its folder: ``RESIDENT`` of ``shim/confine.h``."""
_START_SECONDS = 60.0
_NAME_BYTES = 16
_READY = 0


class ToolStopped(Exception):
    """The process has ended."""


@dataclass(frozen=True)
class JobEnd:
    """How a job ended: its wait status (-1: it was not begun), and what it cost."""

    status: int
    cpu_seconds: float
    peak_memory_bytes: int


class ResidentTool:
    """A process of ``program``, which sees what ``view`` shows read-only.

    May be used from several threads. Raises :class:`ToolStopped` where it cannot be started.
    """

    def __init__(self, program: str, view: View, library: Path) -> None:
        self.folder = isolation.new_private_folder()
        ready: Future[JobEnd] = Future()
        self._replies = {_READY: ready}
        self._lock = threading.Lock()
        self._last = _READY
        self._stopped = False
        shown = View(
            read_only=(*view.read_only, library.parent),
            mounts=(Mount(self.folder, RESIDENT_FOLDER, writable=True),),
        )
        command = ["/usr/bin/env", f"LD_PRELOAD={library}", program]
        # The sandbox ends with the thread that has started it: that one lives as long as we do.
        started: Future[subprocess.Popen[bytes]] = Future()
        self.thread = threading.Thread(
            target=self._live, args=(command, shown, started), name="cass-resident", daemon=True
        )
        self.thread.start()
        self._process = started.result()
        self.stop = weakref.finalize(self, end_resident, self._process, self.folder, os.getpid())
        try:
            ready.result(_START_SECONDS)
        except (TimeoutError, ToolStopped) as error:
            self.stop()
            raise ToolStopped from error

    @property
    def alive(self) -> bool:
        """Whether it takes jobs."""
        return self.stop.alive and not self._stopped

    @contextlib.contextmanager
    def new_folder(self) -> Iterator[Path]:
        """A folder for one job, which is removed at the end."""
        folder = self.folder / secrets.token_hex(_NAME_BYTES)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def begin(
        self, folder: Path, arguments: Sequence[str], limits: Limits
    ) -> tuple[int, Future[JobEnd]]:
        """Begin a job in ``folder``, which is a :meth:`new_folder`: its number, and its end.

        The job writes to the files ``.stdout`` and ``.stderr`` of the folder, which have to be
        there. Raises :class:`ToolStopped`, and so does the end.
        """
        (folder / ".arguments").write_bytes(
            b"".join(os.fsencode(each) + b"\0" for each in arguments)
        )
        memory = limits.address_space_bytes
        bounds = (ceil(limits.cpu_seconds), memory, limits.file_bytes, limits.open_files)
        end: Future[JobEnd] = Future()
        with self._lock:
            self._last += 1
            number = self._last
            self._say(f"run {number} {folder.name} {' '.join(map(str, bounds))}")
            self._replies[number] = end
        return number, end

    def kill(self, number: int) -> None:
        """End a job that may still run."""
        with self._lock, contextlib.suppress(ToolStopped):
            self._say(f"kill {number}")

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            if self._stopped:
                raise BrokenPipeError
            self._process.stdin.write(f"{line}\n".encode())
        except (BrokenPipeError, ValueError) as error:
            raise ToolStopped from error

    def _live(
        self, command: list[str], view: View, started: Future[subprocess.Popen[bytes]]
    ) -> None:
        try:
            with process.system_call_filter(view) as filters:
                child = subprocess.Popen(
                    isolation.command_line(command, view, self.folder, *filters),
                    cwd=self.folder,
                    env=dict(CLEAN_ENVIRONMENT),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    bufsize=0,
                    pass_fds=filters,
                    start_new_session=True,
                )
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(child)
        assert child.stdout is not None
        with (
            contextlib.suppress(ValueError, OSError),
            os.fdopen(os.dup(child.stdout.fileno())) as lines,
        ):
            for line in lines:
                number, status, microseconds, kilobytes = map(int, line.split())
                reply = JobEnd(status, microseconds / 1e6, kilobytes * 1024)
                with self._lock:
                    end = self._replies.pop(number)
                end.set_result(reply)
        with self._lock:
            self._stopped = True
            left, self._replies = self._replies, {}
        for each in left.values():
            each.set_exception(ToolStopped())


def end_resident(child: subprocess.Popen[bytes], folder: Path, owner: int) -> None:
    """Kill the process with its children and remove its folder, in the process that started it."""
    if os.getpid() != owner:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    shutil.rmtree(folder, ignore_errors=True)
