"""Kernel launches of a CUDA or HIP program, counted by a preloaded library.

The library (``native/launch_recorder.c``) needs the runtime as a shared library: link CUDA programs
with ``-cudart shared``.
"""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.sandbox.outputs import read_written

RECORDER_SOURCE = Path(__file__).with_name("launch_recorder.c")
RECORD_VARIABLE = "CASS_LAUNCH_RECORD"
SKIP_VARIABLE = "CASS_LAUNCH_SKIP"
CHECK_VARIABLE = "CASS_LAUNCH_CHECK"

_RECORD = struct.Struct("<QQ3I3IQ464s")
_RECORDS = 1024
RECORD_BYTES = _RECORD.size * _RECORDS
"""Size of the recorder's file."""


@dataclass(frozen=True)
class Launch:
    """``count`` launches of one kernel with one configuration; sizes are in threads and bytes."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    count: int

    def format(self) -> str:
        """``kernel <<<(gx, gy, gz), (bx, by, bz), shared>>> × count``."""
        grid, block = (", ".join(map(str, size)) for size in (self.grid, self.block))
        shared = f", {self.shared_bytes}" if self.shared_bytes else ""
        return f"{self.kernel} <<<({grid}), ({block}){shared}>>> × {self.count}"


def read_launches(path: Path) -> list[Launch]:
    """The launches in a file of the recorder, in order of first launch; none without the file."""
    data = read_written(path, RECORD_BYTES) or b""
    found = []
    for offset in range(0, len(data) - _RECORD.size + 1, _RECORD.size):
        count, shared, gx, gy, gz, bx, by, bz, _, name = _RECORD.unpack_from(data, offset)
        if count == 0:
            break
        kernel = name.rstrip(b"\0").decode("utf-8", "replace")
        found.append(Launch(kernel, (gx, gy, gz), (bx, by, bz), shared, count))
    return found


def recorder_library(cache: Path, compiler: str = "cc") -> Path:
    """The preloadable library, built once. Raises :class:`ToolMissing` with the message of gcc."""

    def fill(folder: Path) -> None:
        command = [compiler, "-O2", "-shared", "-fPIC", str(RECORDER_SOURCE)]
        command += ["-o", str(folder / "launch_recorder.so"), "-ldl", "-pthread"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            message = done.stderr.strip() if done.returncode else ""
        except OSError as error:
            message = str(error)
        if message:
            raise ToolMissing("A C compiler for the launch recorder", "Install gcc.", message)

    key = digest([RECORDER_SOURCE.read_bytes(), compiler])[:16]
    return unpack_once(cache / "launch-recorder" / key, fill) / "launch_recorder.so"
