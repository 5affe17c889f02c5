"""Copies by tensor maps (PTX: ``cp.async.bulk.tensor``): of tiles, and of pixels (im2col).

A tensor map is 128 bytes that only the driver writes and only the hardware reads: ours are in a
layout of our own (``llvm/device/tensor_map.hip``). As bulk copies (:mod:`.bulk_copy`) they are
complete when they are issued, by one lane.
"""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Register
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value, i32
from cass_ray.lift.lowering.clusters import place_in_first, place_in_lds
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.bulk_copy import (
    REDUCTIONS,
    Multicast,
    blocks_of,
    by_one_lane,
    bytes_of_block,
    only_register,
    operands_of_copy,
    shared_word,
)
from cass_ray.lift.lowering.semantics.mbarrier import complete_transactions
from cass_ray.lift.lowering.table import lowers

_MOST_AXES = 5
_AXES = "{1D,2D,3D,4D,5D}"
_PIXELS = "{3D,4D,5D}.IM2COL"
_OF_PIXELS = 8
"""The bit of a copy's shape whose upper half has offsets of pixels."""


def _tile(
    ctx: LoweringContext, i: DecodedInstruction, first: Register, coordinates: Register
) -> list[Value]:
    """What the device functions take: map, axes, tile, shift, coordinates."""
    tile = ctx.register(first)
    shift = ctx.ir.op("sub", place_in_lds(ctx, tile), tile)
    return [*_map_and_shape(ctx, i), tile, shift, *_coordinates(ctx, i, coordinates)]


def _map_and_shape(ctx: LoweringContext, i: DecodedInstruction) -> list[Value]:
    has_offsets = i.opcode == "UTMALDG" and i.has("IM2COL")
    operands = operands_of_copy(i, 3 if i.has("MULTICAST") or has_offsets else 2)
    shape = i32(_axes(i) | (_OF_PIXELS if i.has("IM2COL") else 0))
    if has_offsets:
        shape = ctx.ir.op("or", shape, ctx.ir.op("shl", ctx.integer(operands[2]), i32(16)))
    return [ctx.wide(only_register(i, operands[1])), shape]


def _axes(i: DecodedInstruction) -> int:
    return int(i.modifiers[0][0])


def _coordinates(ctx: LoweringContext, i: DecodedInstruction, first: Register) -> list[Value]:
    axes = _axes(i)
    return [ctx.register(first.following(n)) if n < axes else i32(0) for n in range(_MOST_AXES)]


@lowers(f"UTMALDG.{_AXES}{{,.2CTA}}", f"UTMALDG.{_PIXELS}", has_effect=True)
def load_tile(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy to shared memory; after the tile's address come that of a barrier and the coordinates.

    With 2CTA the barrier may be the other block's of a pair: its address says so.
    """
    place = only_register(i, i.operands[0])
    with by_one_lane(ctx):
        arguments = _tile(ctx, i, place, place.following(2))
        count = ctx.ir.call("i32", f"{SUPPORT_PREFIX}tensor_load", *arguments)
        complete_transactions(ctx, shared_word(ctx, place.following(1)), count)


@lowers(f"UTMALDG.{_AXES}.MULTICAST", f"UTMALDG.{_PIXELS}.MULTICAST", has_effect=True)
def load_tile_to_blocks(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy to the same place in several blocks of the cluster, whose bits the last operand has."""
    place = only_register(i, i.operands[0])
    _, _, blocks = operands_of_copy(i, 3)
    with by_one_lane(ctx):
        multicast = Multicast(
            ctx.register(place), ctx.register(place.following(1)), blocks_of(ctx, blocks)
        )
        load_to_each(
            ctx, multicast, _map_and_shape(ctx, i), _coordinates(ctx, i, place.following(2))
        )


def load_to_each(
    ctx: LoweringContext, multicast: Multicast, tensor: list[Value], coordinates: list[Value]
) -> None:
    """Load a tile to each block, whose barrier gets the bytes; ``multicast``: shared addresses."""
    shift = ctx.ir.op("sub", place_in_first(ctx, multicast.place), multicast.place)
    barrier = place_in_first(ctx, multicast.barrier)
    where = multicast.place, shift, barrier, multicast.blocks, bytes_of_block(ctx)
    name = f"{SUPPORT_PREFIX}tensor_multicast"
    ctx.ir.call_void(name, *tensor, *where, *coordinates)


@lowers(f"UTMASTG.{_AXES}", f"UTMASTG.{_PIXELS}", has_effect=True)
def store_tile(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy to global memory; after the tile's address come the coordinates."""
    place = only_register(i, i.operands[0])
    with by_one_lane(ctx):
        arguments = _tile(ctx, i, place, place.following(1))
        ctx.ir.call_void(f"{SUPPORT_PREFIX}tensor_store", *arguments)


@lowers(
    f"UTMAREDG.{_AXES}.{{ADD,MIN,MAX,INC,DEC,AND,OR,XOR}}",
    f"UTMAREDG.{_PIXELS}.{{ADD,MIN,MAX,INC,DEC,AND,OR,XOR}}",
    has_effect=True,
)
def reduce_tile(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Combine numbers of shared memory with those of a tensor, each at once."""
    place = only_register(i, i.operands[0])
    how = i32(REDUCTIONS.index(i.one_of(*REDUCTIONS)))
    with by_one_lane(ctx):
        arguments = _tile(ctx, i, place, place.following(1))
        ctx.ir.call_void(f"{SUPPORT_PREFIX}tensor_reduce", *arguments, how)


@lowers(f"UTMAPF.L2.{_AXES}", f"UTMAPF.L2.{_PIXELS}", "UTMACCTL.PF")
def prefetch(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Prefetches a tile, pixels or a map, which changes nothing that a program can see."""
    del ctx, i
