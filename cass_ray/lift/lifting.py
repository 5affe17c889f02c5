"""Lifting a cubin, or a listing of one: what ``cass_ray.lift`` offers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from cass_ray.lift import module
from cass_ray.lift.cluster_kernel import ClusterKernel
from cass_ray.lift.errors import CompilerFailure, LiftError
from cass_ray.lift.frontend import listing as listings
from cass_ray.lift.frontend.nan_literals import with_bits_of_nans
from cass_ray.lift.llvm import emit
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.own_files import fingerprint, of_files
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE, AmdToolchain
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure

if of_files() != fingerprint():
    raise RuntimeError("the lifter's files have changed since this process began: start it again")


@dataclass(frozen=True)
class LiftedModule:
    """The AMD code that a cubin was lifted to.

    ``assembly`` is complete RDNA3 assembly text with kernel descriptors and metadata, and
    ``code_object`` the ELF file of it. ``kernels`` keep their names and argument layouts.
    ``failures`` has the kernels that could not be lifted, with the reason.
    """

    llvm_ir: str
    assembly: str
    code_object: bytes
    kernels: tuple[str, ...]
    failures: dict[str, LiftError] = field(default_factory=dict)
    instructions: dict[str, int] = field(default_factory=dict)
    """SASS instructions by kernel, copies of subroutines counted each time."""
    native_matrices: tuple[str, ...] = ()
    """Kernels whose sums of floating-point matrices may differ in their last digits."""
    clusters: tuple[ClusterKernel, ...] = ()
    """How kernels are launched whose workgroups are clusters of blocks."""
    lift_seconds: float = 0.0
    """CPU time from listing to LLVM IR."""
    llvm_seconds: float = 0.0
    """CPU time from LLVM IR to assembly."""


def lift_cubin(
    cubin: bytes,
    architecture: str = DEFAULT_ARCHITECTURE,
    *,
    amd: AmdToolchain | None = None,
    nvidia: NvidiaToolchain | None = None,
    partial: bool = False,
    names: Mapping[str, str] | None = None,
    native_matrices: bool = False,
    clusters: bool = False,
) -> LiftedModule:
    """Lift every kernel of ``cubin`` (sm_75 to sm_121) to AMD.

    With ``partial``, kernels that cannot be lifted are left out and listed in ``failures``, as
    long as one can. ``names`` renames kernels and gives variables a second name: what the host
    program calls them (``cass_ray.lift.names_for_host``). With ``native_matrices`` AMD's matrix
    instructions multiply floating-point matrices, too: faster, and the last digits of sums are
    theirs. With ``clusters`` kernels of clusters are lifted, too: for a program that launches each
    cluster as a workgroup, as ``LiftedModule.clusters`` says; without, they are refused.

    Raises:
        LiftError: not such a cubin, or a kernel that cannot be lifted;
            ``UnknownForm`` names form, kernel and address.
        LifterBug: the lifter itself failed at an instruction.
        ToolMissing: there is no nvdisasm or no clang for AMDGPU.
    """
    nvidia = nvidia or find_nvidia()
    amd = amd or find_amd()
    try:
        listing = nvidia.disassemble([cubin])[0]
    except CubinError as error:
        raise LiftError(f"not a cubin: {error}") from error
    return lift_listing(
        cubin,
        listing,
        amd,
        architecture,
        partial=partial,
        names=names,
        native_matrices=native_matrices,
        clusters=clusters,
    )


def lift_text(
    text: str,
    architecture: str = DEFAULT_ARCHITECTURE,
    *,
    amd: AmdToolchain | None = None,
    partial: bool = False,
    names: Mapping[str, str] | None = None,
    native_matrices: bool = False,
) -> LiftedModule:
    """:func:`lift_cubin` for a listing whose cubin is not there (``frontend.listing``).

    Raises :class:`LiftError` for what only the cubin says, too.
    """
    cubin = listings.cubin_of(text)
    return lift_listing(
        cubin,
        text,
        amd or find_amd(),
        architecture,
        partial=partial,
        names=names,
        native_matrices=native_matrices,
    )


def lift_listing(
    cubin: bytes | Cubin,
    listing: str,
    amd: AmdToolchain,
    architecture: str = DEFAULT_ARCHITECTURE,
    *,
    partial: bool = False,
    names: Mapping[str, str] | None = None,
    native_matrices: bool = False,
    clusters: bool = False,
) -> LiftedModule:
    """:func:`lift_cubin` for a cubin of which the listing of ``nvdisasm -c`` is there already."""
    started = time.thread_time()
    parsed = cubin if isinstance(cubin, Cubin) else Cubin.parse(cubin)
    target = lift_target(architecture, native_matrices=native_matrices)
    listing = with_bits_of_nans(listing, parsed)
    ir_module = module.build(parsed, listing, names, target, clusters=clusters)
    if ir_module.failures and not (partial and ir_module.kernels):
        raise next(iter(ir_module.failures.values()))
    lifted = time.thread_time()
    written, llvm_seconds = emit.assembly(amd, ir_module.text, architecture)
    text = emit.with_sizes(written, ir_module.sizes)
    try:
        code_object = amd.assemble(text, architecture)
    except CompileFailure as failure:
        raise CompilerFailure(f"the assembler refused: {failure.diagnostic}") from failure
    return LiftedModule(
        llvm_ir=ir_module.text,
        assembly=text,
        code_object=code_object,
        kernels=ir_module.kernels,
        failures=ir_module.failures,
        instructions=ir_module.instructions,
        native_matrices=ir_module.native_matrices,
        clusters=ir_module.clusters,
        lift_seconds=lifted - started,
        llvm_seconds=llvm_seconds,
    )
