"""Where the lanes of a warp come together again: convergence barriers.

Lanes that reconverge in SASS do so at the same places in LLVM's code, so that there is nothing to
do, but for independently scheduled lanes (``lowering.scheduling.lane_scheduler``): there a
convergence barrier is the mask of the lanes that came to its ``BSSY`` together.
"""

from __future__ import annotations

from cass_ray.lift.convergence.saved_convergence_barriers import is_barrier
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Operand, Register
from cass_ray.lift.llvm.builder import TRUE, Value, i32
from cass_ray.lift.lowering.context import GROUP, LoweringContext
from cass_ray.lift.lowering.lanes import ballot
from cass_ray.lift.lowering.table import lowers


@lowers("BSSY{,.RECONVERGENT,.RELIABLE}")
def begin_region(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Keep which lanes will reconverge."""
    if ctx.lane_scheduler is not None and ctx.place(i) in ctx.lane_scheduler.schedule.region_starts:
        if i.guard is not None:
            raise i.unknown("a convergence barrier of some lanes")
        ctx.registers.write(_barrier(ctx, i, i.operands[0]), ballot(ctx, TRUE))


@lowers("BREAK{,.RELIABLE}")
def leave_region(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The lane goes elsewhere: the others do not wait for it."""
    if ctx.lane_scheduler is None:
        return
    name = _barrier(ctx, i, i.operands[-1])
    ctx.lane_scheduler.exited_barriers.add(name)
    condition = TRUE
    for operand in i.operands[:-1]:
        condition = ctx.ir.both(condition, ctx.predicate(operand))
    ctx.registers.write(name, ctx.select(condition, i32(0), ctx.registers.read(name, "i32")))


@lowers("BSYNC{,.RECONVERGENT,.RELIABLE}", has_effect=True)
def reconverge(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Keeps LLVM from moving a critical section out of its loop, where threads would wait."""
    ctx.ir.call_void("llvm.amdgcn.wave.barrier")


@lowers("WARPSYNC{,.ALL,.EXCLUSIVE,.COLLECTIVE,.COLLECTIVE.ALL}")
def warpsync(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The lanes of the mask are together: they reconverge at the same places in LLVM's code.

    What they do then until they may go elsewhere is without those of other masks.
    """
    groups = ctx.mask_groups()
    if groups is not None and i.address in groups.starts:
        mask = ctx.integer(i.operands[0])
        ctx.registers.write(GROUP, mask if mask.number is None else i32(-1))


@lowers("BMOV.32{,.CLEAR,.PQUAD}", "BMOV.64")
def move_barrier(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Save or restore a convergence barrier, which holds nothing unless lanes wait at it."""
    target, source = i.operands[0], i.operands[-1]
    if ctx.lane_scheduler is None or not (is_barrier(target) or is_barrier(source)):
        if isinstance(target, Register):
            ctx.write(target, i32(0))
        return
    if i.mnemonic == "BMOV.64" or i.has("PQUAD") or len(i.operands) != 2:
        raise i.unknown(
            "a convergence barrier in two registers, where lanes are scheduled independently"
        )
    if isinstance(target, Register):
        is_saved = _is_saved(ctx, i, source)
        saved = i32(0) if is_saved else ctx.registers.read(_barrier(ctx, i, source), "i32")
        ctx.write(target, saved)
    elif not _is_saved(ctx, i, target):
        ctx.lane_scheduler.restored_barriers.add(_barrier(ctx, i, target))
        ctx.registers.write(_barrier(ctx, i, target), ctx.integer(source))


def _is_saved(ctx: LoweringContext, i: DecodedInstruction, barrier: Operand) -> bool:
    """Whether the function has one of its own, so that its caller's is as it was."""
    assert ctx.lane_scheduler is not None
    function, _ = ctx.place(i)
    return (
        isinstance(barrier, Name)
        and (function, barrier.text) in ctx.lane_scheduler.schedule.saved_barriers
    )


def _barrier(ctx: LoweringContext, i: DecodedInstruction, operand: Operand) -> str:
    """The name of its variable."""
    if not isinstance(operand, Name) or not is_barrier(operand):
        raise i.unknown("not a convergence barrier")
    assert ctx.lane_scheduler is not None
    function, _ = ctx.place(i)
    return ctx.lane_scheduler.schedule.saved_barriers.get((function, operand.text), operand.text)


def stop_at_bsync(ctx: LoweringContext, i: DecodedInstruction, following: str) -> None:
    """End the lane's turn at a ``BSYNC`` to which the others of its region may come later."""
    lane_scheduler = ctx.lane_scheduler
    assert lane_scheduler is not None
    if ctx.place(i) not in lane_scheduler.schedule.region_ends:
        reconverge(ctx, i)
        ctx.terminators.jump(following)
        return
    label = f"met{ctx.ir.fresh()}"
    lane_scheduler.wait_at_bsync(f"label %{label}", _barrier(ctx, i, i.operands[0]))
    ctx.registers.begin_block(label)
    ctx.terminators.jump(following)


def reconvergence_mask(ctx: LoweringContext, i: DecodedInstruction) -> Value:
    """The lanes that reconverge at a ``WARPSYNC``."""
    return i32(-1) if i.has("ALL") else ctx.integer(i.operands[0])


def stop_at_warpsync(ctx: LoweringContext, i: DecodedInstruction, following: str) -> None:
    """End the lane's turn at ``WARPSYNC`` until the lanes of its mask have come."""
    lane_scheduler = ctx.lane_scheduler
    assert lane_scheduler is not None
    label = f"met{ctx.ir.fresh()}"
    lane_scheduler.wait_at_warpsync(f"label %{label}", reconvergence_mask(ctx, i))
    ctx.registers.begin_block(label)
    ctx.terminators.jump(following)
