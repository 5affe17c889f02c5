"""Bulk copies (PTX: ``cp.async.bulk``) between global and shared memory, and register pools.

A bulk copy is an instruction of the warp: one lane does it, at once. So groups of copies are
complete when they are waited for, and the barrier that a copy names gets its bytes with it. Shared
memory may be another block's of the cluster, or (``.multicast``) that of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Address, Name, Operand, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, SUPPORT_PREFIX, TRUE, Value, i32
from cass_ray.lift.lowering.clusters import place_in_first, place_in_lds
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import ballot, lane
from cass_ray.lift.lowering.semantics.mbarrier import complete_transactions
from cass_ray.lift.lowering.table import lowers

_POLICY = re.compile(r"desc\[UR\w+\]")
_UNIT_BITS, _UNITS = 4, 0xFFFF
"""Sizes are in units of 16 bytes, in the low half of a register."""


@contextmanager
def by_one_lane(ctx: LoweringContext) -> Iterator[None]:
    """Inside, code is run by the first active lane of the warp."""
    leader = ctx.ir.call("i32", "llvm.cttz.i32", ballot(ctx, TRUE), FALSE)
    with ctx.registers.skipped_unless(ctx.ir.icmp("eq", lane(ctx), leader)):
        yield


def operands_of_copy(i: DecodedInstruction, count: int) -> tuple[Operand, ...]:
    """Leave out the caches' policy that may follow (``.L2::cache_hint``), which changes nothing."""
    last = i.operands[-1]
    has_policy = isinstance(last, Name) and _POLICY.fullmatch(last.text)
    return i.operands.exactly(count + bool(has_policy))[:count]


def only_register(i: DecodedInstruction, operand: Operand) -> Register:
    """The one register of an address."""
    if not isinstance(operand, Address) or operand.offset or len(operand.terms) != 1:
        raise i.unknown("an address that is no register")
    return operand.terms[0]


def shared_word(ctx: LoweringContext, register: Register) -> Value:
    """Where an address in shared memory is in LDS."""
    return place_in_lds(ctx, ctx.register(register))


def _bytes(ctx: LoweringContext, operand: Operand) -> Value:
    units = ctx.ir.op("and", ctx.integer(operand), i32(_UNITS))
    return ctx.ir.op("shl", units, i32(_UNIT_BITS))


@lowers("UBLKCP.{S.G,S.S}", has_effect=True)
def copy_to_shared(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy to shared memory; the register after the target's has the barrier that counts bytes."""
    target, source, size = operands_of_copy(i, 3)
    place, origin = only_register(i, target), only_register(i, source)
    with by_one_lane(ctx):
        count, address = _bytes(ctx, size), shared_word(ctx, place)
        if i.has("G"):
            ctx.ir.call_void(f"{SUPPORT_PREFIX}bulk_load", address, ctx.wide(origin), count)
        else:
            ctx.ir.call_void(f"{SUPPORT_PREFIX}bulk_move", address, shared_word(ctx, origin), count)
        complete_transactions(ctx, shared_word(ctx, place.following(1)), count)


@lowers("UBLKCP.G.S", has_effect=True)
def copy_to_global(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy from shared to global memory."""
    target, source, size = operands_of_copy(i, 3)
    place, origin = only_register(i, target), only_register(i, source)
    with by_one_lane(ctx):
        address, count = shared_word(ctx, origin), _bytes(ctx, size)
        ctx.ir.call_void(f"{SUPPORT_PREFIX}bulk_store", ctx.wide(place), address, count)


@lowers("UBLKCP.S.G.MULTICAST", has_effect=True)
def copy_to_blocks(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy to the same place in several blocks, which the upper half of the size names."""
    target, source, size = operands_of_copy(i, 3)
    place, origin = only_register(i, target), only_register(i, source)
    with by_one_lane(ctx):
        multicast = Multicast(
            place_in_first(ctx, ctx.register(place)),
            place_in_first(ctx, ctx.register(place.following(1))),
            blocks_of(ctx, size),
        )
        copy_to_each(ctx, multicast, ctx.wide(origin), _bytes(ctx, size))


@dataclass(frozen=True)
class Multicast:
    """Where a copy and its barrier are in the first block's LDS, and to which blocks it goes."""

    place: Value
    barrier: Value
    blocks: Value
    """A bit for each."""


def blocks_of(ctx: LoweringContext, operand: Operand) -> Value:
    """The blocks that a multicast names: the upper half of a register."""
    if not ctx.environment.in_cluster:
        # The block itself is the only one, and has the first bit.
        return i32(1)
    return ctx.ir.op("lshr", ctx.integer(operand), i32(16))


def copy_to_each(ctx: LoweringContext, multicast: Multicast, source: Value, count: Value) -> None:
    """Copy ``count`` bytes from global memory to each block, whose barrier gets them."""
    arguments = (
        multicast.place,
        multicast.barrier,
        multicast.blocks,
        bytes_of_block(ctx),
        source,
        count,
    )
    ctx.ir.call_void(f"{SUPPORT_PREFIX}bulk_multicast", *arguments)


def bytes_of_block(ctx: LoweringContext) -> Value:
    """How far apart blocks are in LDS."""
    return ctx.banks.block_bytes() if ctx.environment.in_cluster else i32(0)


REDUCTIONS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR")
_KINDS = ("U32", "S32", "U64", "S64", "F32", "F64", "F16", "BF16")
"""Both in the order of ``llvm/device/reduction.hip``."""


@lowers(
    "UBLKRED.G.S.{ADD,MIN,MAX,INC,DEC,AND,OR,XOR}{,.S32,.U64,.S64}",
    "UBLKRED.G.S.ADD.{F32,F64,F16,BF16}.RN",
    "UBLKRED.G.S.{MIN,MAX}.{F16,BF16}.RN",
    has_effect=True,
)
def reduce_to_global(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Combine numbers of shared memory with those of global memory, each at once."""
    target, source, size = operands_of_copy(i, 3)
    place, origin = only_register(i, target), only_register(i, source)
    with by_one_lane(ctx):
        _reduce(ctx, i, ctx.wide(place), shared_word(ctx, origin), _bytes(ctx, size))


@lowers(
    "UBLKRED.S.S.ADD{,.S32,.U64}",
    "UBLKRED.S.S.{MIN,MAX}{,.S32}",
    "UBLKRED.S.S.{INC,DEC,AND,OR,XOR}",
    has_effect=True,
)
def reduce_to_shared(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Reduce to shared memory of a block of the cluster; the barrier is named as a copy's is."""
    target, source, size = operands_of_copy(i, 3)
    place, origin = only_register(i, target), only_register(i, source)
    with by_one_lane(ctx):
        count, word = _bytes(ctx, size), shared_word(ctx, place)
        address = ctx.ir.cast("inttoptr", word, "ptr addrspace(3)")
        generic = ctx.ir.cast("ptrtoint", ctx.ir.cast("addrspacecast", address, "ptr"), "i64")
        _reduce(ctx, i, generic, shared_word(ctx, origin), count)
        complete_transactions(ctx, shared_word(ctx, place.following(1)), count)


def _reduce(
    ctx: LoweringContext, i: DecodedInstruction, target: Value, source: Value, count: Value
) -> None:
    how = REDUCTIONS.index(i.one_of(*REDUCTIONS))
    kind = _KINDS.index(i.one_of(*_KINDS, default="U32"))
    ctx.ir.call_void(f"{SUPPORT_PREFIX}bulk_reduce", target, source, count, i32(how), i32(kind))


@lowers("USETMAXREG.{TRY_ALLOC,DEALLOC}{,.CTAPOOL}")
def set_registers(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Registers for the warp: there always are as many as it asks for."""
    for operand in i.operands:
        if isinstance(operand, Predicate):
            ctx.write_predicate(operand, TRUE)
