"""Device code of one translation unit by the steps of ``nvcc -cubin``: g++ -E, cicc, ptxas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.pairs import Reason
from cass_ray.toolchain.nvidia_resume import STAND_IN, ResidentPool, ResidentTimeout
from cass_ray.toolchain.nvidia_steps import WORK_FILES, Steps, Workbench, dry_run
from cass_ray.toolchain.unit import CompileFailure


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

    def preprocess(self, bench: Workbench) -> None:
        """Write the unit as cicc reads it to ``unit.cpp1.ii``."""
        arguments = bench.unit.preprocessor_arguments()
        bench.run(self.steps.first("g++"), self.steps.environment, arguments)

    def generate_ptx(self, bench: Workbench, residents: ResidentPool | None) -> str:
        """Compile ``unit.cpp1.ii`` to ``unit.ptx``; leaves the launch stubs beside it."""
        if residents is None or not self._resume(bench, residents):
            bench.run(self.steps.first("cicc"), self.steps.environment)
        return bench.file("ptx").read_text()

    def _resume(self, bench: Workbench, residents: ResidentPool) -> bool:
        """Let a resident cicc do it; whether it has."""
        text = bench.file("cpp1.ii").read_text(errors="surrogateescape")
        parts = split_header(text, str(bench.unit.main))
        if parts is None:
            return False
        try:
            done, cpu_seconds = residents.compile(self.steps, *parts, bench.limits, bench.folder)
        except ResidentTimeout:
            message = f"cicc was stopped after {bench.limits.wall_seconds} seconds"
            raise CompileFailure(Reason.TIME_LIMIT, message, "cicc") from None
        bench.count("cicc", cpu_seconds)
        return done

    def assemble(self, bench: Workbench) -> bytes:
        """Assemble ``unit.ptx``."""
        bench.run(self.steps.first("ptxas"), self.steps.environment)
        return bench.file("cubin").read_bytes()


def split_header(text: str, source: str) -> tuple[str, str] | None:
    """The runtime header of a preprocessed program and the rest; None where they cannot be told.

    ``source`` is the program's file as the compiler was given it. The header's text gets a stand-in
    for that name, so that it is the same for all programs.
    """
    first = f'# 0 "{source}"\n'
    header, start, rest = text.partition(f'\n# 1 "{source}"\n')
    if not start or not header.startswith(first):
        return None
    return f'# 0 "{STAND_IN}"\n{header.removeprefix(first)}\n', start[1:] + rest


def compile_device(
    compilers: Sequence[DeviceCompiler], bench: Workbench, residents: ResidentPool | None
) -> dict[str, DeviceCode]:
    """Device code by architecture, in the order of ``compilers``.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    made: dict[str, DeviceCode] = {}
    for compiler in compilers:
        compiler.preprocess(bench)
        ptx = compiler.generate_ptx(bench, residents)
        made[compiler.architecture] = DeviceCode(compiler.assemble(bench), ptx)
    return made
