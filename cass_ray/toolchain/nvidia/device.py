"""Device code of one translation unit by the steps of ``nvcc -cubin``: g++ -E, cicc, ptxas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.nvidia.preprocess import (
    PreprocessedProgram,
    header_macros,
    may_change_header,
    preprocess,
    preprocess_with_macros,
)
from cass_ray.toolchain.nvidia.removed_names import with_masks
from cass_ray.toolchain.nvidia.resident_cicc import ResidentPool, ResidentTimeout
from cass_ray.toolchain.nvidia.steps import WORK_FILES, CompilerWorkbench, NvccSteps, dry_run
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
    steps: NvccSteps
    macros: dict[bytes, bytes | None] = field(default_factory=dict)
    """Definitions that stand for a header, by its text; see :func:`header_macros`."""

    @classmethod
    def read(cls, nvcc: Path, architecture: str, flags: Sequence[str]) -> DeviceCompiler:
        """Ask ``nvcc`` for its steps; raises :class:`~.nvidia_steps.NvccError`."""
        arguments = [*flags, "-cubin", f"-arch={architecture}", "-o", f"{WORK_FILES}.cubin"]
        return cls(architecture, dry_run(nvcc, arguments))

    def generate_ptx(self, bench: CompilerWorkbench, residents: ResidentPool | None) -> str:
        """Compile the unit to ``unit.ptx``; leaves the launch stubs beside it."""
        if residents is None:
            preprocess(self.steps, bench)
            bench.run(self.steps.first("cicc"), self.steps.environment)
        else:
            self._with_residents(bench, residents)
        output = bench.output("ptx", "cicc").decode("utf-8", "replace")
        if (ptx := with_masks(bench.unit, output)) != output:
            bench.replace("ptx", ptx.encode())
        return ptx

    def _with_residents(self, bench: CompilerWorkbench, residents: ResidentPool) -> None:
        """A resident cicc does it if it can, else a new one, which also reports errors."""
        program = self._after_known_header(bench, residents) or preprocess(self.steps, bench)
        if program is not None:
            if self._resume(program, bench, residents):
                return
            bench.replace("cpp1.ii", program.whole(str(bench.unit.main)))
        bench.run(self.steps.first("cicc"), self.steps.environment)

    def _after_known_header(
        self, bench: CompilerWorkbench, residents: ResidentPool
    ) -> PreprocessedProgram | None:
        """The unit preprocessed without the header that a resident has read, where that works."""
        header = residents.header(self.steps)
        if header is None or may_change_header(bench.unit):
            return None
        if header not in self.macros:
            self.macros[header] = header_macros(self.steps, bench, header)
        macros = self.macros[header]
        if macros is None:
            return None
        return preprocess_with_macros(self.steps, bench, header, macros)

    def _resume(
        self, program: PreprocessedProgram, bench: CompilerWorkbench, residents: ResidentPool
    ) -> bool:
        """Let a resident cicc compile ``program``; whether it has."""
        try:
            done, cpu_seconds = residents.compile(
                self.steps,
                program,
                bench.limits,
                bench.folder,
                may_start=not may_change_header(bench.unit),
            )
        except ResidentTimeout:
            message = f"cicc was stopped after {bench.limits.wall_seconds} seconds"
            raise CompileFailure(Reason.TIME_LIMIT, message, "cicc") from None
        bench.count("cicc", cpu_seconds)
        return done

    def assemble(self, bench: CompilerWorkbench) -> bytes:
        bench.run(self.steps.first("ptxas"), self.steps.environment)
        return bench.output("cubin", "ptxas")


def compile_device(
    compilers: Sequence[DeviceCompiler], bench: CompilerWorkbench, residents: ResidentPool | None
) -> dict[str, DeviceCode]:
    """Device code by architecture, in the order of ``compilers``.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    code: dict[str, DeviceCode] = {}
    for compiler in compilers:
        ptx = compiler.generate_ptx(bench, residents)
        code[compiler.architecture] = DeviceCode(compiler.assemble(bench), ptx)
    return code
