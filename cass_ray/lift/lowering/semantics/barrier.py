"""Barriers of a block, reductions over a block, and memory fences."""

from __future__ import annotations

from cass_ray.lift.analysis.opcodes import barrier_numbers, counts_threads
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, SUPPORT_PREFIX, TRUE, Value, i32, i64
from cass_ray.lift.lowering import clusters, fences
from cass_ray.lift.lowering.cluster_launch import (
    CLUSTER_BARRIERS_BYTES,
    CLUSTER_BARRIERS_PLACE,
    LANE_SET_BYTES,
    ROUND,
)
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import warp_number
from cass_ray.lift.lowering.table import lowers
from cass_ray.lift.lowering.target import WARP_LANES

_RESULT, _RESULT_PREDICATE = "barrier_result", "barrier_predicate"
_SCRATCH_PLACE = 4
"""Address of a word of LDS in front of the kernel's own."""


def synchronize(ctx: LoweringContext) -> None:
    """All threads of the block arrive, and see what the others wrote."""
    if ctx.environment.in_cluster:
        clusters.wait(ctx, clusters.arrive(ctx, of_cluster=False), of_cluster=False)
        return
    fences.release(ctx)
    ctx.ir.call_void("llvm.amdgcn.s.barrier")
    fences.acquire(ctx)


WARPGROUP_WARPS = 4
_NAMED, _MOST_WARPGROUPS = 16, 8
BARRIERS_PLACE, BARRIERS_BYTES = 16, 8 * (_NAMED + _MOST_WARPGROUPS)
"""Address and size of the counters of barriers of some warps, in LDS in front of the kernel's own:
two words each (``llvm/device/support.hip``), those of warpgroups after those with numbers."""
_LANES_PLACE = BARRIERS_PLACE + BARRIERS_BYTES
_LANES_PLACE_IN_CLUSTER = CLUSTER_BARRIERS_PLACE + CLUSTER_BARRIERS_BYTES - LANE_SET_BYTES
"""Address of the set of a block's lanes that were missing where their warps came to a barrier."""
LANES_END = _LANES_PLACE + LANE_SET_BYTES


@lowers("BAR.{SYNC,ARV}{,.DEFER_BLOCKING}", "WARPGROUP.DEPBAR.LE", has_effect=True)
def barrier(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A barrier of the whole block, whose number does not matter, or of some of its warps.

    RDNA3 has one barrier a block: those of some warps count arrivals in LDS. A wait for matrix
    products is for all warps that compute them (:mod:`.warpgroup`), older ones or not.
    """
    if not counts_threads(i):
        _come_together(ctx, i)
        synchronize(ctx)
    elif (of_all := _is_of_all(ctx, i)) == FALSE:
        _count(ctx, i)
    else:
        with ctx.registers.skipped_unless(of_all):
            synchronize(ctx)
        with ctx.registers.skipped_unless(ctx.ir.invert(of_all)):
            _count(ctx, i)


def _count(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Come to a barrier of some warps and, but for an arrival, wait for the others."""
    _come_together(ctx, i)
    number, threads = number_and_threads(ctx, i)
    waits = i32(0 if i.has("ARV") else 1)
    place = clusters.own_start(ctx, BARRIERS_PLACE)
    arguments = (place, number, threads, waits, _not_to_arrive_at(ctx, i))
    ctx.ir.call_void(f"{SUPPORT_PREFIX}barrier", *arguments)


def _is_of_all(ctx: LoweringContext, i: DecodedInstruction) -> Value:
    """Whether a barrier with a count is one of the whole block, at which others come without one.

    Those meet at AMD's barrier, and so do these; where nobody comes without a count, all count.
    """
    numbers = ctx.environment.block_barriers
    if i.opcode == "WARPGROUP" or i.has("ARV") or not numbers:
        return FALSE
    number, threads = number_and_threads(ctx, i)
    is_theirs = TRUE
    if None not in numbers and number.number is None:
        theirs = i32(sum(1 << each for each in numbers if each is not None))
        own = ctx.ir.op("and", ctx.ir.op("lshr", theirs, number), i32(1))
        is_theirs = ctx.ir.icmp("ne", own, i32(0))
    elif None not in numbers and number.number not in numbers:
        return FALSE
    return ctx.ir.both(is_theirs, ctx.ir.icmp("uge", threads, clusters.block_threads(ctx)))


def _come_together(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A warp counts once at a barrier: where its lanes come to it by several ways is an error.

    Where warps are scheduled they meet at one of the block; in a cluster that one counts lanes.
    """
    is_sure = not counts_threads(i) and (ctx.scheduler is not None or ctx.environment.in_cluster)
    if is_sure or not ctx.environment.barriers_may_diverge:
        return
    if ctx.place(i) in ctx.environment.unaligned_barriers:
        in_cluster = ctx.environment.in_cluster
        sets = clusters.own_start(ctx, _LANES_PLACE_IN_CLUSTER if in_cluster else _LANES_PLACE)
        name = f"{SUPPORT_PREFIX}barrier_lanes"
        ctx.ir.call_void(name, sets, clusters.thread_number(ctx))


def _not_to_arrive_at(ctx: LoweringContext, i: DecodedInstruction) -> Value:
    """Barriers, a bit for each number, at which an arrival without waiting is an error.

    Those at which others wait without a count: for all threads of the block (PTX ISA, ``bar``).
    AMD's barrier, at which these meet, has no arrivals. A number that is known is refused here.
    """
    if not i.has("ARV"):
        return i32(0)
    numbers = ctx.environment.block_barriers
    number = barrier_numbers(i)[0]
    arrives_at = number.integer if isinstance(number, Immediate) else None
    if arrives_at in numbers or None in numbers:
        raise i.unknown("an arrival at a barrier where others wait without a count of threads")
    literals = {each for each in numbers if each is not None}
    return i32(sum(1 << each for each in literals) if arrives_at is None else 0)


@lowers("UCGABAR_{ARV,WAIT}", has_effect=True)
def cluster_barrier(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Come to the barrier of the cluster, or wait for all that have to.

    ptxas has one of the block beside it for kernels that need not be in clusters. Where a workgroup
    is one block, the word of bank 0 by which the code chooses says so, and this is never reached.
    """
    if not ctx.environment.in_cluster:
        if ctx.environment.kernel.cluster is not None:
            raise i.unknown("a barrier of a cluster that the kernel asks for")
        ctx.ir.line('call void asm sideeffect "s_trap 2", ""()')
    elif i.opcode.endswith("ARV"):
        number = clusters.arrive(ctx, of_cluster=True)
        ctx.ir.store(number, ROUND, 4)
    else:
        clusters.wait(ctx, ctx.ir.load("i32", ROUND, 4), of_cluster=True)
        ctx.ir.store(i32(-1), ROUND, 4)


def number_and_threads(ctx: LoweringContext, i: DecodedInstruction) -> tuple[Value, Value]:
    """The number of a barrier of some warps, and how many threads it waits for."""
    if i.opcode == "WARPGROUP":
        group = ctx.ir.op("lshr", warp_number(ctx), i32(WARPGROUP_WARPS.bit_length() - 1))
        return ctx.ir.op("add", group, i32(_NAMED)), i32(WARPGROUP_WARPS * WARP_LANES)
    operands = barrier_numbers(i)
    if len(operands) != 2:
        raise i.unknown("a barrier without a count of threads")
    number, threads = (ctx.integer(operand) for operand in operands)
    if all(isinstance(operand, Register) for operand in operands):
        if operands[0] != operands[1]:
            raise i.unknown("a barrier with number and count in two registers")
        # One register has both: the number in its low bits, the count in its upper half.
        number = ctx.ir.op("and", number, i32(15))
        threads = ctx.ir.op("lshr", threads, i32(16))
    return number, threads


@lowers("BAR.RED.{POPC,AND,OR}{,.DEFER_BLOCKING}", has_effect=True)
def reduce(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A barrier that counts the threads where a condition holds; B2R reads the result."""
    if not counts_threads(i):
        _come_together(ctx, i)
        _reduce_in_block(ctx, i)
    elif (of_all := _is_of_all(ctx, i)) == FALSE:
        _reduce_counted(ctx, i)
    else:
        with ctx.registers.skipped_unless(of_all):
            _reduce_in_block(ctx, i)
        with ctx.registers.skipped_unless(ctx.ir.invert(of_all)):
            _reduce_counted(ctx, i)


def _reduce_in_block(ctx: LoweringContext, i: DecodedInstruction) -> None:
    counted = _counted(ctx, i)
    synchronize(ctx)
    _clear_sum(ctx)
    synchronize(ctx)
    _add_to_sum(ctx, counted)
    synchronize(ctx)
    _write_result(ctx, i, ctx.ir.load("i32", _scratch(ctx), 4, volatile=True))


def _reduce_counted(ctx: LoweringContext, i: DecodedInstruction) -> None:
    counted = _counted(ctx, i)
    _come_together(ctx, i)
    number, threads = number_and_threads(ctx, i)
    arguments = (clusters.own_start(ctx, BARRIERS_PLACE), number, threads, counted)
    _write_result(ctx, i, ctx.ir.call("i32", f"{SUPPORT_PREFIX}barrier_reduce", *arguments))


def _counted(ctx: LoweringContext, i: DecodedInstruction) -> Value:
    """1 in the threads that a reduction counts: for .AND those in which the condition is false."""
    condition = ctx.predicate(i.operands[-1])
    return ctx.ir.cast("zext", ctx.ir.invert(condition) if i.has("AND") else condition, "i32")


def _write_result(ctx: LoweringContext, i: DecodedInstruction, total: Value) -> None:
    """What a reduction in which ``total`` threads were counted leaves for B2R."""
    verdict = ctx.ir.icmp("eq" if i.has("AND") else "ne", total, i32(0))
    ctx.registers.write(_RESULT, total if i.has("POPC") else ctx.ir.cast("sext", verdict, "i32"))
    ctx.registers.write(_RESULT_PREDICATE, verdict)


def _scratch(ctx: LoweringContext) -> Value:
    place = clusters.own_start(ctx, _SCRATCH_PLACE)
    return ctx.ir.cast("inttoptr", place, "ptr addrspace(3)")


def _clear_sum(ctx: LoweringContext) -> None:
    """Let each thread clear it: any of them, the first too, may have ended before."""
    ctx.ir.store(i32(0), _scratch(ctx), 4, volatile=True)


def _add_to_sum(ctx: LoweringContext, counted: Value) -> None:
    place = _scratch(ctx)
    ctx.ir.result("i32", f'atomicrmw add {place}, {counted} syncscope("workgroup") monotonic')


_AWAITED, _ROUND = "barrier_awaited", "barrier_round"
_THREADS, _COUNTED = "barrier_threads", "barrier_counted"


def stop_at_barrier(ctx: LoweringContext, i: DecodedInstruction, following: str) -> None:
    """End a warp's turn at a barrier (``lowering.scheduling.warp_scheduler``); ``following`` is
    where it goes on."""
    assert ctx.scheduler is not None
    if i.opcode == "WARPGROUP" and i.has("ARRIVE"):
        ctx.terminators.jump(following)
    elif i.opcode == "UCGABAR_WAIT":
        _pause_at_cluster(ctx)
        ctx.terminators.jump(following)
    elif not counts_threads(i):
        _stop_at_block(ctx, i, following)
    elif (of_all := _is_of_all(ctx, i)) == FALSE:
        _stop_at_counted(ctx, i, following)
    else:
        whole, some = f"whole{ctx.ir.fresh()}", f"some{ctx.ir.fresh()}"
        ctx.registers.flush()
        ctx.ir.line(f"br {of_all}, label %{whole}, label %{some}")
        ctx.registers.begin_block(whole)
        _stop_at_block(ctx, i, following)
        ctx.registers.begin_block(some)
        _stop_at_counted(ctx, i, following)


def _stop_at_block(ctx: LoweringContext, i: DecodedInstruction, following: str) -> None:
    """Stop at a barrier of the whole block."""
    assert ctx.scheduler is not None
    if i.has("RED"):
        _reduce_scheduled(ctx, i, following)
    elif ctx.environment.in_cluster:
        _pause_at_block(ctx)
        ctx.terminators.jump(following)
    else:
        ctx.scheduler.pause(following, at_barrier=True)


def _pause_at_block(ctx: LoweringContext) -> None:
    """End the turn at a barrier of the block; what is written next is behind it."""
    label = f"behind{ctx.ir.fresh()}"
    if not ctx.environment.in_cluster:
        _pause_until(ctx, label, at_barrier=True)
        return
    ctx.registers.write(_ROUND, clusters.arrive(ctx, of_cluster=False))
    _pause_until(ctx, label)
    number = ctx.registers.read(_ROUND, "i32")
    _pass_if(ctx, clusters.is_over(ctx, number, of_cluster=False), label)


def _pause_at_cluster(ctx: LoweringContext) -> None:
    """The same for the barrier of the cluster, at which the warp has arrived."""
    if not ctx.environment.in_cluster:  # never reached
        return
    label = f"behind{ctx.ir.fresh()}"
    _pause_until(ctx, label)
    number = ctx.ir.load("i32", ROUND, 4)
    _pass_if(ctx, clusters.is_over(ctx, number, of_cluster=True), label)
    ctx.ir.store(i32(-1), ROUND, 4)


def _stop_at_counted(ctx: LoweringContext, i: DecodedInstruction, following: str) -> None:
    """Stop at a barrier of some of the warps, and fetch the result of a reduction."""
    reduces = i.has("RED")
    number, threads = number_and_threads(ctx, i)
    ctx.registers.write(_AWAITED, number)
    ctx.registers.write(_THREADS, threads)
    ctx.registers.write(_COUNTED, _counted(ctx, i) if reduces else i32(0))
    _come_together(ctx, i)
    arriving = f"arriving{ctx.ir.fresh()}"
    ctx.terminators.jump(f"label %{arriving}")
    ctx.registers.begin_block(arriving)
    place = clusters.own_start(ctx, BARRIERS_PLACE)
    number, threads, counted = (
        ctx.registers.read(name, "i32") for name in (_AWAITED, _THREADS, _COUNTED)
    )
    arguments = (place, number, threads, counted, i32(int(reduces)), _not_to_arrive_at(ctx, i))
    arrived = ctx.ir.call("i64", f"{SUPPORT_PREFIX}barrier_arrive", *arguments)
    ctx.registers.write(_ROUND, ctx.ir.cast("trunc", arrived, "i32"))
    _pass_if(ctx, ctx.ir.icmp("sge", arrived, i64(0)), arriving)
    if i.has("ARV"):
        ctx.terminators.jump(following)
        return
    again = f"await{ctx.ir.fresh()}"
    _pause_until(ctx, again)
    place = clusters.own_start(ctx, BARRIERS_PLACE)
    number, before = (ctx.registers.read(name, "i32") for name in (_AWAITED, _ROUND))
    now = ctx.ir.call("i32", f"{SUPPORT_PREFIX}barrier_round", place, number)
    _pass_if(ctx, ctx.ir.icmp("ne", now, before), again)
    if reduces:
        _write_result(ctx, i, ctx.ir.call("i32", f"{SUPPORT_PREFIX}barrier_result", place, number))
    ctx.terminators.jump(following)


def _pause_until(ctx: LoweringContext, label: str, *, at_barrier: bool = False) -> None:
    """End the turn; what is written next is what the next one begins with."""
    assert ctx.scheduler is not None
    ctx.scheduler.pause(f"label %{label}", at_barrier=at_barrier)
    ctx.registers.begin_block(label)


def _pass_if(ctx: LoweringContext, condition: Value, again: str) -> None:
    """Go on where ``condition`` holds; else end the turn, and begin the next one at ``again``."""
    assert ctx.scheduler is not None
    passed, still = f"passed{ctx.ir.fresh()}", f"still{ctx.ir.fresh()}"
    ctx.registers.flush()
    ctx.ir.line(f"br {condition}, label %{passed}, label %{still}")
    ctx.ir.label(still)
    ctx.scheduler.pause(f"label %{again}", at_barrier=False)
    ctx.ir.label(passed)


def _reduce_scheduled(ctx: LoweringContext, i: DecodedInstruction, following: str) -> None:
    """A reduction over the block: each of its three barriers ends a turn."""
    ctx.registers.write(_COUNTED, _counted(ctx, i))
    _pause_at_block(ctx)
    _clear_sum(ctx)
    _pause_at_block(ctx)
    _add_to_sum(ctx, ctx.registers.read(_COUNTED, "i32"))
    _pause_at_block(ctx)
    _write_result(ctx, i, ctx.ir.load("i32", _scratch(ctx), 4, volatile=True))
    ctx.terminators.jump(following)


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
    scopes = {"CTA": "workgroup", "SM": "workgroup", "GPU": "agent", "VC": "agent", "SYS": ""}
    fences.order(ctx, "seq_cst", scopes[i.modifiers[1]])
