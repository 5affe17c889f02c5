"""Tensor cores: matrix products of a warp; :mod:`.matrix_product` writes them."""

from __future__ import annotations

from collections.abc import Sequence

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.llvm.builder import Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import from_lane, lane
from cass_ray.lift.lowering.matrix_unit import Fragments
from cass_ray.lift.lowering.semantics.float32 import TF32_LOST_BITS
from cass_ray.lift.lowering.semantics.matrix_product import (
    Dot,
    MatrixShape,
    OfDoubles,
    dot_of_bytes,
    fragments,
    multiply,
    multiply_integers,
    multiply_to_halves,
    multiply_to_singles,
    of_floats,
    of_integers,
    plain_registers,
)
from cass_ray.lift.lowering.table import lowers

_SHAPES = {
    "8816": MatrixShape(1, 1),
    "16816": MatrixShape(2, 1),
    "16832": MatrixShape(2, 2),
}
_HALF_SHAPES = {"1688": MatrixShape(2, 1), "16816": MatrixShape(2, 2)}


_NIBBLE_SHAPES = {
    "8832": MatrixShape(1, 1),
    "16832": MatrixShape(2, 1),
    "16864": MatrixShape(2, 2),
}


@lowers("IMMA.{8832,16832,16864}.{U4,S4}.{U4,S4}{,.SAT}", has_effect=True)
def multiply_nibbles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Integers of four bits, summed in words; with .SAT the last sum saturates."""
    matrices = fragments(ctx, i, _NIBBLE_SHAPES[i.modifiers[0]])
    multiply_integers(ctx, i, matrices, of_nibbles(ctx, i.modifiers[1:3]))


def of_nibbles(ctx: LoweringContext, kinds: Sequence[str]) -> Dot:
    """Products of nibbles; ``kinds`` of A and of B: U4 or S4."""
    signs = (kinds[0] == "S4", kinds[1] == "S4")

    def dot(words: tuple[Value, Value], total: Value) -> Value:
        return _dot_of_nibbles(ctx, words, signs, total)

    return Dot(dot, of_integers(ctx, "i4", signs), signs)


def _dot_of_nibbles(
    ctx: LoweringContext, words: tuple[Value, Value], signs: tuple[bool, bool], total: Value
) -> Value:
    """A signed nibble is taken as the upper one of a byte, which is sixteen times as much."""
    for is_odd in (False, True):
        parts = [
            _nibbles(ctx, word, is_odd=is_odd, upper=sign)
            for word, sign in zip(words, signs, strict=True)
        ]
        dot = dot_of_bytes(ctx, (parts[0], parts[1]), signs, i32(0))
        total = ctx.ir.op("add", total, ctx.ir.op("ashr", dot, i32(4 * sum(signs))))
    return total


def _nibbles(ctx: LoweringContext, word: Value, *, is_odd: bool, upper: bool) -> Value:
    """Every other nibble of a word, in bytes."""
    if is_odd != upper:
        word = ctx.ir.op("lshr" if is_odd else "shl", word, i32(4))
    return ctx.ir.op("and", word, i32(0xF0F0F0F0 if upper else 0x0F0F0F0F))


_BIT_SHAPES = {
    "88128": MatrixShape(1, 1),
    "168128": MatrixShape(2, 1),
    "168256": MatrixShape(2, 2),
}


@lowers("BMMA.{88128,168128,168256}.{AND,XOR}.POPC", has_effect=True)
def multiply_bits(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Ones in the conjunction or difference of a row and a column."""
    operation = "xor" if i.has("XOR") else "and"

    def count(words: tuple[Value, Value], total: Value) -> Value:
        ones = ctx.ir.call("i32", "llvm.ctpop.i32", ctx.ir.op(operation, *words))
        return ctx.ir.op("add", total, ones)

    multiply_integers(ctx, i, fragments(ctx, i, _BIT_SHAPES[i.modifiers[0]]), Dot(count))


@lowers("IMMA.{8816,16816,16832}.{U8,S8}.{U8,S8}{,.SAT}", has_effect=True)
def multiply_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Bytes, summed in words; with .SAT the last sum, with what was there before, saturates."""
    matrices = fragments(ctx, i, _SHAPES[i.modifiers[0]])
    multiply_integers(ctx, i, matrices, of_bytes(ctx, i.modifiers[1:3]))


def of_bytes(ctx: LoweringContext, kinds: Sequence[str]) -> Dot:
    """Products of bytes; ``kinds`` of A and of B: U8 or S8."""
    signs = (kinds[0] == "S8", kinds[1] == "S8")

    def dot(words: tuple[Value, Value], total: Value) -> Value:
        return dot_of_bytes(ctx, words, signs, total)

    return Dot(dot, of_integers(ctx, "i8", signs), signs)


@lowers("HMMA.{1688,16816}.F32{,.BF16}", has_effect=True)
def multiply_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """fp16 or bf16, summed in single precision."""
    kind = "bfloat" if i.has("BF16") else "half"
    matrices = fragments(ctx, i, _HALF_SHAPES[i.modifiers[0]])
    multiply_to_singles(ctx, i, matrices, (kind, kind))


@lowers("HMMA.{1684,1688}.F32.TF32", has_effect=True)
def multiply_tf32(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Single precision cut to eleven bits, one number a word."""
    matrices = fragments(ctx, i, MatrixShape(2, 1 if i.has("1684") else 2))

    multiply_to_singles(ctx, i, as_tf32(ctx, matrices), ("float", "float"))


def as_tf32(ctx: LoweringContext, matrices: Fragments) -> Fragments:
    """Numbers of single precision without the bits that tensor cores do not look at."""

    def cut(words: Sequence[Value]) -> list[Value]:
        return [ctx.ir.op("and", word, i32(-1 << TF32_LOST_BITS)) for word in words]

    return Fragments([cut(row) for row in matrices.rows], cut(matrices.columns))


@lowers("DMMA.{884,8x8x4}", has_effect=True)
def multiply_doubles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Double precision, four products each."""
    a = plain_registers(ctx, i, i.operands[1], 2)
    b = plain_registers(ctx, i, i.operands[2], 2)
    sums = plain_registers(ctx, i, i.operands[3], 4)
    product = OfDoubles(a, b, sums, lambda: _fused_doubles(ctx, a, b, sums))
    multiply(ctx, i, of_floats(ctx, "double"), product)


def _fused_doubles(
    ctx: LoweringContext, a: list[Value], b: list[Value], sums: list[Value]
) -> list[Value]:
    own = lane(ctx)
    group = ctx.ir.op("and", own, i32(~3))
    first_column = ctx.ir.op("shl", ctx.ir.op("and", own, i32(3)), i32(3))
    results: list[Value] = []
    for column in range(2):
        total = ctx.ir.cast(
            "bitcast", ctx.ir.pair(sums[2 * column], sums[2 * column + 1]), "double"
        )
        for step in range(4):
            left = ctx.ir.op("add", group, i32(step))
            right = ctx.ir.op("add", first_column, i32(4 * column + step))
            factors = [_double_from(ctx, a, left), _double_from(ctx, b, right)]
            total = ctx.ir.call("double", "llvm.fma.f64", *factors, total)
        bits = ctx.ir.cast("bitcast", total, "i64")
        results += [ctx.ir.low(bits), ctx.ir.high(bits)]
    return results


def _double_from(ctx: LoweringContext, words: list[Value], number: Value) -> Value:
    low, high = (from_lane(ctx, word, number) for word in words)
    return ctx.ir.cast("bitcast", ctx.ir.pair(low, high), "double")


@lowers("HMMA.{1688,16816}.F16", has_effect=True)
def multiply_halves_to_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """fp16, summed in single precision and rounded at the end."""
    matrices = fragments(ctx, i, _HALF_SHAPES[i.modifiers[0]])
    multiply_to_halves(ctx, i, matrices, ("half", "half"))


_SMALL_FLOATS = "{E4M3,E5M2,E3M2,E2M3,E2M1}"


@lowers("QMMA.16816.{F32,F16}.{E4M3,E5M2}.{E4M3,E5M2}", has_effect=True)
@lowers(f"QMMA.16832.{{F32,F16}}.{_SMALL_FLOATS}.{_SMALL_FLOATS}", has_effect=True)
def multiply_small_floats(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Floating-point numbers of eight, six and four bits, summed as halves are."""
    matrices = fragments(ctx, i, _SHAPES[i.modifiers[0]])
    kinds = i.modifiers[2], i.modifiers[3]
    if i.has("F16"):
        multiply_to_halves(ctx, i, matrices, kinds)
    else:
        multiply_to_singles(ctx, i, matrices, kinds)
