"""What a backend is, and what it is given and gives back."""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from cass_ray.cache import default_directory, digest
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.evidence.counters import parse_counters
from cass_ray.execute.evidence.launches import (
    CHECK_VARIABLE,
    RECORD_BYTES,
    RECORD_VARIABLE,
    SKIP_VARIABLE,
    Launch,
    read_launches,
    recorder_library,
)
from cass_ray.toolchain.executables import mark_used
from cass_ray.toolchain.sandbox.executable import Bounds, Exposure, SandboxRun, run_sandboxed
from cass_ray.toolchain.sandbox.isolation import isolates
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.unit import Unit

_SHARED_FOLDER = Path("/cass/shared")


class Language(StrEnum):
    """What a backend builds from."""

    CUDA = "cuda"
    HIP = "hip"


@dataclass(frozen=True)
class Assembly:
    """Both assembly texts of a HIP program, as a row has them."""

    host: str
    device: str


Program = Sources | Assembly
"""What a backend can build; assembly only where :attr:`Backend.builds_assembly` says so."""


@dataclass(frozen=True)
class BuiltProgram:
    """An executable that ``backend`` runs. ``key`` names what it was built from."""

    executable: Path
    backend: str
    key: str


@dataclass(frozen=True)
class Inputs:
    """What one run of a program is given."""

    arguments: tuple[str, ...] = ()
    stdin: bytes = b""


@dataclass(frozen=True)
class RunMode:
    """How to run, beside the inputs.

    With ``skip_kernels`` launches are counted and answered with success, and no kernel runs.
    ``counters`` asks for dynamic counters, ``check`` for checking mode, where the backend has them.
    """

    bounds: Bounds = field(default_factory=Bounds)
    skip_kernels: bool = False
    counters: bool = False
    check: bool = False


@dataclass(frozen=True)
class Execution:
    """What one run did. ``launches`` are by kernel and configuration; ``counters`` is the
    backend's JSON object of dynamic counters, empty where it has none."""

    ended: SandboxRun
    launches: tuple[Launch, ...] = ()
    counters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def launch_count(self) -> int:
        return sum(launch.count for launch in self.launches)


class Backend(ABC):
    """Builds programs and runs them in the sandbox."""

    name: str
    language: Language
    builds_assembly = False
    real_gpu = True

    def available(self) -> bool:
        """Whether programs can be built and run here, now."""
        return not self.problem()

    @abstractmethod
    def problem(self) -> str:
        """Why it is not available, in words and with the remedy; empty where it is."""

    @abstractmethod
    def identity(self) -> str:
        """Versions and device, for the evidence."""

    @abstractmethod
    def build(self, program: Program) -> BuiltProgram:
        """The executable of ``program``, from the cache if it has been built before.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """

    @abstractmethod
    def exposure(self, mode: RunMode) -> Exposure:
        """What the program must see to run; called for each run."""

    @contextmanager
    def leased(self) -> Iterator[Mapping[str, str]]:
        """Hold what one program at a time may use; the environment that points at it."""
        yield {}

    def run(
        self, built: BuiltProgram, inputs: Inputs | None = None, mode: RunMode | None = None
    ) -> Execution:
        """Run ``built``; never raises for what the program does."""
        inputs, mode = inputs or Inputs(), mode or RunMode()
        exposure = self.exposure(mode)
        mark_used(built.executable)  # not to be evicted while it waits or runs
        with tempfile.TemporaryDirectory(prefix="cass-run-") as name, self.leased() as lease:
            shared = _SharedFiles(Path(name))
            record = shared.add("launches", RECORD_BYTES)
            counters = shared.add("counters.json") if mode.counters else None
            environment = {
                **exposure.environment,
                **lease,
                "LD_PRELOAD": str(self.recorder),
                RECORD_VARIABLE: str(record),
                **({SKIP_VARIABLE: "1"} if mode.skip_kernels else {}),
                **({CHECK_VARIABLE: "1"} if mode.check else {}),
                **self.counter_environment(counters),
            }
            ended = run_sandboxed(
                built.executable,
                inputs.arguments,
                bounds=mode.bounds,
                exposure=Exposure(
                    read_only=(*exposure.read_only, self.recorder.parent),
                    devices=exposure.devices,
                    environment=environment,
                    shared_files=shared.by_place,
                    device_access=exposure.device_access,
                ),
                stdin=inputs.stdin,
            )
            launches = tuple(read_launches(shared.host(record)))
            written = read_written(shared.host(counters), _COUNTER_BYTES) if counters else None
            counted = parse_counters(written)
        return Execution(ended, launches, counted)

    def counter_environment(self, path: Path | None) -> Mapping[str, str]:
        """Environment variables that make the runtime write counters to ``path``."""
        del path
        return {}

    @cached_property
    def recorder(self) -> Path:
        """The library that counts launches."""
        return recorder_library(default_directory()).resolve()


_COUNTER_BYTES = 32 << 20
"""The longest file of counters that is read."""


class _SharedFiles:
    """Files of the host that a program writes, and where it sees them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.by_place: dict[Path, Path] = {}

    def add(self, name: str, size: int = 0) -> Path:
        """A new file; the path where the program sees it."""
        host = self._folder / name
        host.touch()
        os.truncate(host, size)
        place = _SHARED_FOLDER / name if isolates() else host
        self.by_place[place] = host
        return place

    def host(self, place: Path) -> Path:
        return self.by_place[place]


def program_key(program: Program, *tools: str) -> str:
    """Names an executable in the cache."""
    if isinstance(program, Sources):
        return digest([program.digest, *tools])
    return digest([program.host, program.device, *tools])


@contextmanager
def unit_on_disk(sources: Sources) -> Iterator[Unit]:
    """The files of ``sources`` in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="cass-build-") as name:
        yield sources.write(Path(name).resolve())
