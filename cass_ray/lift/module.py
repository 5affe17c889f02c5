"""A cubin as an LLVM module: data, one function a kernel, declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from cass_ray.lift.analysis.opcodes import counts_threads, numbers_without_counts
from cass_ray.lift.cluster_kernel import ClusterKernel
from cass_ray.lift.convergence.unaligned import unaligned_barriers
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend import cubin as reading
from cass_ray.lift.frontend.code import CodeSection, CubinCode
from cass_ray.lift.frontend.cubin import KernelInfo
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Name
from cass_ray.lift.gc_pause import gc_relaxed
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX
from cass_ray.lift.llvm.globals import MANAGED_SUFFIX, DeviceData
from cass_ray.lift.llvm.notes import DEFINITIONS
from cass_ray.lift.lowering import tensor_memory
from cass_ray.lift.lowering.cluster_launch import (
    CLUSTER_BARRIERS_BYTES,
    CLUSTER_BARRIERS_PLACE,
    ENTRY_DECLARATIONS,
    PRESENT,
    entry_lines,
    reads_cluster_words,
)
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.flow.control_flow import KernelLifter
from cass_ray.lift.lowering.semantics.barrier import BARRIERS_BYTES, BARRIERS_PLACE, LANES_END
from cass_ray.lift.lowering.semantics.texture import TEXTURE_OPCODES
from cass_ray.lift.lowering.target import DEFAULT_LIFT_TARGET, LiftTarget
from cass_ray.toolchain.nvidia.elf import Cubin

_LAYOUT = (
    "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32"
    "-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256"
    "-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
)
_HEADER = f'target datalayout = "{_LAYOUT}"\ntarget triple = "amdgcn-amd-amdhsa"\n'
_CODE_OBJECT_VERSION = 500
_REDUCTION_BYTES = 16
_MOST_THREADS = 1024
_BARRIER, _BARRIERS_BEGIN = f"{SUPPORT_PREFIX}barrier", f"{SUPPORT_PREFIX}barriers_begin"
_SINGLE_PRECISION = frozenset({"FADD", "FMUL", "FFMA", "FSETP", "FSET", "FMNMX", "FMNMX3"})


@dataclass(frozen=True)
class LlvmModule:
    """LLVM IR of the kernels that could be lifted, and why others could not."""

    text: str
    kernels: tuple[str, ...]
    failures: dict[str, LiftError] = field(default_factory=dict)
    instructions: dict[str, int] = field(default_factory=dict)
    """SASS instructions by kernel, copies of subroutines counted each time."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of each variable."""
    native_matrices: tuple[str, ...] = ()
    """Kernels that multiply floating-point matrices by AMD's instructions."""
    clusters: tuple[ClusterKernel, ...] = ()
    """How kernels are launched whose workgroups are clusters."""


@dataclass(frozen=True)
class LiftedKernel:
    """The LLVM functions of one kernel and what they need of the module."""

    text: str
    declarations: frozenset[str]
    instructions: int
    """SASS instructions, copies of subroutines counted each time."""
    native_matrices: bool
    cluster: ClusterKernel | None = None
    """How it is launched if its workgroups are, or can be, clusters."""


class ModuleBuilder:
    """A cubin that is read once; its kernels are lifted one by one, and joined in modules.

    ``names`` renames symbols, and by default managed variables as HIP does. With ``clusters``
    kernels that ask for clusters are lifted for workgroups that are clusters, and those that may be
    launched with clusters a second time; without, the former are refused.

    Raises :class:`LiftError` for what concerns the whole cubin.
    """

    def __init__(
        self,
        cubin: Cubin,
        listing: str,
        names: Mapping[str, str] | None = None,
        target: LiftTarget = DEFAULT_LIFT_TARGET,
        *,
        clusters: bool = False,
    ) -> None:
        system = reading.system_functions(cubin)
        _check_no_device_launches(system)
        managed = {name: name + MANAGED_SUFFIX for name in reading.managed_names(cubin)}
        self.kernel_names = reading.kernel_names(cubin)
        self._cubin = cubin
        self._names = {**managed, **(names or {})}
        self._target = target
        self._clusters = clusters
        self.program = CubinCode(
            listing, reading.subroutines(cubin), system, reading.referred_symbols(cubin)
        )
        self._data = DeviceData(cubin, self.program.code_number, self._names)

    @gc_relaxed()
    def lift(self, name: str) -> LiftedKernel:
        """One kernel. Raises :class:`LiftError`."""
        kernel = reading.kernel_info(self._cubin, name)
        if kernel.cluster_blocks > 1 and not self._clusters:
            raise LiftError(f"{name}: {_ONLY_AS_CLUSTERS.format(*kernel.cluster or ())}")
        environment = kernel_environment(self.program, self._data, kernel, self._target)
        if not self._clusters:
            return self._lifted(environment)[0]
        clustered = _in_cluster(environment, kernel)
        if kernel.cluster is not None:
            return self._lifted(clustered)[0]
        lifted, lifter = self._lifted(environment)
        instructions = _instructions(self.program, name)
        if not lifter.shows_clusters and not reads_cluster_words(kernel, instructions):
            return lifted
        try:
            second, _ = self._lifted(clustered)
        except LiftError as error:  # launches with clusters will say so
            failed = self._launched(clustered, 0)
            return replace(lifted, cluster=replace(failed, symbol="", failure=str(error)))
        return replace(
            lifted,
            text=f"{lifted.text}\n{second.text}",
            declarations=lifted.declarations | second.declarations,
            cluster=second.cluster,
        )

    def _lifted(self, environment: KernelEnvironment) -> tuple[LiftedKernel, KernelLifter]:
        lifter = KernelLifter(environment)
        context = lifter.lift()
        cluster = None
        if environment.in_cluster:
            cluster = self._launched(environment, context.banks.launch_words)
        lifted = LiftedKernel(
            _functions(context, lifter, self._symbol(environment)),
            frozenset(context.ir.declarations),
            lifter.instruction_count,
            bool(self._target.native_float_products(context.ir.declarations)),
            cluster,
        )
        return lifted, lifter

    def _symbol(self, environment: KernelEnvironment) -> str:
        name = environment.kernel.name
        return self._names.get(name, name) + environment.suffix

    def _launched(self, environment: KernelEnvironment, words_offset: int) -> ClusterKernel:
        kernel = environment.kernel
        return ClusterKernel(
            kernel.name,
            self._symbol(environment),
            len(kernel.parameters),
            words_offset,
            _lds_bytes(kernel),
            kernel.cluster,
        )

    def module(
        self, kernels: Mapping[str, LiftedKernel], failures: dict[str, LiftError]
    ) -> LlvmModule:
        """These kernels with the data of the whole cubin."""
        declarations = set().union(*(kernel.declarations for kernel in kernels.values()))
        functions = [kernel.text for kernel in kernels.values()]
        parts = [_HEADER, *self._data.definitions, *functions, *sorted(declarations), _FOOTER]
        return LlvmModule(
            "\n".join(parts),
            tuple(kernels),
            failures,
            {name: kernel.instructions for name, kernel in kernels.items()},
            self._data.sizes,
            tuple(name for name, kernel in kernels.items() if kernel.native_matrices),
            tuple(kernel.cluster for kernel in kernels.values() if kernel.cluster is not None),
        )


def build(
    cubin: Cubin,
    listing: str,
    names: Mapping[str, str] | None = None,
    target: LiftTarget = DEFAULT_LIFT_TARGET,
    *,
    clusters: bool = False,
) -> LlvmModule:
    """Lift every kernel, as :class:`ModuleBuilder` does."""
    builder = ModuleBuilder(cubin, listing, names, target, clusters=clusters)
    kernels: dict[str, LiftedKernel] = {}
    failures: dict[str, LiftError] = {}
    for name in builder.kernel_names:
        try:
            kernels[name] = builder.lift(name)
        except LiftError as error:
            failures[name] = error
    return builder.module(kernels, failures)


_ONLY_AS_CLUSTERS = (
    "clusters of {} x {} x {} blocks, each of which has to be launched as one workgroup: "
    "`cass run-binary` does so"
)


_DEVICE_RUNTIME = "__cuda_syscall_cnp"
"""Functions of the driver begin so that serve kernels which launch kernels."""


def _check_no_device_launches(system: Iterable[str]) -> None:
    launchers = [name for name in system if name.startswith(_DEVICE_RUNTIME)]
    if launchers:
        raise LiftError(
            f"kernels that launch kernels (dynamic parallelism): {', '.join(sorted(launchers))} "
            "would have to be provided; launch from the host"
        )


def kernel_environment(
    program: CubinCode, data: DeviceData, kernel: KernelInfo, target: LiftTarget
) -> KernelEnvironment:
    """What surrounds a kernel, as far as it shows without its graph."""
    instructions = _instructions(program, kernel.name)
    unaligned = unaligned_barriers(_codes(program, kernel.name))
    uses_tensor_memory = tensor_memory.uses_tensor_memory(instructions)
    if uses_tensor_memory:
        size = max(kernel.shared_size, kernel.reserved_shared)
        kernel, shift = replace(kernel, shared_size=size), 0
    else:
        kernel, shift = _without_reserved(kernel, instructions, has_unaligned=bool(unaligned))
    flushes = flushes_denormals(instructions)
    handles = any(i.opcode in TEXTURE_OPCODES for i in instructions)
    return KernelEnvironment(
        kernel,
        data,
        program,
        target,
        shift,
        flushes_denormals=flushes,
        uses_handles=handles,
        uses_tensor_memory=uses_tensor_memory,
        unaligned_barriers=unaligned,
        block_barriers=numbers_without_counts(instructions),
        own_place=tensor_memory.OWN_PLACE if uses_tensor_memory else 0,
    )


def _instructions(program: CubinCode, name: str) -> list[DecodedInstruction]:
    """Instructions of the kernel ``name``, and of functions that are in no kernel."""
    return [each for code in _codes(program, name) for each in code.instructions]


def _codes(program: CubinCode, name: str) -> list[CodeSection]:
    return [
        code for code in program.codes.values() if code.name == name or not code.function.is_kernel
    ]


def _in_cluster(environment: KernelEnvironment, kernel: KernelInfo) -> KernelEnvironment:
    """``environment`` where a workgroup is a cluster; ``kernel``: as the cubin has it.

    What barriers need of a block's LDS is in front of its own: what sm_90 reserves is left out,
    for generic addresses of shared memory are converted wherever they are used.
    """
    shift = CLUSTER_BARRIERS_PLACE + CLUSTER_BARRIERS_BYTES - kernel.reserved_shared
    if environment.uses_tensor_memory:
        shift = 0  # what the lifter needs is in what is reserved
    size = max(kernel.shared_size, kernel.reserved_shared) + shift
    return replace(
        environment,
        kernel=replace(kernel, shared_size=size),
        shared_shift=shift,
        in_cluster=True,
    )


def _without_reserved(
    kernel: KernelInfo, instructions: list[DecodedInstruction], *, has_unaligned: bool
) -> tuple[KernelInfo, int]:
    """The kernel with the shared memory that it has here, and what is added to shared addresses.

    Barriers need some in front of the kernel's own. sm_90 reserves a kilobyte there, which is left
    out where it can be: where no generic address of shared memory is made.
    """
    scratch = _scratch_bytes(instructions, has_unaligned=has_unaligned)
    reserved = kernel.reserved_shared
    if not reserved:
        return replace(kernel, shared_size=kernel.shared_size + scratch), scratch
    makes_generic = any(_makes_generic(kernel, i) for i in instructions)
    if kernel.shared_size >= reserved and not makes_generic:
        shift = scratch - reserved
        return replace(kernel, shared_size=kernel.shared_size + shift), shift
    least = reserved if scratch else 0
    return replace(kernel, shared_size=max(kernel.shared_size, least)), 0


def _makes_generic(kernel: KernelInfo, i: DecodedInstruction) -> bool:
    """Whether it reads where shared memory is among generic addresses."""
    start = kernel.driver.shared_window
    window = () if start is None else (start, start + 4)
    return any(
        (isinstance(operand, Name) and operand.text.startswith("SR_SWIN"))
        or (isinstance(operand, Constant) and operand.bank == 0 and operand.offset in window)
        for operand in i.operands
    )


def _barriers_end(*, has_unaligned: bool) -> int:
    return LANES_END if has_unaligned else BARRIERS_PLACE + BARRIERS_BYTES


def _scratch_bytes(instructions: list[DecodedInstruction], *, has_unaligned: bool) -> int:
    """LDS that barriers need in front of the kernel's own."""
    if has_unaligned or any(counts_threads(i) for i in instructions):
        return _barriers_end(has_unaligned=has_unaligned)
    uses_reduction = any(i.opcode == "BAR" and i.has("RED") for i in instructions)
    return _REDUCTION_BYTES if uses_reduction else 0


def flushes_denormals(instructions: list[DecodedInstruction]) -> bool:
    """Whether all single-precision arithmetic is .FTZ, as with ``nvcc -ftz=true``."""
    sensitive = [i for i in instructions if _reads_single_precision(i)]
    return bool(sensitive) and all(i.has("FTZ") for i in sensitive)


def _reads_single_precision(i: DecodedInstruction) -> bool:
    if i.opcode.removeprefix("U") in ("F2I", "FRND"):
        return not (i.has("F64") or i.has("F16"))
    if i.opcode.removeprefix("U") == "F2F":
        return i.has("F32")
    return i.opcode.removeprefix("U") in _SINGLE_PRECISION


def _functions(context: LoweringContext, lifter: KernelLifter, exported: str) -> str:
    """The kernel, and the functions that it calls."""
    kernel = lifter.environment.kernel
    attributes = _attributes(lifter.environment)
    parameters = ", ".join(context.banks.arguments.types)
    lines = [
        f'define protected amdgpu_kernel void @"{exported}"({parameters})',
        f"    {attributes} {{",
        "entry:",
        *lifter.functions.allocas(None),
        # Words: LLVM would make a vector of bytes, with a comparison for each at every access.
        f"  %frame = alloca [{-(-max(kernel.frame_size, 16) // 4)} x i32], align 16, addrspace(5)",
        *_beginning(context, calls_functions=bool(lifter.functions)),
        *(
            context.scheduler.frame(
                lifter.entry_label, PRESENT if context.environment.in_cluster else "entry"
            )
            if context.scheduler is not None
            else [f"  br label %{lifter.entry_label}"]
        ),
        *context.ir.lines_of(None),
        *context.terminators.trap_block(None),
        "}",
        *lifter.functions.definitions(attributes),
    ]
    return "\n".join(lines)


def _beginning(context: LoweringContext, *, calls_functions: bool) -> list[str]:
    """What has to be done before the kernel's first instruction."""
    lines = context.banks.beginning(calls_functions=calls_functions)
    if context.banks.needs_copy:
        context.ir.declarations |= {
            "declare ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()",
            "declare void @llvm.memcpy.p5.p4.i64(ptr addrspace(5), ptr addrspace(4), i64, i1)",
        }
        lines += context.banks.arguments.copying()
    more: list[str] = []
    if context.environment.uses_tensor_memory:
        context.ir.declarations |= set(tensor_memory.DECLARATIONS)
        more = tensor_memory.beginning(in_cluster=context.environment.in_cluster)
    if context.environment.in_cluster:
        context.ir.declarations |= set(ENTRY_DECLARATIONS)
        return lines + entry_lines(context.environment, context.banks.launch_words, more)
    if any(f"@{_BARRIER}" in declaration for declaration in context.ir.declarations):
        context.ir.declarations.add(f"declare void @{_BARRIERS_BEGIN}(i32, i32)")
        place = BARRIERS_PLACE + context.environment.own_place
        end = _barriers_end(has_unaligned=bool(context.environment.unaligned_barriers))
        lines.append(f"  call void @{_BARRIERS_BEGIN}(i32 {place}, i32 {end - BARRIERS_PLACE})")
    return lines + more


def _lds_bytes(kernel: KernelInfo) -> int:
    return -(-kernel.shared_size // 16) * 16


def _attributes(environment: KernelEnvironment) -> str:
    kernel = environment.kernel
    lds = _lds_bytes(kernel)
    least, most = kernel.required_threads or 1, kernel.max_threads
    if environment.in_cluster:
        blocks, lanes = kernel.cluster_blocks, environment.target.wave_lanes
        least, most = (-(-threads // lanes) * lanes * blocks for threads in (least, most))
        most = min(_MOST_THREADS, most) if kernel.cluster else _MOST_THREADS
        least = min(most, least)
    denormals = "preserve-sign,preserve-sign" if environment.flushes_denormals else "ieee,ieee"
    return " ".join(
        [
            "convergent mustprogress nounwind",
            f'"amdgpu-flat-work-group-size"="{least},{most}"',
            f'"amdgpu-lds-size"="{lds},{lds}"',
            '"amdgpu-ieee"="false"',
            '"amdgpu-unsafe-fp-atomics"="true"',
            f'"denormal-fp-math"="ieee,ieee" "denormal-fp-math-f32"="{denormals}"',
            f'"no-trapping-math"="true" "target-cpu"="{environment.target.name}"',
            '"uniform-work-group-size"="true"',
        ]
    )


_FOOTER = f"""
!llvm.module.flags = !{{!1}}
!opencl.ocl.version = !{{!2}}
!1 = !{{i32 1, !"amdhsa_code_object_version", i32 {_CODE_OBJECT_VERSION}}}
!2 = !{{i32 2, i32 0}}
{DEFINITIONS}"""
