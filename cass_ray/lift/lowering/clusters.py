"""A block among the blocks of its cluster, or alone: where it is, its shared memory, its barriers.

A workgroup is a block, or a cluster of blocks (:mod:`.cluster_launch`).
"""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, TRUE, Value, i32
from cass_ray.lift.llvm.notes import BELOW_MOST_THREADS
from cass_ray.lift.lowering.cluster_launch import (
    CLUSTER_BARRIERS_PLACE,
    LANE_SETS_PLACE,
    RANK,
    RANK_SHIFT,
    ROUND,
    SHIFT,
    START,
    THREAD,
)
from cass_ray.lift.lowering.context import LoweringContext

_RANK_SHIFT, _OFFSET_MASK = i32(RANK_SHIFT), i32((1 << RANK_SHIFT) - 1)
_BLOCK_MEETING, _CLUSTER_MEETING = CLUSTER_BARRIERS_PLACE, CLUSTER_BARRIERS_PLACE + 16


def thread_id(ctx: LoweringContext, axis: int) -> Value:
    """The number of the thread in its block along an axis, 0 to 2."""
    if not ctx.environment.in_cluster:
        name = f"llvm.amdgcn.workitem.id.{'xyz'[axis]}"
        return ctx.ir.call("i32", name, note=BELOW_MOST_THREADS)
    return _along(ctx, THREAD, axis, ctx.banks.block_size)


def block_id(ctx: LoweringContext, axis: int) -> Value:
    """The number of the block in the grid along an axis."""
    number = ctx.ir.call("i32", f"llvm.amdgcn.workgroup.id.{'xyz'[axis]}")
    if not ctx.environment.in_cluster:
        return number
    first = ctx.ir.op("mul", number, ctx.banks.cluster_size(axis))
    return ctx.ir.op("add", first, _along(ctx, RANK, axis, ctx.banks.cluster_size))


def _along(ctx: LoweringContext, number: Value, axis: int, size: Callable[[int], Value]) -> Value:
    """The coordinate along one axis of a number that counts along x first, then y, then z."""
    for before in range(axis):
        number = ctx.ir.op("udiv", number, size(before))
    return number if axis == 2 else ctx.ir.op("urem", number, size(axis))


def thread_number(ctx: LoweringContext) -> Value:
    """The number of the thread in its block."""
    if ctx.environment.in_cluster:
        return THREAD
    x, y, z = (thread_id(ctx, axis) for axis in range(3))
    rows = ctx.ir.op("add", ctx.ir.op("mul", z, ctx.banks.block_size(1)), y)
    return ctx.ir.op("add", ctx.ir.op("mul", rows, ctx.banks.block_size(0)), x)


def own_shift(ctx: LoweringContext) -> Value:
    """What is added to an address of the block's own shared memory for the LDS address."""
    return SHIFT if ctx.environment.in_cluster else i32(ctx.environment.shared_shift)


def offset_shift(ctx: LoweringContext) -> Value:
    """What is added to an offset in the block's shared memory, without a rank."""
    shift = i32(ctx.environment.shared_shift)
    return ctx.ir.op("add", START, shift) if ctx.environment.in_cluster else shift


def own_start(ctx: LoweringContext, place: int) -> Value:
    """The LDS address of byte ``place`` of what the block has for what the lifter needs."""
    place += ctx.environment.own_place
    return ctx.ir.op("add", START, i32(place)) if ctx.environment.in_cluster else i32(place)


def place_in_lds(ctx: LoweringContext, address: Value) -> Value:
    """The LDS address of a shared address, which may be another block's."""
    if not ctx.environment.in_cluster:
        return ctx.ir.op("add", address, i32(ctx.environment.shared_shift))
    rank = ctx.ir.op("lshr", address, _RANK_SHIFT)
    return ctx.ir.op("add", place_in_first(ctx, address), rank_start(ctx, rank))


def place_in_first(ctx: LoweringContext, address: Value) -> Value:
    """The LDS address of the same place in the cluster's first block."""
    offset = ctx.ir.op("and", address, _OFFSET_MASK)
    return ctx.ir.op("add", offset, i32(ctx.environment.shared_shift))


def rank_start(ctx: LoweringContext, rank: Value) -> Value:
    """Where the LDS of a block begins."""
    return ctx.ir.op("mul", rank, ctx.banks.block_bytes())


def place_of_generic(ctx: LoweringContext, address: Value) -> Value:
    """AMD's generic address (``i64``) for one of CUDA's: of shared memory LDS has other places."""
    if not ctx.environment.in_cluster:
        return address
    low, high = ctx.ir.low(address), ctx.ir.high(address)
    is_shared = ctx.ir.icmp("eq", high, ctx.banks.shared_window(is_high=True))
    return ctx.ir.pair(ctx.ir.select(is_shared, place_in_lds(ctx, low), low), high)


def is_of_own_block(ctx: LoweringContext, pointer: Value) -> Value:
    """Whether a generic pointer to LDS, of AMD's, is to what the block has of it."""
    if not ctx.environment.in_cluster:
        return TRUE
    low = ctx.ir.low(ctx.ir.cast("ptrtoint", pointer, "i64"))
    inside = ctx.ir.op("sub", low, START)
    return ctx.ir.icmp("ult", inside, ctx.banks.block_bytes())


# Barriers: each counts its threads, and those that have ended.


def block_threads(ctx: LoweringContext) -> Value:
    """How many threads the block has."""
    return _barrier_words(ctx, of_cluster=False)[1]


def _barrier_words(ctx: LoweringContext, *, of_cluster: bool) -> tuple[Value, Value]:
    """Where the barrier of the cluster, or of the block, is, and how many threads it has."""
    sizes = [ctx.banks.block_size(axis) for axis in range(3)]
    if of_cluster:
        sizes += [ctx.banks.cluster_size(axis) for axis in range(3)]
    threads = i32(1)
    for size in sizes:
        threads = ctx.ir.op("mul", threads, size)
    first = i32(_CLUSTER_MEETING + ctx.environment.own_place)
    place = first if of_cluster else own_start(ctx, _BLOCK_MEETING)
    return place, threads


def _lanes(ctx: LoweringContext, *, of_cluster: bool) -> tuple[Value, ...]:
    """What tells the device functions which lanes are there."""
    threads = block_threads(ctx)
    return i32(int(of_cluster)), own_start(ctx, LANE_SETS_PLACE), THREAD, threads


def arrive(ctx: LoweringContext, *, of_cluster: bool) -> Value:
    """Come to a barrier; the round of it that is then over, or not, is the result."""
    arguments = *_barrier_words(ctx, of_cluster=of_cluster), *_lanes(ctx, of_cluster=of_cluster)
    return ctx.ir.call("i32", f"{SUPPORT_PREFIX}meeting_arrive", *arguments)


def is_over(ctx: LoweringContext, number: Value, *, of_cluster: bool) -> Value:
    """Whether all have come to a barrier's round ``number``."""
    place, _ = _barrier_words(ctx, of_cluster=of_cluster)
    over = ctx.ir.call("i32", f"{SUPPORT_PREFIX}meeting_is_over", place, number)
    return ctx.ir.icmp("ne", over, i32(0))


def wait(ctx: LoweringContext, number: Value, *, of_cluster: bool) -> None:
    """Until all have come to a barrier's round ``number``."""
    place, threads = _barrier_words(ctx, of_cluster=of_cluster)
    arguments = place, number, threads, *_lanes(ctx, of_cluster=of_cluster)
    ctx.ir.call_void(f"{SUPPORT_PREFIX}meeting_await", *arguments)


def end_thread(ctx: LoweringContext) -> None:
    """Let no barrier wait any more for a thread that is about to end."""
    if not ctx.environment.in_cluster:
        return
    for of_cluster in (False, True):
        arrived = ctx.ir.load("i32", ROUND, 4) if of_cluster else i32(-1)
        arguments = *_barrier_words(ctx, of_cluster=of_cluster), *_lanes(ctx, of_cluster=of_cluster)
        ctx.ir.call_void(f"{SUPPORT_PREFIX}meeting_leave", *arguments, arrived)
