"""A CUDA program's own host code over device code for AMD, whoever wrote that.

The executable is nvcc's. It runs as ``cass run-binary`` runs it, against a CUDA runtime over HIP
(:mod:`cass_ray.port`), where the backend for HIP programs would run what it had linked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from cass_ray.cache import digest
from cass_ray.execute.backends.base import (
    Backend,
    BuiltProgram,
    Language,
    Observation,
    Program,
    RunMode,
)
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.port.replacement import OriginalProgram, with_device_code
from cass_ray.port.running import PortedExecutable, exposed, said_by_libraries
from cass_ray.toolchain.executables import cached_executable
from cass_ray.toolchain.sandbox.executable import Exposure, SandboxRun

_LIBRARIES = "LD_LIBRARY_PATH"


@dataclass(frozen=True)
class HostedProgram(BuiltProgram):
    """An executable of nvcc's, and the device code that it finds."""

    ported: PortedExecutable


@dataclass(frozen=True, eq=False)
class OriginalHostBackend(Backend):
    """Runs CUDA programs with device code given as AMD assembly, where ``engine`` runs HIP's."""

    engine: HipBackend

    name = "original-host"
    language = Language.CUDA

    def __post_init__(self) -> None:
        for what in ("real_gpu", "perturbs", "evidence"):
            object.__setattr__(self, what, getattr(self.engine, what))

    def problem(self) -> str:
        """Why HIP programs cannot be run."""
        return self.engine.problem()

    def identity(self) -> str:
        """The engine's, and whose host code it is."""
        return f"{self.engine.identity()}, under the CUDA program's host code"

    def build(self, program: Program) -> BuiltProgram:
        """Nothing: see :meth:`join`."""
        raise TypeError(f"{self.name} joins an executable with assembly")

    def join(self, original: OriginalProgram, device: str) -> HostedProgram:
        """``original`` with the assembly ``device`` in place of its machine code.

        The assembly has the kernels and variables under CUDA's names. Raises
        :class:`~cass_ray.toolchain.unit.CompileFailure` with the assembler's message.
        """
        engine = self.engine
        code_object = engine.toolchain.assemble(device, engine.architecture)
        key = digest([original.executable])
        with cached_executable(self.name, key) as (place, target):
            if target is not None:
                target.write_bytes(original.executable)
        ported = with_device_code(place, original, code_object, engine.architecture)
        return HostedProgram(place, self.name, digest([key, device]), ported)

    def exposure(self, mode: RunMode) -> Exposure:
        """What every HIP program must see; the rest depends on the program."""
        return self.engine.exposure(mode)

    @contextmanager
    def exposed(self, built: BuiltProgram, mode: RunMode) -> Iterator[Exposure]:
        """The device, the CUDA runtime over HIP, and the program's device code."""
        assert isinstance(built, HostedProgram)
        device = self.exposure(mode)
        with exposed(built.ported, self.engine.runtime) as seen:
            yield Exposure(
                read_only=(*device.read_only, *seen.read_only),
                mounts=(*device.mounts, *seen.mounts),
                devices=device.devices,
                environment=_merged(device.environment, seen.environment),
                device_access=device.device_access,
            )

    @contextmanager
    def observed(self, mode: RunMode) -> Iterator[Observation]:
        with self.engine.observed(mode) as observation:
            yield observation

    @contextmanager
    def leased(self) -> Iterator[Mapping[str, str]]:
        """What the engine holds for one program at a time."""
        with self.engine.leased() as lease:
            yield lease

    def not_provided(self, ended: SandboxRun) -> str:
        """What the CUDA runtime over HIP says that it lacks."""
        return said_by_libraries(ended.stderr)


def _merged(device: Mapping[str, str], program: Mapping[str, str]) -> dict[str, str]:
    """Both environments; the program's libraries are looked for first."""
    folders = [each[_LIBRARIES] for each in (program, device) if _LIBRARIES in each]
    return {**device, **program, _LIBRARIES: ":".join(folders)}
