"""Lifting: SASS in a cubin, through per-thread LLVM IR, to RDNA3 assembly (docs/lift.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cass_ray.lift import emit, module
from cass_ray.lift.errors import CompilerFailure, LiftError, UnknownForm, Unsupported
from cass_ray.toolchain.amd import DEFAULT_ARCHITECTURE, AmdToolchain
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia import NvidiaToolchain
from cass_ray.toolchain.nvidia_elf import Cubin, CubinError
from cass_ray.toolchain.unit import CompileFailure

__all__ = [
    "CompilerFailure",
    "LiftError",
    "LiftedModule",
    "UnknownForm",
    "Unsupported",
    "lift_cubin",
]


@dataclass(frozen=True)
class LiftedModule:
    """What a cubin became.

    ``assembly`` is complete RDNA3 assembly text with kernel descriptors and metadata, and
    ``code_object`` the ELF file of it. ``kernels`` keep their names and argument layouts.
    ``failures`` has the kernels that could not be lifted, with the reason.
    """

    llvm_ir: str
    assembly: str
    code_object: bytes
    kernels: tuple[str, ...]
    failures: dict[str, LiftError] = field(default_factory=dict)


def lift_cubin(
    cubin: bytes,
    architecture: str = DEFAULT_ARCHITECTURE,
    *,
    amd: AmdToolchain | None = None,
    nvidia: NvidiaToolchain | None = None,
    partial: bool = False,
) -> LiftedModule:
    """Lift every kernel of ``cubin`` (sm_80 to sm_90) to RDNA3.

    With ``partial``, kernels that cannot be lifted are left out and listed in ``failures``, as
    long as one can.

    Raises:
        LiftError: not such a cubin, or a kernel that cannot be lifted;
            :class:`UnknownForm` names form, kernel and address.
        ToolMissing: there is no nvdisasm or no clang for AMDGPU.
    """
    nvidia = nvidia or find_nvidia()
    amd = amd or find_amd()
    try:
        parsed = Cubin.parse(cubin)
        listing = nvidia.disassemble([cubin])[0]
    except CubinError as error:
        raise LiftError(f"not a cubin: {error}") from error
    made = module.build(parsed, listing)
    if made.failures and not (partial and made.kernels):
        raise next(iter(made.failures.values()))
    text = emit.assembly(amd, made.text, architecture)
    try:
        code_object = amd.assemble(text, architecture)
    except CompileFailure as failure:
        raise CompilerFailure(f"the assembler refused: {failure.diagnostic}") from failure
    return LiftedModule(made.text, text, code_object, made.kernels, made.failures)
