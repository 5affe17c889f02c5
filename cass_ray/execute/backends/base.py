"""What a backend is, and what it is given and gives back."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from cass_ray.cache import digest
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.launches import Launch
from cass_ray.emulator.perturbation import Perturbation
from cass_ray.emulator.transcript import Transcript
from cass_ray.execute.evidence.launches import recording
from cass_ray.execute.evidence.other_machine import on_other_machine
from cass_ray.execute.evidence.same_draws import with_same_draws
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.sandbox.executable import Bounds, Exposure, SandboxRun, run_sandboxed
from cass_ray.toolchain.sandbox.process import Companion
from cass_ray.toolchain.unit import Unit


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
    """What one run of a program is given; ``folder`` holds files that it finds where it runs."""

    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    folder: Path | None = None


@dataclass(frozen=True)
class RunMode:
    """How to run, beside the inputs.

    With ``skip_kernels`` launches are counted and answered with success, and no kernel runs. With
    ``perturb`` data is changed on its way, with ``transcript`` what moves is recorded, where the
    backend can. ``varied`` shows the program another machine: name,
    user, clocks, environment, and another device of the same kind. ``same_draws`` is a seed, not 0,
    that its random numbers follow from. With ``other_schedule`` waves take turns as on a card
    and streams are late, where the backend decides their order. ``counters`` asks for dynamic
    counters, ``check`` for checking mode, where the backend has them.
    """

    bounds: Bounds = field(default_factory=Bounds)
    skip_kernels: bool = False
    perturb: Perturbation | None = None
    transcript: bool = False
    varied: bool = False
    same_draws: int = 0
    other_schedule: bool = False
    counters: bool = False
    check: bool = False


@dataclass(frozen=True)
class Execution:
    """What one run did. ``launches`` are by kernel and configuration; ``counters`` is the
    backend's JSON object of dynamic counters, empty where it has none. ``not_provided`` says what
    the program wanted of the backend in vain: what it printed is then no reference."""

    ended: SandboxRun
    launches: tuple[Launch, ...] = ()
    counters: Mapping[str, Any] = field(default_factory=dict)
    not_provided: str = ""
    transcript: Transcript | None = None

    @property
    def launch_count(self) -> int:
        return sum(launch.count for launch in self.launches)


@dataclass(frozen=True)
class Observation:
    """How launches and counters of one run are taken, and what the program must see for that."""

    exposure: Exposure
    launches: Callable[[], Sequence[Launch]]
    counters: Callable[[], Mapping[str, Any]] = dict
    companion: Companion | None = None
    transcript: Callable[[], Transcript | None] = lambda: None


class Backend(ABC):
    """Builds programs and runs them in the sandbox.

    ``evidence`` says who takes launches and counters; ``perturbs`` that :attr:`RunMode.perturb`
    works, which takes a device outside the program's process.
    """

    name: str
    language: Language
    builds_assembly = False
    real_gpu = True
    perturbs = False
    evidence = "recorder in process"
    presents = ""
    """The processor whose name and sizes a program finds, of a real card that of its architecture;
    empty for cards of other vendors."""

    def shown_as(self, processor: str) -> Backend:
        """The same with the name and the sizes of a card with ``processor``, where it can have
        them; else itself. What its code depends on stays: the width of wavefronts, the target."""
        del processor
        return self

    def single_threaded(self) -> Self:
        """The same with workgroups one after another, where they are emulated: those that race do
        the same in each run."""
        return self

    def built_soon(self) -> Self:
        """The same for programs that run a few times: no compiler time goes to host code's speed,
        where that is a choice. What kernels do stays."""
        return self

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

    @property
    def reference_kind(self) -> str:
        """What runs of an original on it are called in evidence: the word ``gpu``, or a phrase."""
        return "gpu" if self.real_gpu else "emulator"

    @abstractmethod
    def exposure(self, mode: RunMode) -> Exposure:
        """What every program must see to run; called for each run."""

    @contextmanager
    def exposed(self, built: BuiltProgram, mode: RunMode) -> Iterator[Exposure]:
        """What ``built`` must see for one run: here what every program must."""
        del built
        yield self.exposure(mode)

    def not_provided(self, ended: SandboxRun) -> str:
        """What of CUDA or HIP the program asked for that the backend does not have."""
        del ended
        return ""

    @contextmanager
    def leased(self) -> Iterator[Mapping[str, str]]:
        """Hold what one program at a time may use; the environment that points at it."""
        yield {}

    def run(
        self, built: BuiltProgram, inputs: Inputs | None = None, mode: RunMode | None = None
    ) -> Execution:
        """Run ``built``; never raises for what the program does."""
        inputs, mode = inputs or Inputs(), mode or RunMode()
        with (
            self.exposed(built, mode) as exposure,
            self.observed(mode) as observation,
            self.leased() as lease,
        ):
            seen = on_other_machine(observation.exposure) if mode.varied else observation.exposure
            seen = with_same_draws(seen, mode.same_draws) if mode.same_draws else seen
            ended = run_sandboxed(
                built.executable,
                inputs.arguments,
                bounds=mode.bounds,
                exposure=Exposure(
                    read_only=(*exposure.read_only, *seen.read_only),
                    mounts=exposure.mounts,
                    devices=exposure.devices,
                    environment={**exposure.environment, **lease, **seen.environment},
                    shared_files=seen.shared_files,
                    device_access=exposure.device_access,
                    identity=seen.identity,
                ),
                stdin=inputs.stdin,
                inputs=inputs.folder,
                companion=observation.companion,
            )
            return Execution(
                ended,
                tuple(observation.launches()),
                observation.counters(),
                self.not_provided(ended),
                observation.transcript(),
            )

    @contextmanager
    def observed(self, mode: RunMode) -> Iterator[Observation]:
        """What watches one run: here the recorder in the program's own process."""
        with recording(skip=mode.skip_kernels, check=mode.check) as record:
            exposure = Exposure(
                read_only=(record.library.parent,),
                environment=record.environment,
                shared_files={record.place: record.record},
            )
            yield Observation(exposure, record.launches)


def program_key(program: Program, *tools: str) -> str:
    """Names an executable in the cache."""
    if isinstance(program, Sources):
        return digest([program.digest, *tools])
    return digest([program.host, program.device, *tools])


@contextmanager
def unit_on_disk(sources: Sources) -> Iterator[Unit]:
    """The files of ``sources`` in a folder of their own; messages name the original's lines."""
    with (
        tempfile.TemporaryDirectory(prefix=temporary_prefix("build")) as name,
        sources.original_lines(),
    ):
        yield sources.write(Path(name).resolve())
