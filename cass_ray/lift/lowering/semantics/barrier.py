"""Barriers of a block, reductions over a block, and memory fences."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Predicate, Register
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import warp_number
from cass_ray.lift.lowering.table import lowers
from cass_ray.lift.lowering.target import WARP_LANES

_RESULT, _RESULT_PREDICATE = "barrier_result", "barrier_predicate"
_SCRATCH = Value("ptr addrspace(3)", "inttoptr (i32 4 to ptr addrspace(3))")
"""A word of LDS in front of the kernel's own."""
_IDS = [f"llvm.amdgcn.workitem.id.{axis}" for axis in "xyz"]


def synchronize(ctx: LoweringContext) -> None:
    """All threads of the block arrive, and see what the others wrote."""
    ctx.ir.line('fence syncscope("workgroup") release')
    ctx.ir.call_void("llvm.amdgcn.s.barrier")
    ctx.ir.line('fence syncscope("workgroup") acquire')


WARPGROUP_WARPS = 4
_NAMED, _MOST_WARPGROUPS = 16, 8
BARRIERS_PLACE, BARRIERS_BYTES = 16, 8 * (_NAMED + _MOST_WARPGROUPS)
"""Of the counters of barriers of some warps, in LDS in front of the kernel's own: two words each
(``llvm/device/support.hip``), those of warpgroups after those with numbers."""


def counts_threads(i: DecodedInstruction) -> bool:
    """Whether it is a barrier of as many threads as an operand says, or of four warps."""
    if i.opcode == "WARPGROUP":
        return i.has("DEPBAR")
    return i.opcode == "BAR" and (i.has("ARV") or (i.has("SYNC") and len(i.operands) > 1))


@lowers("BAR.{SYNC,ARV}{,.DEFER_BLOCKING}", "WARPGROUP.DEPBAR.LE", has_effect=True)
def barrier(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A barrier of the whole block, whose number does not matter, or of some of its warps.

    RDNA3 has one barrier a block: those of some warps count arrivals in LDS. A wait for matrix
    products is for all warps that compute them (:mod:`.warpgroup`), older ones or not.
    """
    if not counts_threads(i):
        synchronize(ctx)
        return
    number, threads = number_and_threads(ctx, i)
    waits = i32(0 if i.has("ARV") else 1)
    ctx.ir.call_void(f"{SUPPORT_PREFIX}barrier", i32(BARRIERS_PLACE), number, threads, waits)


def number_and_threads(ctx: LoweringContext, i: DecodedInstruction) -> tuple[Value, Value]:
    """Of a barrier of some warps, its number and how many threads it waits for."""
    if i.opcode == "WARPGROUP":
        group = ctx.ir.op("lshr", warp_number(ctx), i32(WARPGROUP_WARPS.bit_length() - 1))
        return ctx.ir.op("add", group, i32(_NAMED)), i32(WARPGROUP_WARPS * WARP_LANES)
    if len(i.operands) != 2:
        raise i.unknown("a barrier without a count of threads")
    number, threads = (ctx.integer(operand) for operand in i.operands)
    if all(isinstance(operand, Register) for operand in i.operands):
        if i.operands[0] != i.operands[1]:
            raise i.unknown("a barrier with number and count in two registers")
        # One register has both: the number in its low bits, the count in its upper half.
        number = ctx.ir.op("and", number, i32(15))
        threads = ctx.ir.op("lshr", threads, i32(16))
    return number, threads


_AWAITED, _ROUND = "barrier_awaited", "barrier_round"


def stop_at_barrier(ctx: LoweringContext, i: DecodedInstruction, following: str) -> None:
    """End a warp's turn at a barrier (``lowering.turns``); ``following`` is where it goes on."""
    assert ctx.turns is not None
    if i.has("RED"):
        raise i.unknown("a reduction over a block whose warps run in turns")
    if i.opcode == "WARPGROUP" and i.has("ARRIVE"):
        ctx.terminators.jump(following)
        return
    if not counts_threads(i):
        ctx.turns.pause(following, at_barrier=True)
        return
    number, threads = number_and_threads(ctx, i)
    place = i32(BARRIERS_PLACE)
    before = ctx.ir.call("i32", f"{SUPPORT_PREFIX}barrier_round", place, number)
    ctx.ir.call_void(f"{SUPPORT_PREFIX}barrier_arrive", place, number, threads)
    if i.has("ARV"):
        ctx.terminators.jump(following)
        return
    ctx.registers.write(_AWAITED, number)
    ctx.registers.write(_ROUND, before)
    again = f"await{ctx.ir.fresh()}"
    ctx.turns.pause(f"label %{again}", at_barrier=False)
    ctx.registers.begin_block(again)
    number, before = (ctx.registers.read(name, "i32") for name in (_AWAITED, _ROUND))
    now = ctx.ir.call("i32", f"{SUPPORT_PREFIX}barrier_round", place, number)
    passed = f"passed{ctx.ir.fresh()}"
    still = f"still{ctx.ir.fresh()}"
    ctx.ir.line(f"br {ctx.ir.icmp('ne', now, before)}, label %{passed}, label %{still}")
    ctx.ir.label(still)
    ctx.turns.pause(f"label %{again}", at_barrier=False)
    ctx.ir.label(passed)
    ctx.terminators.jump(following)


@lowers("BAR.RED.{POPC,AND,OR}{,.DEFER_BLOCKING}", has_effect=True)
def reduce(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A barrier that counts the threads where a condition holds; B2R reads the result."""
    if len(i.operands) > 2 or not isinstance(i.operands[0], Immediate):
        raise i.unknown("a barrier of some of the warps")
    condition = ctx.predicate(i.operands[1])
    synchronize(ctx)
    ids = [ctx.ir.call("i32", name) for name in _IDS]
    is_first = ctx.ir.icmp("eq", ctx.ir.op("or", ctx.ir.op("or", ids[0], ids[1]), ids[2]), i32(0))
    with ctx.registers.skipped_unless(is_first):
        ctx.ir.store(i32(0), _SCRATCH, 4, volatile=True)
    synchronize(ctx)
    one = ctx.ir.cast("zext", condition, "i32")
    ctx.ir.result("i32", f'atomicrmw add {_SCRATCH}, {one} syncscope("workgroup") monotonic')
    synchronize(ctx)
    count = ctx.ir.load("i32", _SCRATCH, 4, volatile=True)
    if i.has("POPC"):
        ctx.registers.write(_RESULT, count)
        ctx.registers.write(_RESULT_PREDICATE, ctx.ir.icmp("ne", count, i32(0)))
        return
    if i.has("OR"):
        verdict = ctx.ir.icmp("ne", count, i32(0))
    else:
        sizes = [ctx.banks.block_size(axis) for axis in range(3)]
        threads = ctx.ir.op("mul", ctx.ir.op("mul", sizes[0], sizes[1]), sizes[2])
        verdict = ctx.ir.icmp("eq", count, threads)
    ctx.registers.write(_RESULT, ctx.ir.cast("sext", verdict, "i32"))
    ctx.registers.write(_RESULT_PREDICATE, verdict)


@lowers("B2R.RESULT")
def read_result(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The result of the last reduction over the block."""
    for target in i.operands:
        if isinstance(target, Register):
            ctx.write(target, ctx.registers.read(_RESULT, "i32"))
        elif isinstance(target, Predicate):
            ctx.write_predicate(target, ctx.registers.read(_RESULT_PREDICATE, "i1"))
        else:
            raise i.unknown("a target that is no register")


@lowers("MEMBAR.{SC,ALL}.{CTA,SM,GPU,SYS,VC}", has_effect=True)
def fence(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Memory operations before it are seen before those after it."""
    scope = {"CTA": "workgroup", "SM": "workgroup", "GPU": "agent", "VC": "agent"}.get(
        i.modifiers[1]
    )
    ctx.ir.line(f'fence syncscope("{scope}") seq_cst' if scope else "fence seq_cst")
