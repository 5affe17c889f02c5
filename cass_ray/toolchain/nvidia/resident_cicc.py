"""cicc that has parsed the runtime header already and continues with one program after another.

Every CUDA program starts with the same two megabytes of runtime header, and reading them is most of
what cicc does. A :class:`ResidentCicc` is a cicc process that has read them and stops where the
program's own text starts; for each program it forks (``shim/resume.c``). The child does what
a cicc does that has read both from one file, in half of the CPU time. It runs in the sandbox, which
shows it the toolchain and its own folder; a child may write to no other than its job's.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import select
import shutil
import subprocess
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path

from cass_ray.toolchain.nvidia.preprocess import STAND_IN, PreprocessedProgram
from cass_ray.toolchain.nvidia.steps import WORK_FILE_STEM, NvccSteps
from cass_ray.toolchain.resident.tool import RESIDENT_FOLDER, end_resident
from cass_ray.toolchain.sandbox import isolation, process
from cass_ray.toolchain.sandbox.isolation import Mount, View
from cass_ray.toolchain.sandbox.process import Limits
from cass_ray.toolchain.unit import result_of

LIBRARY_SOURCE = Path(__file__).parent / "shim" / "resume.c"

_START_SECONDS = 60.0
_MOST_FAILURES = 3
_UNNAMED = re.compile(rb"\bnamespace\s*\{")  # its kernels are named after the program's file


class ResidentStopped(Exception):
    """The resident process has ended."""


class ResidentTimeout(Exception):
    """A program was not compiled in time; the resident process has been stopped."""


@dataclass(frozen=True)
class ResidentReply:
    """How the cicc of one program ended: its wait status and what it cost."""

    status: int
    cpu_seconds: float


class ResidentCicc:
    """One resident process: for one list of cicc arguments and one header text.

    Raises :class:`ResidentStopped` or :class:`ResidentTimeout` where it cannot be started.
    """

    def __init__(self, steps: NvccSteps, header: bytes, library: Path, toolchain: View) -> None:
        self.header = header
        self._folder = folder = isolation.new_private_folder()
        self.job_folder = folder
        (folder / f"{WORK_FILE_STEM}.cpp1.ii").write_bytes(header)
        view = View(
            read_only=(*toolchain.read_only, library.parent),
            mounts=(Mount(folder, RESIDENT_FOLDER, writable=True),),
        )
        preload = [f"LD_PRELOAD={library}", f"CASS_PREFIX=./{WORK_FILE_STEM}.cpp1.ii"]
        command = ["/usr/bin/env", *preload, *steps.first("cicc").command(STAND_IN, Path())]
        with process.system_call_filter(view) as filters:
            self._process = subprocess.Popen(
                isolation.command_line(command, view, folder, *filters),
                cwd=folder,
                env=dict(steps.environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                pass_fds=filters,
                start_new_session=True,
            )
        self.stop = weakref.finalize(self, end_resident, self._process, folder, os.getpid())
        self.start_cpu_seconds = self._answer(_START_SECONDS).cpu_seconds

    def compile(self, text: bytes, limits: Limits) -> ResidentReply:
        """Compile the program whose text after the header is ``text``; files in ``job_folder``.

        Raises :class:`ResidentStopped` and :class:`ResidentTimeout`.
        """
        if self.job_folder != self._folder:
            shutil.rmtree(self.job_folder, ignore_errors=True)
        self.job_folder = self._folder / secrets.token_hex(16)  # no earlier job knows it
        self.job_folder.mkdir(mode=0o700)
        (self.job_folder / "rest.ii").write_bytes(text)
        memory = limits.address_space_bytes or 0
        bounds = f"{math.ceil(limits.cpu_seconds)} {memory} {limits.file_bytes}"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{self.job_folder.name} {bounds}\n".encode())
        except BrokenPipeError as error:
            self.stop()
            raise ResidentStopped from error
        return self._answer(limits.wall_seconds)

    def _answer(self, seconds: float) -> ResidentReply:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else b""
        if not line.endswith(b"\n"):
            self.stop()
            raise ResidentStopped if ready else ResidentTimeout
        status, microseconds = map(int, line.split())
        return ResidentReply(status, microseconds / 1e6)


class ResidentPool:
    """Resident processes, one for each ``Steps``, started at the second program with its header.

    ``served`` counts the programs that they have compiled.
    """

    def __init__(self, library: Path, toolchain: View) -> None:
        self.served = 0
        self._library = library
        self._toolchain = toolchain
        self._lock = threading.Lock()
        self._headers: dict[int, bytes] = {}
        self._residents: dict[int, ResidentCicc] = {}
        self._failures = 0

    def header(self, steps: NvccSteps) -> bytes | None:
        """The header that the process for ``steps`` has read; None while there is none."""
        resident = self._residents.get(id(steps))
        return resident.header if resident is not None and resident.stop.alive else None

    def compile(
        self,
        steps: NvccSteps,
        program: PreprocessedProgram,
        limits: Limits,
        folder: Path,
        *,
        may_start: bool,
    ) -> tuple[bool, float]:
        """Compile ``program`` into the work files of ``folder``: (whether done, CPU seconds).

        A process is started for its header only with ``may_start``: other programs are compiled
        behind that header, so it must be the toolkit's, not one of the program's own.

        Not done where a cicc of its own must tell (an error, a symbol made from the file's name),
        or none is free. Raises :class:`ResidentTimeout`.
        """
        if _UNNAMED.search(program.text) or not self._lock.acquire(blocking=False):
            return False, 0.0
        try:
            resident, cpu_seconds = self._resident(steps, program.header, may_start)
            if resident is None:
                return False, cpu_seconds
            answer = resident.compile(program.text, limits)
            done = answer.status == 0 and _take_files(resident.job_folder, folder)
            self.served += done
            return done, cpu_seconds + answer.cpu_seconds
        except ResidentStopped:
            self._failures += 1
            return False, 0.0
        finally:
            self._lock.release()

    def _resident(
        self, steps: NvccSteps, header: bytes, may_start: bool
    ) -> tuple[ResidentCicc | None, float]:
        """The process, and the CPU time of starting it now."""
        key = id(steps)
        resident = self._residents.get(key)
        if resident is not None and resident.stop.alive:
            return (resident if resident.header == header else None), 0.0
        if not may_start:
            return None, 0.0
        if self._headers.get(key) != header or self._failures >= _MOST_FAILURES:
            self._headers[key] = header
            return None, 0.0
        resident = ResidentCicc(steps, header, self._library, self._toolchain)
        self._residents[key] = resident
        return resident, resident.start_cpu_seconds


def _take_files(job: Path, folder: Path) -> bool:
    """Move the outputs; False where a symbol is made from the file's name, which is a stand-in."""
    module_id = result_of("cicc", job / f"{WORK_FILE_STEM}.module_id")
    ptx = result_of("cicc", job / f"{WORK_FILE_STEM}.ptx")
    if module_id in ptx or STAND_IN.removesuffix(".cu").encode() in ptx:
        return False
    for file in job.glob(f"{WORK_FILE_STEM}.*"):
        shutil.move(file, folder / file.name)
    return True
