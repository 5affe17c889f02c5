"""CUDA programs without an Nvidia GPU: nvcc's machine code, lifted, on this machine's CPU.

The executable is the one that would run on Nvidia: nvcc compiled its kernels and its host code.
Only its kernels are lifted, and a CUDA runtime over HIP takes the place of Nvidia's
(:mod:`cass_ray.port`). No translator of source code has a part in it, which is why it can be the
reference for one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from cass_ray.dataset.row import Reason
from cass_ray.emulator.build import BuildFailed
from cass_ray.emulator.execution import DEVICES_VARIABLE
from cass_ray.execute.backends.base import BuiltProgram, Observation, Program, RunMode
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.execute.backends.rdna3 import Rdna3Backend, presented
from cass_ray.lift.errors import LiftError
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_without_libraries
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import (
    PortedExecutable,
    exposed,
    port,
    said_by_libraries,
    varied_capability,
)
from cass_ray.port.shim import shim_library
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.nvidia.steps import NvccError
from cass_ray.toolchain.sandbox.executable import Exposure, SandboxRun
from cass_ray.toolchain.unit import CompileFailure

_ARCHITECTURE = "sm_90"
"""The newest that the lifter reads."""


@dataclass(frozen=True, eq=False)
class LiftedBackend(NvidiaBackend):
    """Runs CUDA programs as ``cass run-binary`` does; ``threads`` as those of the emulator.

    A program that needs what the lifter or the runtime does not have is no reference: where that is
    known from its executable :meth:`build` raises, else :attr:`Execution.not_provided` says so.
    """

    given_architecture: str = _ARCHITECTURE
    threads: int = 0
    shown: str = ""
    """See :meth:`shown_as`."""

    name = "lifted"
    real_gpu = False
    perturbs = True
    evidence = "device process"

    @cached_property
    def engine(self) -> Rdna3Backend:
        """What executes the lifted code: its waves are as wide as warps."""
        return Rdna3Backend(threads=self.threads, shown=self.shown)

    @property
    def presents(self) -> str:  # type: ignore[override]
        return self.engine.presents

    def shown_as(self, processor: str) -> LiftedBackend:
        return replace(self, shown=processor)

    def single_threaded(self) -> Self:
        return replace(self, threads=1)

    @cached_property
    def lifter(self) -> ContainerLifter:
        return ContainerLifter(self.toolchain, self.engine.toolchain, self.engine.architecture)

    @property
    def reference_kind(self) -> str:
        return f"lifted {self.architecture}"

    def problem(self) -> str:
        """No compiler of either vendor, no sandbox."""
        try:
            _ = self.toolchain
        except (ToolMissing, NvccError) as error:
            return str(error)
        return self.engine.problem()

    def identity(self) -> str:
        """Compiler of the original, and what executes its code."""
        return (
            f"machine code for {self.architecture} of CUDA {self.toolchain.version}, lifted to"
            f" {self.engine.architecture}; {self.engine.identity()}"
        )

    def build(self, program: Program) -> BuiltProgram:
        """nvcc, then the lifter. Raises :class:`CompileFailure` for what cannot be lifted too."""
        built = super().build(program)
        self._ported(built)
        return built

    def _ported(self, built: BuiltProgram) -> PortedExecutable:
        return _ported(built.executable, self.lifter, self.engine.runtime)

    def exposure(self, mode: RunMode) -> Exposure:
        """The device that is presented; the rest depends on the program."""
        device = presented(self.engine.architecture, mode, self.shown)
        return Exposure(environment={DEVICES_VARIABLE: device})

    @contextmanager
    def exposed(self, built: BuiltProgram, mode: RunMode) -> Iterator[Exposure]:
        """Its lifted kernels and the CUDA runtime that finds them."""
        with exposed(self._ported(built), self.engine.runtime) as seen:
            environment = {**self.exposure(mode).environment, **seen.environment}
            if mode.varied:
                environment |= varied_capability(environment)
            yield Exposure(seen.read_only, seen.mounts, environment=environment)

    @contextmanager
    def observed(self, mode: RunMode) -> Iterator[Observation]:
        """The device process, as for every emulated program."""
        with self.engine.observed(mode) as observation:
            yield observation

    @contextmanager
    def leased(self) -> Iterator[dict[str, str]]:
        """Nothing: there is no GPU to hold."""
        yield {}

    def not_provided(self, ended: SandboxRun) -> str:
        """What the CUDA runtime over HIP says that it lacks, or that a kernel was left out."""
        return said_by_libraries(ended.stderr)


@functools.lru_cache(maxsize=4)
def _ported(executable: Path, lifter: ContainerLifter, hip_runtime: Path) -> PortedExecutable:
    """``executable`` and its code; kept, since a program runs many times, one after another."""
    try:
        read = read_without_libraries(executable)
        ported = port(read, lifter)
        if not ported.kernels:
            reasons = "; ".join(f"{name}: {text}" for name, text in ported.failures.items())
            raise PortError(reasons or "it has no kernel")
        if read.runtime is not None:
            shim_library(read.runtime, hip_runtime)
    except (PortError, LiftError, BuildFailed) as error:
        raise CompileFailure(Reason.NO_DEVICE_CODE, str(error), "the lifter") from error
    return ported
