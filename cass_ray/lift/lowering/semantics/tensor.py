"""Tensor cores: matrix products of a warp, by exchange between lanes and ordinary arithmetic.

Lane ``4 g + t`` (PTX's groupID g, threadID_in_group t) holds of A rows g and g + 8, of B column g,
and of C columns 2 t and 2 t + 1; a word of A or B holds consecutive elements along k (PTX ISA,
"Matrix Fragments for mma"). Integers are exact. Sums of products of halves are rounded at each
step, in the order of k; Nvidia's hardware aligns and cuts them its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Operand, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import from_lane, lane
from cass_ray.lift.lowering.semantics.float32 import TF32_LOST_BITS
from cass_ray.lift.lowering.table import lowers


@dataclass(frozen=True)
class MatrixShape:
    """Words of A for each of ``rows`` (1: g, 2: g and g + 8), and of B, along k."""

    rows: int
    words: int


_SHAPES = {
    "8816": MatrixShape(1, 1),
    "16816": MatrixShape(2, 1),
    "16832": MatrixShape(2, 2),
}
_HALF_SHAPES = {"1688": MatrixShape(2, 1), "16816": MatrixShape(2, 2)}


def _registers(
    ctx: LoweringContext, i: DecodedInstruction, operand: Operand, count: int
) -> list[Value]:
    if not isinstance(operand, Register) or operand.negated or operand.absolute:
        raise i.unknown("a matrix that is no plain register")
    if any(suffix not in ("ROW", "COL") for suffix in operand.suffixes):
        raise i.unknown(f"a matrix {operand.suffixes}")
    return [ctx.register(operand.following(number)) for number in range(count)]


@dataclass(frozen=True)
class GatheredMatrices:
    """Words of A by row, and of B by column (2 t, 2 t + 1), in the order of k."""

    rows: list[list[Value]]
    columns: list[list[Value]]


def _gather(ctx: LoweringContext, i: DecodedInstruction, shape: MatrixShape) -> GatheredMatrices:
    own = lane(ctx)
    a = _registers(ctx, i, i.operands[1], shape.rows * shape.words)
    b = _registers(ctx, i, i.operands[2], shape.words)
    group = ctx.ir.op("and", own, i32(~3))  # 4 g
    first_column = ctx.ir.op("shl", ctx.ir.op("and", own, i32(3)), i32(3))  # lane 4 (2 t)
    rows: list[list[Value]] = [[] for _ in range(shape.rows)]
    columns: list[list[Value]] = [[], []]
    for word in range(shape.words):
        for step in range(4):
            source = ctx.ir.op("add", group, i32(step))
            for row in range(shape.rows):
                rows[row].append(from_lane(ctx, a[word * shape.rows + row], source))
            for column in range(2):
                place = ctx.ir.op("add", first_column, i32(4 * column + step))
                columns[column].append(from_lane(ctx, b[word], place))
    return GatheredMatrices(rows, columns)


_NIBBLE_SHAPES = {
    "8832": MatrixShape(1, 1),
    "16832": MatrixShape(2, 1),
    "16864": MatrixShape(2, 2),
}


@lowers("IMMA.{8832,16832,16864}.{U4,S4}.{U4,S4}{,.SAT}", has_effect=True)
def multiply_nibbles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Integers of four bits, summed in words; with .SAT the last sum saturates."""
    shape = _NIBBLE_SHAPES[i.modifiers[0]]
    signs = (i.modifiers[1] == "S4", i.modifiers[2] == "S4")

    def dot(words: tuple[Value, Value], total: Value) -> Value:
        return _dot_of_nibbles(ctx, words, signs, total)

    _multiply_integers(ctx, i, _gather(ctx, i, shape), dot)


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

    _multiply_integers(ctx, i, _gather(ctx, i, _BIT_SHAPES[i.modifiers[0]]), count)


@lowers("IMMA.{8816,16816,16832}.{U8,S8}.{U8,S8}{,.SAT}", has_effect=True)
def multiply_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Bytes, summed in words; with .SAT the last sum, with what was there before, saturates."""
    signs = (i.modifiers[1] == "S8", i.modifiers[2] == "S8")

    def dot(words: tuple[Value, Value], total: Value) -> Value:
        return dot_of_bytes(ctx, words, signs, total)

    _multiply_integers(ctx, i, _gather(ctx, i, _SHAPES[i.modifiers[0]]), dot)


def _multiply_integers(
    ctx: LoweringContext,
    i: DecodedInstruction,
    gathered: GatheredMatrices,
    dot: Callable[[tuple[Value, Value], Value], Value],
) -> None:
    """``dot`` adds the products of two words to a sum."""
    sums = _registers(ctx, i, i.operands[3], 2 * len(gathered.rows))
    results = []
    for row, words in enumerate(gathered.rows):
        for column in range(2):
            before = sums[2 * row + column]
            total = i32(0) if i.has("SAT") else before
            for pair in zip(words, gathered.columns[column], strict=True):
                total = dot(pair, total)
            if i.has("SAT"):
                total = ctx.ir.call("i32", "llvm.sadd.sat.i32", before, total)
            results.append(total)
    ctx.write_words(i.operands[0], results)


def dot_of_bytes(
    ctx: LoweringContext, words: tuple[Value, Value], signs: tuple[bool, bool], total: Value
) -> Value:
    """``total`` and the products of four bytes of each word; ``signs``: which are signed."""
    a, b = words
    if ctx.environment.target.has_mixed_dot:
        flags = [TRUE if sign else FALSE for sign in signs]
        arguments = (flags[0], a, flags[1], b, total, FALSE)
        return ctx.ir.call("i32", "llvm.amdgcn.sudot4", *arguments)
    if signs[0] == signs[1]:
        name = f"llvm.amdgcn.{'s' if signs[0] else 'u'}dot4"
        return ctx.ir.call("i32", name, a, b, total, FALSE)
    signed, unsigned = (a, b) if signs[0] else (b, a)
    # An unsigned byte is 128 more than the signed one with the opposite top bit.
    moved = ctx.ir.op("xor", unsigned, i32(0x80808080))
    total = ctx.ir.call("i32", "llvm.amdgcn.sdot4", signed, moved, total, FALSE)
    plain = ctx.ir.call("i32", "llvm.amdgcn.sdot4", signed, i32(0x01010101), i32(0), FALSE)
    return ctx.ir.op("add", total, ctx.ir.op("shl", plain, i32(7)))


@lowers("HMMA.{1688,16816}.F32{,.BF16}", has_effect=True)
def multiply_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """fp16 or bf16, summed in single precision."""
    shape = _HALF_SHAPES[i.modifiers[0]]
    kind = "bfloat" if i.has("BF16") else "half"
    sums = _registers(ctx, i, i.operands[3], 4)
    totals = [ctx.ir.cast("bitcast", word, "float") for word in sums]
    results = _products(ctx, _gather(ctx, i, shape), totals, kind)
    ctx.write_words(i.operands[0], results)


@lowers("HMMA.{1684,1688}.F32.TF32", has_effect=True)
def multiply_tf32(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Single precision cut to eleven bits, one number a word."""
    shape = MatrixShape(2, 1 if i.has("1684") else 2)
    gathered = _gather(ctx, i, shape)
    sums = [ctx.ir.cast("bitcast", word, "float") for word in _registers(ctx, i, i.operands[3], 4)]
    results = []
    for row in range(2):
        for column in range(2):
            total = sums[2 * row + column]
            words = zip(gathered.rows[row], gathered.columns[column], strict=True)
            for a, b in words:
                cut = (ctx.ir.op("and", word, i32(-1 << TF32_LOST_BITS)) for word in (a, b))
                factors = [ctx.ir.cast("bitcast", word, "float") for word in cut]
                total = ctx.ir.call("float", "llvm.fma.f32", *factors, total)
            results.append(total)
    ctx.write_words(i.operands[0], results)


@lowers("DMMA.{884,8x8x4}", has_effect=True)
def multiply_doubles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Double precision, four products each."""
    own = lane(ctx)
    group = ctx.ir.op("and", own, i32(~3))
    first_column = ctx.ir.op("shl", ctx.ir.op("and", own, i32(3)), i32(3))
    a = _registers(ctx, i, i.operands[1], 2)
    b = _registers(ctx, i, i.operands[2], 2)
    sums = _registers(ctx, i, i.operands[3], 4)
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
    ctx.write_words(i.operands[0], results)


def _double_from(ctx: LoweringContext, words: list[Value], number: Value) -> Value:
    low, high = (from_lane(ctx, word, number) for word in words)
    return ctx.ir.cast("bitcast", ctx.ir.pair(low, high), "double")


@lowers("HMMA.{1688,16816}.F16", has_effect=True)
def multiply_halves_to_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """fp16, summed in single precision and rounded at the end."""
    shape = _HALF_SHAPES[i.modifiers[0]]
    totals: list[Value] = []
    for word in _registers(ctx, i, i.operands[3], 2):
        pair = ctx.ir.result("<2 x half>", f"bitcast {word} to <2 x half>")
        totals += [ctx.ir.cast("fpext", ctx.ir.element(pair, n, "half"), "float") for n in range(2)]
    sums = _products(ctx, _gather(ctx, i, shape), totals, "half")
    halves = [ctx.ir.cast("fptrunc", value, "half") for value in sums]
    pairs = [ctx.ir.vector(halves[:2]), ctx.ir.vector(halves[2:])]
    ctx.write_words(i.operands[0], [ctx.ir.result("i32", f"bitcast {p} to i32") for p in pairs])


def _products(
    ctx: LoweringContext, gathered: GatheredMatrices, totals: list[Value], kind: str
) -> list[Value]:
    rows = [[_pair(ctx, word, kind) for word in words] for words in gathered.rows]
    columns = [[_pair(ctx, word, kind) for word in words] for words in gathered.columns]
    results = []
    for row in range(2):
        for column in range(2):
            total = totals[2 * row + column]
            for left, right in zip(rows[row], columns[column], strict=True):
                for a, b in zip(left, right, strict=True):
                    total = ctx.ir.call("float", "llvm.fma.f32", a, b, total)
            results.append(total)
    return results


def _pair(ctx: LoweringContext, word: Value, kind: str) -> list[Value]:
    vector = ctx.ir.result(f"<2 x {kind}>", f"bitcast {word} to <2 x {kind}>")
    return [ctx.ir.cast("fpext", ctx.ir.element(vector, n, kind), "float") for n in range(2)]
