"""Clusters of blocks as workgroups: what comes with a launch, and what a kernel makes of it first.

AMD's hardware has no clusters. A kernel for clusters of N blocks of T threads is launched as
workgroups of N T threads in one line, the blocks one after the other, and each block has its part
of the workgroup's LDS. Each block begins with a wave: threads that its last wave has beyond T end
at once. What a block has of LDS, and the shape of a block and of a cluster, comes with the launch,
as one argument more than the kernel has (:data:`WORDS`).

Bits 24 and up of a shared address are the rank of a block in its cluster, as sm_90 and later have
them: so one block's address is good in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.frontend.cubin import KernelInfo, Parameter
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Name
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value
from cass_ray.lift.lowering.environment import KernelEnvironment

BLOCK_WORDS, BYTES_WORD, CLUSTER_WORDS, WORDS = 0, 3, 4, 7
"""Words of the argument: threads of a block along each axis, bytes of LDS of a block, and blocks of
a cluster along each axis (``port/common/clusters.hpp``)."""

RANK_SHIFT = 24
RANK = Value("i32", "%cluster.rank")
"""Rank of the block in its cluster."""
THREAD = Value("i32", "%cluster.thread")
"""The number of the thread in its block."""
START = Value("i32", "%cluster.start")
"""Where the block's LDS begins."""
SHIFT = Value("i32", "%cluster.shift")
"""What is added to an address of the block's own shared memory."""
ROUND = Value("ptr addrspace(5)", "%cluster.round")
"""Where a thread keeps the round of the cluster's barrier at which it has arrived; -1 for none."""
SURROUNDINGS = tuple(map(str, (RANK, THREAD, START, SHIFT, ROUND)))
"""What functions are given of it."""

PRESENT = "cluster.present"
"""The block that all threads come to first that the launch asked for."""

LANE_SET_BYTES = 1024 // 8
"""A bit for each thread that a block may have."""
CLUSTER_BARRIERS_PLACE, LANE_SETS_PLACE = 208, 240
CLUSTER_BARRIERS_BYTES = LANE_SETS_PLACE - CLUSTER_BARRIERS_PLACE + 4 * LANE_SET_BYTES
"""Bytes of the barriers of a block and of a cluster, in the LDS of each block, behind those of some
warps, and of four sets of the block's lanes (``llvm/device/cluster.hip``)."""
_OWN_BYTES = CLUSTER_BARRIERS_PLACE + CLUSTER_BARRIERS_BYTES


def launch_parameter(kernel: KernelInfo) -> Parameter:
    """The argument behind the kernel's own."""
    end = max((p.offset + p.size for p in kernel.parameters), default=0)
    return Parameter(-(-end // 4) * 4, 4 * WORDS)


def shows_clusters(graph: KernelGraph) -> bool:
    """Whether a kernel of this code can tell a cluster of several blocks from single blocks.

    Every kernel with shared memory reads its rank, for its addresses. It can tell no more if the
    rank goes to the upper bits of a sum alone, which registers are followed for along every path.
    """
    held: dict[CodePlace, frozenset[str]] = {graph.entry: frozenset()}
    pending = [graph.entry]
    while pending:
        place = pending.pop()
        state = set(held[place])
        for where, access in graph.blocks[place].accesses:
            i = graph.at(where)
            if _is_of_clusters(i) or (access.reads & state and not _makes_address(i)):
                return True
            if any(isinstance(o, Name) and o.text == "SR_CgaCtaId" for o in i.operands):
                state |= access.writes
            elif access.guard is None:
                state -= access.writes
        if state and graph.blocks[place].leaves_unknown:
            return True
        for successor in graph.blocks[place].successors:
            before = held.get(successor)
            joined = frozenset(state) | (before or frozenset())
            if joined != before:
                held[successor] = joined
                pending.append(successor)
    return False


def _makes_address(i: DecodedInstruction) -> bool:
    shifts = [o.integer for o in i.operands if isinstance(o, Immediate) and o.text.startswith("0x")]
    return i.opcode in ("LEA", "ULEA") and RANK_SHIFT in shifts and not i.modifiers


_OPCODES = frozenset({"UCGABAR_ARV", "UCGABAR_WAIT", "STAS", "REDAS"})
_MAPS_RANK = 0x654
"""A permutation of bytes that puts a rank above the offset of a shared address."""


def _is_of_clusters(i: DecodedInstruction) -> bool:
    if i.opcode in _OPCODES or i.has("MULTICAST") or (i.opcode == "QSPC" and i.has("D")):
        return True
    if i.opcode in ("PRMT", "UPRMT"):
        return any(isinstance(o, Immediate) and o.integer == _MAPS_RANK for o in i.operands)
    return False


def reads_cluster_words(kernel: KernelInfo, instructions: Iterable[DecodedInstruction]) -> bool:
    """Whether the code reads what bank 0 has about clusters."""
    words = kernel.driver.about_clusters
    return any(
        isinstance(o, Constant) and o.bank == 0 and o.offset in words
        for i in instructions
        for o in i.operands
    )


def entry_lines(environment: KernelEnvironment, place: int, more: Iterable[str]) -> list[str]:
    """What a kernel does first; ``place`` is where its arguments have :data:`WORDS`.

    ``more`` is what all threads of the workgroup do then.
    """
    lanes = environment.target.wave_lanes
    lines = ["  %cluster.given = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()"]
    names = {BLOCK_WORDS: "x", BLOCK_WORDS + 1: "y", BLOCK_WORDS + 2: "z", BYTES_WORD: "bytes"}
    for word, name in names.items():
        lines += [
            f"  %cluster.at.{name} = getelementptr i8, ptr addrspace(4) %cluster.given, "
            f"i64 {place + 4 * word}",
            f"  %cluster.{name} = load i32, ptr addrspace(4) %cluster.at.{name}, align 4, "
            "!invariant.load !0",
        ]
    return [
        *lines,
        "  %cluster.xy = mul i32 %cluster.x, %cluster.y",
        "  %cluster.threads = mul i32 %cluster.xy, %cluster.z",
        "  %cluster.number = call i32 @llvm.amdgcn.workitem.id.x()",
        f"  %cluster.last = add i32 %cluster.threads, {lanes - 1}",
        f"  %cluster.padded = and i32 %cluster.last, -{lanes}",
        "  %cluster.divided = udiv i32 %cluster.number, %cluster.padded",
        # All lanes of a wave are of one block.
        f"  {RANK.name} = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %cluster.divided)",
        f"  %cluster.before = mul i32 {RANK.name}, %cluster.padded",
        f"  {THREAD.name} = sub i32 %cluster.number, %cluster.before",
        f"  {START.name} = mul i32 {RANK.name}, %cluster.bytes",
        f"  %cluster.upper = shl i32 {RANK.name}, {RANK_SHIFT}",
        f"  %cluster.apart = sub i32 {START.name}, %cluster.upper",
        f"  {SHIFT.name} = add i32 %cluster.apart, {environment.shared_shift}",
        f"  {ROUND.name} = alloca i32, addrspace(5)",
        f"  store i32 -1, {ROUND}",
        f"  %cluster.own = add {START}, {environment.own_place}",
        f"  call void @{SUPPORT_PREFIX}cluster_begin(i32 %cluster.own, i32 {_OWN_BYTES}, {THREAD})",
        *more,
        f"  %cluster.absent = icmp uge {THREAD}, %cluster.threads",
        f"  br i1 %cluster.absent, label %cluster.nobody, label %{PRESENT}",
        "cluster.nobody:",
        "  ret void",
        f"{PRESENT}:",
    ]


ENTRY_DECLARATIONS = (
    "declare ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()",
    "declare i32 @llvm.amdgcn.workitem.id.x()",
    "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)",
    f"declare void @{SUPPORT_PREFIX}cluster_begin(i32, i32, i32)",
)
