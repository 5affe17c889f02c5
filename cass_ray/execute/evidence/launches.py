"""Kernel launches of a CUDA or HIP program on a GPU, counted by a preloaded library.

The library (``launch_recorder.c``) needs the runtime as a shared library: link CUDA programs with
``-cudart shared``. It is part of the program's process: it finds a port that launches nothing, not
one that forges the record. On the emulator the device process has the record instead
(:mod:`cass_ray.emulator.device_process`).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.emulator.launches import RECORD_BYTES, Launch, parse_launches
from cass_ray.execute.evidence.preloaded import preloadable
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.sandbox.isolation import isolates
from cass_ray.toolchain.sandbox.outputs import read_written

RECORDER_SOURCE = Path(__file__).with_name("launch_recorder.c")
RECORD_VARIABLE = "CASS_LAUNCH_RECORD"
SKIP_VARIABLE = "CASS_LAUNCH_SKIP"
CHECK_VARIABLE = "CASS_LAUNCH_CHECK"

_SHARED_FOLDER = Path("/cass/shared")


@dataclass(frozen=True)
class LaunchRecording:
    """One run's record: what the program must see, and where the record is on this machine."""

    library: Path
    record: Path
    place: Path
    environment: dict[str, str]

    def launches(self) -> list[Launch]:
        """The launches, in order of first launch; none where the program has left no record."""
        return parse_launches(read_written(self.record, RECORD_BYTES) or b"")


@contextlib.contextmanager
def recording(*, skip: bool, check: bool) -> Iterator[LaunchRecording]:
    """A record for one run. With ``skip`` launches are only counted; with ``check`` a copy whose
    direction contradicts its pointers ends the program."""
    library = recorder_library(default_directory()).resolve()
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("run")) as name:
        record = Path(name) / "launches"
        record.touch()
        os.truncate(record, RECORD_BYTES)
        place = _SHARED_FOLDER / record.name if isolates() else record
        environment = {"LD_PRELOAD": str(library), RECORD_VARIABLE: str(place)}
        environment |= {SKIP_VARIABLE: "1"} if skip else {}
        environment |= {CHECK_VARIABLE: "1"} if check else {}
        yield LaunchRecording(library, record, place, environment)


def recorder_library(cache: Path) -> Path:
    """The preloadable library. Raises :class:`~cass_ray.toolchain.errors.ToolMissing`."""
    return preloadable(RECORDER_SOURCE, cache)
