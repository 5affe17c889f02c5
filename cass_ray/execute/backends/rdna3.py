"""AMD device code on this machine's CPU: the host part is x86-64, kernels run in our engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.dataset.row import Reason
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.emulator.device_process import DeviceMode, device_process
from cass_ray.emulator.execution import build_without_kernels, exposure
from cass_ray.execute.backends.base import (
    Assembly,
    Backend,
    BuiltProgram,
    Language,
    Observation,
    Program,
    RunMode,
    program_key,
    unit_on_disk,
)
from cass_ray.execute.evidence.counters import parse_counters
from cass_ray.toolchain.amd.second_llvm import with_second_compiler
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.executables import cached_executable
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox import executable
from cass_ray.toolchain.sandbox.executable import Exposure
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits
from cass_ray.toolchain.unit import CompileFailure


def presented(architecture: str, mode: RunMode, shown: str = "") -> str:
    """The device that a program sees, as the runtime's variable has it: one that runs code for
    ``architecture``, with the name and the sizes of ``shown``."""
    other = f"={shown}" if shown not in ("", architecture) else ""
    return f"{architecture}{other}{'+' if mode.varied else ''}"


@dataclass(frozen=True, eq=False)
class HipBackend(Backend):
    """What both backends for AMD code share: clang, and a ``libamdhip64.so`` to link with.

    ``second_compiler``: another LLVM makes the device code
    (:mod:`cass_ray.toolchain.amd.second_llvm`).
    """

    architecture: str = DEFAULT_AMD_ARCHITECTURE
    optimization: str = "-Os"
    limits: Limits = COMPILE_LIMITS
    second_compiler: bool = False
    host_optimization: str = ""
    """The optimization of host code; empty: that of device code."""

    language = Language.HIP
    builds_assembly = True

    @cached_property
    def toolchain(self) -> AmdToolchain:
        """The compiler. Raises :class:`ToolMissing`."""
        toolchain = find_amd(architectures=(self.architecture,))
        return with_second_compiler(toolchain) if self.second_compiler else toolchain

    @cached_property
    def runtime(self) -> Path:
        """The HIP runtime library that programs are linked with and run on."""
        raise NotImplementedError

    def build(self, program: Program) -> BuiltProgram:
        """Compile (sources) or take (assembly), then assemble and link."""
        runtime = self.runtime.resolve()
        optimizations = (self.optimization, self.host_optimization)
        tools = (self.toolchain.fingerprint, self.architecture, *optimizations, str(runtime))
        key = program_key(program, *filter(None, tools))
        with cached_executable(self.name, key) as (place, target):
            if target is not None:
                self._link(program, runtime, target)
        return BuiltProgram(place, self.name, key)

    def _link(self, program: Program, runtime: Path, output: Path) -> None:
        """Programs that only call libraries have no kernel; whoever judges counts launches."""
        try:
            texts = self.compile(program)
        except CompileFailure as failure:
            if failure.reason is not Reason.NO_DEVICE_CODE or isinstance(program, Assembly):
                raise
            with unit_on_disk(program) as unit:
                build_without_kernels(
                    unit, self.toolchain, runtime, [self.architecture], self.optimization, output
                )
            return
        self.toolchain.recombine(
            texts.host,
            texts.device,
            output,
            architecture=self.architecture,
            runtime_library=runtime,
        )

    def compile(self, program: Program) -> Assembly:
        """The assembly texts of ``program``."""
        if isinstance(program, Assembly):
            return program
        with unit_on_disk(program) as unit:
            assembly = self.toolchain.compile(
                unit,
                self.architecture,
                optimization=self.optimization,
                limits=self.limits,
                host_optimization=self.host_optimization,
            )
        return Assembly(assembly.host_assembly, assembly.device_assembly)


@dataclass(frozen=True, eq=False)
class Rdna3Backend(HipBackend):
    """Executes on the CPU; ``threads`` bounds the engine's threads (0: one for each core).

    ``architecture`` is one of :func:`~cass_ray.architectures.emulated_architectures`.
    """

    threads: int = 0
    shown: str = ""
    """See :meth:`shown_as`."""

    name = "rdna3"
    real_gpu = False
    perturbs = True
    evidence = "device process"

    @property
    def presents(self) -> str:  # type: ignore[override]
        return self.shown or self.architecture

    def shown_as(self, processor: str) -> Rdna3Backend:
        return replace(self, shown=processor)

    @cached_property
    def runtime(self) -> Path:
        """Our ``libamdhip64.so``, built on first use."""
        return runtime_library()

    def problem(self) -> str:
        if problem := executable.problem():
            return problem
        try:
            _ = self.toolchain, self.runtime
        except (ToolMissing, BuildFailed) as error:
            return str(error)
        return ""

    def identity(self) -> str:
        """Compiler, and the engine by its build."""
        engine = f"rdna3 engine {self.runtime.parent.name[:12]}, {self.toolchain.compilers}"
        if self.architecture != DEFAULT_AMD_ARCHITECTURE:
            engine = f"{engine}, {self.architecture}"
        other = self.presents != self.architecture
        return f"{engine}, with the properties of {self.presents}" if other else engine

    def exposure(self, mode: RunMode) -> Exposure:
        """The runtime library, AMD's other libraries, and which device is presented."""
        devices = (presented(self.architecture, mode, self.shown),)
        return exposure(self.runtime, devices, self.toolchain)

    @contextmanager
    def observed(self, mode: RunMode) -> Iterator[Observation]:
        """The device process: it runs the kernels, outside the program's process."""
        asked = DeviceMode(
            check=mode.check,
            counters=mode.counters,
            skip_kernels=mode.skip_kernels,
            perturb=mode.perturb,
            transcript=mode.transcript,
            threads=self.threads,
            as_on_a_card=mode.other_schedule,
            late_streams=mode.other_schedule,
        )
        with device_process(self.runtime, asked, mode.bounds.limits()) as device:
            yield Observation(
                Exposure(),
                device.launches,
                lambda: parse_counters(device.counters()),
                device.companion,
                device.transcript if mode.transcript or mode.perturb else lambda: None,
            )

    def single_threaded(self) -> Self:
        return replace(self, threads=1)

    def built_soon(self) -> Self:
        return replace(self, host_optimization="-O0")
