"""Tensor memory (PTX: ``tcgen05``): 128 lanes of 512 columns of 32 bits for each block.

AMD's processors have none. It lies in global memory, at a place that a block takes when it
allocates columns (``llvm/device/tensor_memory.hip``); a word in LDS says which. Of the kilobyte of
shared memory that sm_100 reserves, ptxas' code reads and writes what allocations have (from
:data:`PARTITION` on); what the lifter needs of LDS lies behind that.
"""

from __future__ import annotations

from collections.abc import Iterable

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import TensorAddress
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value, i32
from cass_ray.lift.lowering.cluster_launch import (
    CLUSTER_BARRIERS_BYTES,
    CLUSTER_BARRIERS_PLACE,
    RANK,
    START,
    THREAD,
)
from cass_ray.lift.lowering.clusters import offset_shift, own_start, rank_start
from cass_ray.lift.lowering.context import LoweringContext

PARTITION, PARTITION_BYTES = 0x40, 0x20
OWN_PLACE = PARTITION + PARTITION_BYTES
"""Where that begins which the lifter needs itself."""
_STATE_PLACE = CLUSTER_BARRIERS_PLACE + CLUSTER_BARRIERS_BYTES
LANES, COLUMNS = 128, 512
_BEGIN = f"{SUPPORT_PREFIX}tensor_begin"
_LANE_SHIFT = 16
"""An address has the lane above the column."""


def uses_tensor_memory(instructions: Iterable[DecodedInstruction]) -> bool:
    """Whether code allocates tensor memory, or does anything else with it."""
    return any(i.opcode.startswith("UTC") or i.opcode in ("LDTM", "STTM") for i in instructions)


def beginning(*, in_cluster: bool) -> list[str]:
    """What a kernel does before its first instruction: nothing is allocated."""
    place = OWN_PLACE + _STATE_PLACE
    if not in_cluster:
        ids = [f"%tensor.{axis}" for axis in "xyz"]
        calls = [
            f"  {name} = call i32 @llvm.amdgcn.workitem.id.{axis}()"
            for name, axis in zip(ids, "xyz", strict=True)
        ]
        return [
            *calls,
            f"  %tensor.xy = or i32 {ids[0]}, {ids[1]}",
            f"  %tensor.thread = or i32 %tensor.xy, {ids[2]}",
            f"  call void @{_BEGIN}(i32 {place}, i32 {PARTITION}, i32 0, i32 %tensor.thread)",
        ]
    return [
        f"  %tensor.state = add {START}, {place}",
        f"  %tensor.partition = add {START}, {PARTITION}",
        f"  call void @{_BEGIN}(i32 %tensor.state, i32 %tensor.partition, {RANK}, {THREAD})",
    ]


DECLARATIONS = (
    *(f"declare i32 @llvm.amdgcn.workitem.id.{axis}()" for axis in "xyz"),
    f"declare void @{_BEGIN}(i32, i32, i32, i32)",
)


def own_state(ctx: LoweringContext) -> Value:
    """The LDS address of the word about the block's tensor memory."""
    return own_start(ctx, _STATE_PLACE)


def blocks_of_pair(ctx: LoweringContext) -> list[tuple[Value, Value]]:
    """That word, and what is added to offsets in shared memory, of the block and its neighbour; the
    even one first."""
    even = ctx.ir.op("and", RANK, i32(-2))
    place = i32(_STATE_PLACE + ctx.environment.own_place)
    shift = i32(ctx.environment.shared_shift)
    starts = [rank_start(ctx, ctx.ir.op("add", even, i32(number))) for number in range(2)]
    return [(ctx.ir.op("add", start, place), ctx.ir.op("add", start, shift)) for start in starts]


def own_block(ctx: LoweringContext) -> tuple[Value, Value]:
    """The same of the block alone."""
    return own_state(ctx), offset_shift(ctx)


def address_in(ctx: LoweringContext, i: DecodedInstruction, operand: object) -> Value:
    """Lane and column of an operand, as one word."""
    if not isinstance(operand, TensorAddress) or len(operand.terms) > 1:
        raise i.unknown("no place in tensor memory")
    word = ctx.register(operand.terms[0]) if operand.terms else i32(0)
    return ctx.ir.op("add", word, i32(operand.offset))


def lane_and_column(ctx: LoweringContext, address: Value) -> tuple[Value, Value]:
    """The two in an address."""
    lane = ctx.ir.op("and", ctx.ir.op("lshr", address, i32(_LANE_SHIFT)), i32(LANES - 1))
    return lane, ctx.ir.op("and", address, i32(COLUMNS - 1))


def memory(ctx: LoweringContext) -> Value:
    """Where the block's tensor memory begins; without any the program ends with an error."""
    start = ctx.ir.call("i64", f"{SUPPORT_PREFIX}tensor_memory", own_state(ctx))
    return ctx.ir.cast("inttoptr", start, "ptr addrspace(1)")


def traps(ctx: LoweringContext) -> None:
    """End the program: what is done here needs a cluster of several blocks, and this is none."""
    ctx.ir.line('call void asm sideeffect "s_trap 2", ""()')
