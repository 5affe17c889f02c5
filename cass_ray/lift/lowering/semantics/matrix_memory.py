"""8 × 8 matrices of halves: between shared memory and a warp's registers, and transposed.

A lane's word is two halves that are neighbours in a row (``M88``) or in a column (``MT88``): lane
``4 g + t`` holds columns 2 t and 2 t + 1 of row g (PTX ISA, "ldmatrix").
"""

from __future__ import annotations

from collections.abc import Iterator

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Register
from cass_ray.lift.llvm.builder import Value, i32
from cass_ray.lift.lowering.clusters import own_shift
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import from_lane, lane
from cass_ray.lift.lowering.semantics.memory import address_of, narrow_address
from cass_ray.lift.lowering.table import lowers

_SHARED = "ptr addrspace(3)"


def _places(ctx: LoweringContext, i: DecodedInstruction) -> Iterator[Iterator[Value]]:
    """Say of each matrix where shared memory has what the lane holds of it: a word, or two halves.

    Lane 8 m + r has the address of row r of matrix m. What finds a place is written when it is
    asked for.
    """
    address = address_of(i)
    base = ctx.ir.op(
        "add",
        narrow_address(ctx, i, address),
        ctx.ir.op("add", own_shift(ctx), i32(address.offset)),
    )
    own = lane(ctx)
    group, inside = ctx.ir.op("lshr", own, i32(2)), ctx.ir.op("and", own, i32(3))

    def at(row: Value, column: Value, shift: int) -> Value:
        place = ctx.ir.op("add", from_lane(ctx, base, row), ctx.ir.op("shl", column, i32(shift)))
        return ctx.ir.cast("inttoptr", place, _SHARED)

    def of(first_row: int) -> Iterator[Value]:
        if i.has("M88"):
            yield at(ctx.ir.op("add", group, i32(first_row)), inside, 2)
            return
        for number in range(2):
            row = ctx.ir.op("add", ctx.ir.op("shl", inside, i32(1)), i32(first_row + number))
            yield at(row, group, 1)

    return (of(8 * matrix) for matrix in range(int(i.one_of("2", "4", default="1"))))


@lowers("LDSM.16.{M88,MT88}{,.2,.4}", has_effect=True)
def load_matrices(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Matrices from shared memory."""
    words = []
    for places in _places(ctx, i):
        if i.has("M88"):
            words += [ctx.ir.load("i32", place, 4) for place in places]
            continue
        low, high = (ctx.ir.cast("zext", ctx.ir.load("i16", place, 2), "i32") for place in places)
        words.append(ctx.ir.op("or", low, ctx.ir.op("shl", high, i32(16))))
    ctx.write_words(i.operands[0], words)


@lowers("STSM.16.{M88,MT88}{,.2,.4}", has_effect=True)
def store_matrices(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Matrices to shared memory, where :func:`load_matrices` finds them."""
    source = i.operands[-1]
    if not isinstance(source, Register) or source.negated or source.absolute or source.suffixes:
        raise i.unknown("a matrix that is no plain register")
    for matrix, places in enumerate(_places(ctx, i)):
        word = ctx.register(source.following(matrix))
        if i.has("M88"):
            for place in places:
                ctx.ir.store(word, place, 4)
            continue
        for number, place in enumerate(places):
            half = ctx.ir.cast("trunc", ctx.ir.op("lshr", word, i32(16 * number)), "i16")
            ctx.ir.store(half, place, 2)
    # As behind each store to shared memory: what follows stays there.
    ctx.ir.line('fence syncscope("singlethread") acq_rel')


@lowers("MOVM.16.MT88", has_effect=True)
def transpose(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Transpose an 8 × 8 matrix of halves that the warp holds, a row in four lanes."""
    own = lane(ctx)
    group, inside = ctx.ir.op("lshr", own, i32(2)), ctx.ir.op("and", own, i32(3))
    word = ctx.integer(i.operands[1])
    odd = ctx.ir.icmp("ne", ctx.ir.op("and", group, i32(1)), i32(0))
    halves = []
    for number in range(2):
        row = ctx.ir.op("add", ctx.ir.op("shl", inside, i32(1)), i32(number))
        source = ctx.ir.op("add", ctx.ir.op("shl", row, i32(2)), ctx.ir.op("lshr", group, i32(1)))
        moved = from_lane(ctx, word, source)
        high, low = ctx.ir.op("lshr", moved, i32(16)), ctx.ir.op("and", moved, i32(0xFFFF))
        halves.append(ctx.select(odd, high, low))
    ctx.write(i.operands[0], ctx.ir.op("or", halves[0], ctx.ir.op("shl", halves[1], i32(16))))


@lowers("MOVM.U4TO8.M832", has_effect=True)
def spread_nibbles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """An 8 × 32 matrix of nibbles as one of bytes, each as fragments of A and of B have it.

    ptxas makes it for products of single bits from sm_100 on, and of nothing else; they are the
    same in whatever order the elements of a row are, as long as both matrices have it.
    """
    own = lane(ctx)
    group, inside = ctx.ir.op("and", own, i32(~3)), ctx.ir.op("and", own, i32(3))
    word = ctx.integer(i.operands[1])
    start = ctx.ir.op("add", group, ctx.ir.op("lshr", inside, i32(1)))
    shift = ctx.ir.op("shl", ctx.ir.op("and", inside, i32(1)), i32(4))
    words = []
    for half in range(2):  # of a row: 16 elements, in two lanes of four
        moved = from_lane(ctx, word, ctx.ir.op("add", start, i32(2 * half)))
        spread = ctx.ir.op("and", ctx.ir.op("lshr", moved, shift), i32(0xFFFF))
        for distance, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F)):
            shifted = ctx.ir.op("shl", spread, i32(distance))
            spread = ctx.ir.op("and", ctx.ir.op("or", spread, shifted), i32(mask))
        words.append(spread)
    ctx.write_words(i.operands[0], words)
