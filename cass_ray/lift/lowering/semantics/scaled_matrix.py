"""Matrix products of a warp in which blocks of each row and column have a scale.

PTX ISA, "Block Scaling for mma.sync": a scale is a byte of a word; selectors say of which lane of
each four, and which byte. They are in a uniform register: bits 0 and 1 the byte of A, 2 its pair
of lanes, 3 and 4 the byte of B, 5 and 6 its lane (ptxas 13.0 for all of them).
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.llvm.builder import Value, float_bits, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import from_lane, lane
from cass_ray.lift.lowering.semantics.fp8 import half_of_byte
from cass_ray.lift.lowering.semantics.matrix_product import (
    PACKED_FOURS,
    GatheredMatrices,
    MatrixShape,
    fragments,
    fused_singles,
    gather,
    plain_registers,
)
from cass_ray.lift.lowering.table import lowers

_SHAPE = MatrixShape(2, 2)
_NUMBERS = "{E4M3,E5M2,E3M2,E2M3,E2M1}"
_ONE, _NAN = float_bits(0x3F800000), float_bits(0x7FC00000)


@dataclass(frozen=True)
class _Scale:
    """``factor`` times a power of two."""

    factor: Value
    exponent: Value


@lowers(f"QMMA.SF.16832.F32.{_NUMBERS}.{_NUMBERS}.E8", has_effect=True)
def multiply_small_floats(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Numbers of eight, six and four bits in bytes, with one scale of each row (mxf8f6f4)."""
    _multiply(ctx, i, (i.modifiers[3], i.modifiers[4]), 1)


@lowers("OMMA.SF.16864.F32.E2M1.E2M1.{E8,UE4M3.4X}", has_effect=True)
def multiply_packed_fours(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Packed numbers of four bits, with two (mxf4) or four scales (mxf4nvf4) of each row."""
    _multiply(ctx, i, (PACKED_FOURS, PACKED_FOURS), 4 if i.has("4X") else 2)


def _multiply(
    ctx: LoweringContext, i: DecodedInstruction, kinds: tuple[str, str], blocks: int
) -> None:
    """Each block's products are summed, scaled and added to C; as in tensor memory."""
    _, _, _, sums, words_of_a, words_of_b, selectors = i.operands.exactly(7)
    matrices = gather(ctx, fragments(ctx, i, _SHAPE))
    totals = [ctx.ir.cast("bitcast", word, "float") for word in plain_registers(ctx, i, sums, 4)]
    (of_a,) = plain_registers(ctx, i, words_of_a, 1)
    (of_b,) = plain_registers(ctx, i, words_of_b, 1)
    rows, columns = _scale_words(ctx, of_a, of_b, ctx.integer(selectors))
    width = len(matrices.rows[0]) // blocks
    for block in range(blocks):
        span = slice(block * width, (block + 1) * width)
        lines = GatheredMatrices(
            [words[span] for words in matrices.rows], [words[span] for words in matrices.columns]
        )
        parts = fused_singles(ctx, lines, [i32(0)] * 4, kinds)
        scales = [[_scale(ctx, i, word, block) for word in words] for words in (rows, columns)]
        for n, part in enumerate(parts):
            a, b = scales[0][n // 2], scales[1][n % 2]
            # The factors first: their product is exact, and so is that with a power of two.
            factor = ctx.ir.op("fmul", a.factor, b.factor)
            scaled = ctx.ir.op("fmul", part, factor)
            exponent = ctx.ir.op("add", a.exponent, b.exponent)
            scaled = ctx.ir.call("float", "llvm.ldexp.f32.i32", scaled, exponent)
            totals[n] = ctx.ir.op("fadd", totals[n], scaled)
    ctx.write_words(i.operands[0], [ctx.ir.cast("bitcast", each, "i32") for each in totals])


def _scale_words(
    ctx: LoweringContext, of_a: Value, of_b: Value, selectors: Value
) -> tuple[list[Value], list[Value]]:
    """Words whose lowest byte is the first scale: of rows g and g + 8, of columns 2 t and 2 t + 1.

    Of A the lanes ``4 g + 2 p`` and the next one have them, p the pair that is selected; of B
    lane ``4 c + l`` has those of column c.
    """

    def field(first: int, mask: int) -> Value:
        return ctx.ir.op("and", ctx.ir.op("lshr", selectors, i32(first)), i32(mask))

    own = lane(ctx)
    pair = ctx.ir.op("add", ctx.ir.op("and", own, i32(~3)), ctx.ir.op("shl", field(2, 1), i32(1)))
    first_column = ctx.ir.op("shl", ctx.ir.op("and", own, i32(3)), i32(3))
    column = ctx.ir.op("add", first_column, field(5, 3))
    shifts = [ctx.ir.op("shl", field(first, 3), i32(3)) for first in (0, 3)]
    scales = [
        [from_lane(ctx, word, ctx.ir.op("add", start, i32(step * n))) for n in range(2)]
        for word, start, step in ((of_a, pair, 1), (of_b, column, 4))
    ]
    rows, columns = (
        [ctx.ir.op("lshr", word, shift) for word in words]
        for words, shift in zip(scales, shifts, strict=True)
    )
    return rows, columns


def _scale(ctx: LoweringContext, i: DecodedInstruction, word: Value, number: int) -> _Scale:
    """That of a block: a power of two (UE8M0, of which 255 is no number), or E4M3 without sign."""
    byte = ctx.ir.op("lshr", word, i32(8 * number))
    if i.has("UE4M3"):
        magnitude = ctx.ir.op("and", byte, i32(0x7F))
        half = ctx.ir.cast("trunc", half_of_byte(ctx, "E4M3", magnitude), "i16")
        number_of = ctx.ir.cast("fpext", ctx.ir.cast("bitcast", half, "half"), "float")
        return _Scale(number_of, i32(0))
    code = ctx.ir.op("and", byte, i32(0xFF))
    is_number = ctx.ir.icmp("ne", code, i32(0xFF))
    factor = ctx.ir.select(is_number, _ONE, _NAN)
    return _Scale(factor, ctx.ir.op("sub", code, i32(127)))
