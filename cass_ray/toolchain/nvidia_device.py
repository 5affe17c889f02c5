"""Device code of one translation unit by the steps of ``nvcc -cubin``: g++ -E, cicc, ptxas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.toolchain.nvidia_steps import WORK_FILES, Steps, Workbench, dry_run


@dataclass(frozen=True)
class DeviceCode:
    """Machine code and PTX of one architecture."""

    cubin: bytes
    ptx: str


@dataclass(frozen=True)
class DeviceCompiler:
    """The steps of ``nvcc -cubin`` for one architecture and set of flags."""

    architecture: str
    steps: Steps

    @classmethod
    def read(cls, nvcc: Path, architecture: str, flags: Sequence[str]) -> DeviceCompiler:
        """Ask ``nvcc`` for its steps; raises :class:`~.nvidia_steps.NvccError`."""
        arguments = [*flags, "-cubin", f"-arch={architecture}", "-o", f"{WORK_FILES}.cubin"]
        return cls(architecture, dry_run(nvcc, arguments))

    def preprocess(self, bench: Workbench) -> bytes:
        """The unit as cicc reads it, left in ``unit.cpp1.ii``."""
        arguments = bench.unit.preprocessor_arguments()
        bench.run(self.steps.first("g++"), self.steps.environment, arguments)
        return bench.file("cpp1.ii").read_bytes()

    def generate_ptx(self, bench: Workbench) -> str:
        """Compile ``unit.cpp1.ii`` to ``unit.ptx``; leaves the launch stubs beside it."""
        bench.run(self.steps.first("cicc"), self.steps.environment)
        return bench.file("ptx").read_text()

    def assemble(self, bench: Workbench) -> bytes:
        """Assemble ``unit.ptx``."""
        bench.run(self.steps.first("ptxas"), self.steps.environment)
        return bench.file("cubin").read_bytes()


def compile_device(compilers: Sequence[DeviceCompiler], bench: Workbench) -> dict[str, DeviceCode]:
    """Device code by architecture, in the order of ``compilers``."""
    made: dict[str, DeviceCode] = {}
    for compiler in compilers:
        compiler.preprocess(bench)
        ptx = compiler.generate_ptx(bench)
        made[compiler.architecture] = DeviceCode(compiler.assemble(bench), ptx)
    return made
