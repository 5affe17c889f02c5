"""The lanes of a warp, in a wave of 32 lanes or in one half of a wave of 64.

On a wave of 64 lanes what holds for a warp holds for a half: masks are halves of 64-bit ones, and a
lane's number counts from the start of its half. LLVM sees that: the choice of a half depends on the
lane, so that nothing that is one for a warp is taken to be one for the wave.
"""

from __future__ import annotations

from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32, i64
from cass_ray.lift.llvm.notes import BELOW_WARP, UP_TO_WARP
from cass_ray.lift.lowering.clusters import thread_number
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.target import WARP_LANES

_UPPER_LANES = i64(0xFFFFFFFF << WARP_LANES)


def lane(ctx: LoweringContext) -> Value:
    """The number of the lane in its warp, 0 to 31."""
    number = wave_lane(ctx)
    if not ctx.environment.target.pairs_warps:
        return number
    return ctx.ir.op("and", number, i32(WARP_LANES - 1))


def wave_lane(ctx: LoweringContext) -> Value:
    """The number of the lane in its wave of 32 or 64."""
    note = UP_TO_WARP if ctx.environment.target.pairs_warps else BELOW_WARP
    low = ctx.ir.call("i32", "llvm.amdgcn.mbcnt.lo", i32(-1), i32(0), note=note)
    if not ctx.environment.target.pairs_warps:
        return low
    return ctx.ir.call("i32", "llvm.amdgcn.mbcnt.hi", i32(-1), low)


def warp_number(ctx: LoweringContext) -> Value:
    """The number of the warp in its block."""
    return ctx.ir.op("lshr", thread_number(ctx), i32(WARP_LANES.bit_length() - 1))


def is_upper_warp(ctx: LoweringContext) -> Value:
    """Whether the lane is in the upper half of a wave of 64."""
    return ctx.ir.call("i1", "llvm.amdgcn.inverse.ballot.i64", _UPPER_LANES)


def ballot(ctx: LoweringContext, condition: Value) -> Value:
    """The lanes of the warp, or of the own group, that are active and where ``condition`` holds."""
    if not ctx.environment.target.pairs_warps:
        lanes = ctx.ir.call("i32", "llvm.amdgcn.ballot.i32", condition)
    else:
        lanes = own_half(ctx, ballot_of_wave(ctx, condition))
    group = ctx.group()
    return lanes if group is None else ctx.ir.op("and", lanes, group)


def ballot_of_wave(ctx: LoweringContext, condition: Value) -> Value:
    """The lanes of a wave of 64 that are active and where ``condition`` holds."""
    return ctx.ir.call("i64", "llvm.amdgcn.ballot.i64", condition)


def own_half(ctx: LoweringContext, mask: Value) -> Value:
    """The half of a mask of 64 lanes that is the lane's warp."""
    return ctx.ir.select(is_upper_warp(ctx), ctx.ir.high(mask), ctx.ir.low(mask))


def from_lane(ctx: LoweringContext, word: Value, number: Value) -> Value:
    """``word`` of another lane of the warp, which each lane chooses for itself."""
    if ctx.environment.target.pairs_warps:
        start = ctx.ir.op("and", wave_lane(ctx), i32(WARP_LANES))
        number = ctx.ir.op("or", number, start)
    return from_wave_lane(ctx, word, number)


def from_wave_lane(ctx: LoweringContext, word: Value, number: Value) -> Value:
    """``word`` of another lane of the wave, which each lane chooses for itself."""
    return from_place(ctx, word, place_of(ctx, number))


def place_of(ctx: LoweringContext, number: Value) -> Value:
    """Where ``ds_bpermute`` finds a lane of the wave."""
    return ctx.ir.op("shl", number, i32(2))


def from_place(ctx: LoweringContext, word: Value, place: Value) -> Value:
    """``word`` of the lane of the wave that is at a place (:func:`place_of`)."""
    return ctx.ir.call("i32", "llvm.amdgcn.ds.bpermute", place, word)


def from_uniform_lane(ctx: LoweringContext, word: Value, number: Value) -> Value:
    """``word`` of one lane, whose number is the same in all lanes of the warp, or of the group."""
    if ctx.environment.target.pairs_warps or ctx.group() is not None:
        return from_lane(ctx, word, number)
    return ctx.ir.call("i32", "llvm.amdgcn.readlane.i32", word, number)


def from_first_lane(ctx: LoweringContext, word: Value) -> Value:
    """``word`` of the first active lane of the warp, or of the lane's group."""
    if ctx.group() is not None:
        return from_lane(ctx, word, ctx.ir.call("i32", "llvm.cttz.i32", ballot(ctx, TRUE), FALSE))
    if not ctx.environment.target.pairs_warps:
        return ctx.ir.call("i32", "llvm.amdgcn.readfirstlane.i32", word)
    active = ballot_of_wave(ctx, TRUE)
    words = []
    for half, start in ((ctx.ir.low(active), 0), (ctx.ir.high(active), WARP_LANES)):
        # Of a half without active lanes any lane will do: nobody takes the word.
        first = ctx.ir.call("i32", "llvm.cttz.i32", half, FALSE)
        number = ctx.ir.op("or", ctx.ir.op("and", first, i32(WARP_LANES - 1)), i32(start))
        words.append(ctx.ir.call("i32", "llvm.amdgcn.readlane.i32", word, number))
    return ctx.ir.select(is_upper_warp(ctx), words[1], words[0])


def share_with_warp(ctx: LoweringContext, name: str, condition: Value) -> None:
    """Give all lanes what the first lane where ``condition`` holds has in a uniform register.

    Nothing where it holds in none.
    """
    kind = "i1" if "P" in name else "i32"
    own = ctx.registers.read(name, kind)
    chosen = ballot(ctx, condition)
    first = ctx.ir.call("i32", "llvm.cttz.i32", chosen, FALSE)
    first = ctx.ir.op("and", first, i32(WARP_LANES - 1))
    shared = from_uniform_lane(ctx, ctx.ir.cast("zext", own, "i32"), first)
    if kind == "i1":
        shared = ctx.ir.icmp("ne", shared, i32(0))
    elif (above := ctx.handles.above(own)) is not None:
        ctx.handles.set_above(shared, from_uniform_lane(ctx, above, first))
    ctx.registers.write(name, ctx.select(ctx.ir.icmp("ne", chosen, i32(0)), shared, own))
