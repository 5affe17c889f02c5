"""CUDA programs with lifted kernels under the HIP host that their source is translated to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.lift import LiftedModule, lift_cubin, names_for_host
from cass_ray.toolchain.amd.toolchain import AmdOutput
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated


@dataclass
class ProgramOnAmd:
    """``unit`` for one processor of AMD; ``folder`` is its own."""

    unit: Unit
    processor: str
    folder: Path
    options: RunOptions = field(default=RunOptions(seconds=60))

    @cached_property
    def host(self) -> AmdOutput:
        sources = translated(gather(self.unit), make_translator()).write(self.folder / "hip")
        return find_amd().compile(sources, self.processor, optimization="-O3")

    def printed(self, cubin: bytes) -> str:
        """What it prints with the kernels of ``cubin``, where no kernel fails."""
        names = names_for_host(Cubin.parse(cubin), self.host.device_assembly)
        lifted = lift_cubin(cubin, self.processor, names=names)
        library, program = runtime_library(), self.folder / "program"
        find_amd().recombine(
            self.host.host_assembly,
            lifted.assembly,
            program,
            architecture=self.processor,
            runtime_library=library,
        )
        options = replace(self.options, devices=(self.processor,))
        done = execute(program, (), library, options)
        assert done.ok, done.stderr_text
        return done.stdout_text


def assert_prints(
    unit: Unit, processor: str, folder: Path, cubins: Mapping[str, bytes], lines: Sequence[str]
) -> None:
    """The program prints ``lines`` with the kernels of each of ``cubins``, by architecture."""
    options = RunOptions(seconds=120, kernel_seconds=20)
    program = ProgramOnAmd(unit, processor, folder, options)
    for architecture, cubin in cubins.items():
        assert program.printed(cubin).splitlines() == lines, architecture


def kernels_with_lane_scheduler(lifted: LiftedModule) -> set[str]:
    """Mangled names of the kernels whose lanes are scheduled independently."""
    return kernels_with(lifted, "%turn.state = alloca")


def kernels_with(lifted: LiftedModule, mark: str) -> set[str]:
    """Mangled names of the kernels whose IR has ``mark`` in it."""
    texts = lifted.llvm_ir.split("define protected amdgpu_kernel")[1:]
    return {text.partition('"')[2].partition('"')[0] for text in texts if mark in text}
