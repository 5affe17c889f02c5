"""Tensor cores: matrix products of a warp, by AMD's matrix instructions or by ordinary ones.

Lane ``4 g + t`` (PTX's groupID g, threadID_in_group t) holds of A rows g and g + 8, of B column g,
and of C columns 2 t and 2 t + 1; a word of A or B holds consecutive elements along k (PTX ISA,
"Matrix Fragments for mma"). Integers are exact either way. Sums of products of halves are rounded
at each step, in the order of k, or, if that is asked for, as AMD's matrix instructions do it;
Nvidia's hardware aligns and cuts them its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Operand, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32, i64
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import ballot_of_wave, from_lane, lane
from cass_ray.lift.lowering.matrix_instructions import MatrixInstruction
from cass_ray.lift.lowering.matrix_unit import DoubleProduct, Fragments, WarpProduct
from cass_ray.lift.lowering.semantics.float32 import TF32_LOST_BITS
from cass_ray.lift.lowering.semantics.fp8 import half_of_byte
from cass_ray.lift.lowering.table import lowers
from cass_ray.lift.lowering.target import WARP_LANES


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


def _fragments(ctx: LoweringContext, i: DecodedInstruction, shape: MatrixShape) -> Fragments:
    a = _registers(ctx, i, i.operands[1], shape.rows * shape.words)
    b = _registers(ctx, i, i.operands[2], shape.words)
    return Fragments([a[row :: shape.rows] for row in range(shape.rows)], b)


@dataclass(frozen=True)
class GatheredMatrices:
    """Words of A by row, and of B by column (2 t, 2 t + 1), in the order of k."""

    rows: list[list[Value]]
    columns: list[list[Value]]


def _gather(ctx: LoweringContext, given: Fragments) -> GatheredMatrices:
    own = lane(ctx)
    group = ctx.ir.op("and", own, i32(~3))  # 4 g
    first_column = ctx.ir.op("shl", ctx.ir.op("and", own, i32(3)), i32(3))  # lane 4 (2 t)
    rows: list[list[Value]] = [[] for _ in given.rows]
    columns: list[list[Value]] = [[], []]
    for number, word in enumerate(given.columns):
        for step in range(4):
            source = ctx.ir.op("add", group, i32(step))
            for row, words in zip(rows, given.rows, strict=True):
                row.append(from_lane(ctx, words[number], source))
            for column in range(2):
                place = ctx.ir.op("add", first_column, i32(4 * column + step))
                columns[column].append(from_lane(ctx, word, place))
    return GatheredMatrices(rows, columns)


class _TwoWays(Protocol):
    """A product by a matrix instruction, or without one; each gives registers of the result."""

    def prepare(self, ctx: LoweringContext, instruction: MatrixInstruction) -> None:
        """Do what may be done before the way is chosen, and costs little."""

    def by_unit(self, ctx: LoweringContext, instruction: MatrixInstruction) -> list[Value]:
        """With all lanes of the wave."""

    @property
    def by_lanes(self) -> Callable[[], list[Value]]:
        """By ordinary arithmetic."""


@dataclass(frozen=True)
class _Product:
    """A product of words of elements."""

    given: Fragments
    signs: tuple[bool, bool]
    """Which of A and B are signed."""
    sums: list[Value]
    """The registers of C."""
    added: Callable[[list[Value], list[Value]], list[Value]]
    """Registers of the result, of those of C and elements of the product."""
    by_lanes: Callable[[], list[Value]]
    """Registers of the result, by ordinary arithmetic."""
    is_sum: bool = True
    """Whether it is nothing but the sum of C and the product, so that others may follow."""

    def prepare(self, ctx: LoweringContext, instruction: MatrixInstruction) -> None:
        """What is reckoned here serves again in the block."""
        self._unit(ctx, instruction).find_places()

    def by_unit(self, ctx: LoweringContext, instruction: MatrixInstruction) -> list[Value]:
        """Products that follow each other in a block are summed before lanes are given theirs:
        LLVM drops what nobody reads in between.
        """
        unit = self._unit(ctx, instruction)
        made, count = ctx.registers.made, len(self.sums)
        earlier = made.get(("sums", *self.sums), []) if self.is_sum else []
        sums, before = earlier[:count] or self.sums, earlier[count:] or None
        found = unit.of(self.given, self.signs, before)
        results = self.added(sums, unit.returned(found, len(self.given.rows)))
        results = [ctx.ir.cast("bitcast", each, "i32") for each in results]
        if self.is_sum:
            made["sums", *results] = [*sums, *found]
        return results

    def _unit(self, ctx: LoweringContext, instruction: MatrixInstruction) -> WarpProduct:
        unit = ctx.environment.target.matrix_unit
        assert unit is not None
        return WarpProduct(ctx, unit, instruction)


@dataclass(frozen=True)
class _OfDoubles:
    """A product of doubles: registers of A, of B and of C."""

    a: list[Value]
    b: list[Value]
    sums: list[Value]
    by_lanes: Callable[[], list[Value]]

    def prepare(self, ctx: LoweringContext, instruction: MatrixInstruction) -> None:
        """Nothing."""

    def by_unit(self, ctx: LoweringContext, instruction: MatrixInstruction) -> list[Value]:
        """C is what the instruction begins with, as the first of the fused sums does."""
        return DoubleProduct(ctx, instruction).of(self.a, self.b, self.sums)


def _multiply(
    ctx: LoweringContext,
    i: DecodedInstruction,
    instruction: MatrixInstruction | None,
    product: _TwoWays,
) -> None:
    """By ``instruction``, if there is one: it needs all lanes of a wave."""
    pairs = ctx.environment.target.pairs_warps
    is_never_whole = pairs and ctx.environment.kernel.max_threads <= WARP_LANES
    if instruction is None or ctx.turns is not None or is_never_whole:
        ctx.write_words(i.operands[0], product.by_lanes())
    elif not pairs:
        ctx.write_words(i.operands[0], product.by_unit(ctx, instruction))
    else:
        # Fragments are gathered inside: a wave of which half is empty is spared that.
        product.prepare(ctx, instruction)
        are_all_here = ctx.ir.icmp("eq", ballot_of_wave(ctx, TRUE), i64(-1))
        with ctx.registers.skipped_unless(are_all_here, keeps_made=True):
            ctx.write_words(i.operands[0], product.by_unit(ctx, instruction))
        with ctx.registers.skipped_unless(ctx.ir.invert(are_all_here)):
            ctx.write_words(i.operands[0], product.by_lanes())


def _of_integers(
    ctx: LoweringContext, kind: str, signs: tuple[bool, bool]
) -> MatrixInstruction | None:
    """The matrix instruction for integers; none for two unsigned ones if it knows signed only."""
    unit = ctx.environment.target.matrix_unit
    instruction = unit.integers.get(kind) if unit else None
    return instruction if instruction and (instruction.has_signs or any(signs)) else None


def _of_floats(ctx: LoweringContext, kind: str) -> MatrixInstruction | None:
    target = ctx.environment.target
    unit = target.matrix_unit if target.multiplies_floats_natively else None
    return unit.floats.get(kind) if unit else None


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

    _multiply_integers(ctx, i, shape, _Dot(dot, _of_integers(ctx, "i4", signs), signs))


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

    _multiply_integers(ctx, i, _BIT_SHAPES[i.modifiers[0]], _Dot(count))


@lowers("IMMA.{8816,16816,16832}.{U8,S8}.{U8,S8}{,.SAT}", has_effect=True)
def multiply_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Bytes, summed in words; with .SAT the last sum, with what was there before, saturates."""
    signs = (i.modifiers[1] == "S8", i.modifiers[2] == "S8")

    def dot(words: tuple[Value, Value], total: Value) -> Value:
        return dot_of_bytes(ctx, words, signs, total)

    instruction = _of_integers(ctx, "i8", signs)
    _multiply_integers(ctx, i, _SHAPES[i.modifiers[0]], _Dot(dot, instruction, signs))


@dataclass(frozen=True)
class _Dot:
    """Adds the products of two words to a sum; the matrix instruction that does so, if any."""

    accumulate: Callable[[tuple[Value, Value], Value], Value]
    instruction: MatrixInstruction | None = None
    signs: tuple[bool, bool] = (True, True)


def _multiply_integers(
    ctx: LoweringContext, i: DecodedInstruction, shape: MatrixShape, dot: _Dot
) -> None:
    given = _fragments(ctx, i, shape)
    sums = _registers(ctx, i, i.operands[3], 2 * shape.rows)

    def plus(before: Value, total: Value) -> Value:
        if i.has("SAT"):
            return ctx.ir.call("i32", "llvm.sadd.sat.i32", before, total)
        return ctx.ir.op("add", before, total)

    def added(before: list[Value], totals: list[Value]) -> list[Value]:
        return [plus(*pair) for pair in zip(before, totals, strict=True)]

    def by_lanes() -> list[Value]:
        gathered = _gather(ctx, given)
        results = []
        for number, before in enumerate(sums):
            words = gathered.rows[number // 2], gathered.columns[number % 2]
            total = i32(0) if i.has("SAT") else before
            for pair in zip(*words, strict=True):
                total = dot.accumulate(pair, total)
            results.append(plus(before, total) if i.has("SAT") else total)
        return results

    product = _Product(given, dot.signs, sums, added, by_lanes, is_sum=not i.has("SAT"))
    _multiply(ctx, i, dot.instruction, product)


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
    kind = "bfloat" if i.has("BF16") else "half"
    given = _fragments(ctx, i, _HALF_SHAPES[i.modifiers[0]])
    _multiply_to_singles(ctx, i, given, (kind, kind))


@lowers("HMMA.{1684,1688}.F32.TF32", has_effect=True)
def multiply_tf32(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Single precision cut to eleven bits, one number a word."""
    given = _fragments(ctx, i, MatrixShape(2, 1 if i.has("1684") else 2))

    def cut(words: Sequence[Value]) -> list[Value]:
        return [ctx.ir.op("and", word, i32(-1 << TF32_LOST_BITS)) for word in words]

    given = Fragments([cut(row) for row in given.rows], cut(given.columns))
    _multiply_to_singles(ctx, i, given, ("float", "float"))


def _multiply_to_singles(
    ctx: LoweringContext, i: DecodedInstruction, given: Fragments, kinds: tuple[str, str]
) -> None:
    sums = _registers(ctx, i, i.operands[3], 4)

    def numbers(words: list[Value]) -> list[Value]:
        return [ctx.ir.cast("bitcast", word, "float") for word in words]

    def added(before: list[Value], totals: list[Value]) -> list[Value]:
        return _float_sums(ctx, numbers(before), totals)

    def by_lanes() -> list[Value]:
        return _fused_sums(ctx, _gather(ctx, given), numbers(sums), kinds)

    product = _Product(given, (True, True), sums, added, by_lanes)
    _multiply(ctx, i, _of_floats(ctx, kinds[0]), product)


@lowers("DMMA.{884,8x8x4}", has_effect=True)
def multiply_doubles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Double precision, four products each."""
    a = _registers(ctx, i, i.operands[1], 2)
    b = _registers(ctx, i, i.operands[2], 2)
    sums = _registers(ctx, i, i.operands[3], 4)
    product = _OfDoubles(a, b, sums, lambda: _fused_doubles(ctx, a, b, sums))
    _multiply(ctx, i, _of_floats(ctx, "double"), product)


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
    given = _fragments(ctx, i, _HALF_SHAPES[i.modifiers[0]])
    _multiply_to_halves(ctx, i, given, ("half", "half"))


@lowers("QMMA.{16816,16832}.{F32,F16}.{E4M3,E5M2}.{E4M3,E5M2}", has_effect=True)
def multiply_small_floats(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Floating-point numbers of eight bits, summed as halves are."""
    given = _fragments(ctx, i, _SHAPES[i.modifiers[0]])
    kinds = i.modifiers[2], i.modifiers[3]
    if i.has("F16"):
        _multiply_to_halves(ctx, i, given, kinds)
    else:
        _multiply_to_singles(ctx, i, given, kinds)


def _multiply_to_halves(
    ctx: LoweringContext, i: DecodedInstruction, given: Fragments, kinds: tuple[str, str]
) -> None:
    sums = _registers(ctx, i, i.operands[3], 2)

    def numbers(words: list[Value]) -> list[Value]:
        return [number for word in words for number in _numbers(ctx, word, "half")]

    def rounded(totals: list[Value]) -> list[Value]:
        halves = [ctx.ir.cast("fptrunc", value, "half") for value in totals]
        pairs = [ctx.ir.vector(halves[:2]), ctx.ir.vector(halves[2:])]
        return [ctx.ir.result("i32", f"bitcast {pair} to i32") for pair in pairs]

    def added(before: list[Value], totals: list[Value]) -> list[Value]:
        return rounded(_float_sums(ctx, numbers(before), totals))

    def by_lanes() -> list[Value]:
        return rounded(_fused_sums(ctx, _gather(ctx, given), numbers(sums), kinds))

    product = _Product(given, (True, True), sums, added, by_lanes, is_sum=False)
    _multiply(ctx, i, _of_floats(ctx, kinds[0]), product)


def _float_sums(ctx: LoweringContext, left: list[Value], right: list[Value]) -> list[Value]:
    pairs = zip(left, right, strict=True)
    return [ctx.ir.result("float", f"fadd {a}, {b.name}") for a, b in pairs]


def _fused_sums(
    ctx: LoweringContext, gathered: GatheredMatrices, totals: list[Value], kinds: tuple[str, str]
) -> list[Value]:
    """``kinds`` of numbers: of A and of B."""
    rows = [[_numbers(ctx, word, kinds[0]) for word in words] for words in gathered.rows]
    columns = [[_numbers(ctx, word, kinds[1]) for word in words] for words in gathered.columns]
    results = []
    for number, before in enumerate(totals):
        total = before
        for left, right in zip(rows[number // 2], columns[number % 2], strict=True):
            for a, b in zip(left, right, strict=True):
                total = ctx.ir.call("float", "llvm.fma.f32", a, b, total)
        results.append(total)
    return results


def _numbers(ctx: LoweringContext, word: Value, kind: str) -> list[Value]:
    """The numbers in a word, in single precision."""
    if kind == "float":
        return [ctx.ir.cast("bitcast", word, "float")]
    if kind in _SMALL_KINDS:
        return [_single_of_byte(ctx, kind, ctx.ir.op("lshr", word, i32(8 * n))) for n in range(4)]
    vector = ctx.ir.result(f"<2 x {kind}>", f"bitcast {word} to <2 x {kind}>")
    return [ctx.ir.cast("fpext", ctx.ir.element(vector, n, kind), "float") for n in range(2)]


_SMALL_KINDS = frozenset({"E4M3", "E5M2"})


def _single_of_byte(ctx: LoweringContext, kind: str, byte: Value) -> Value:
    """The number in the low byte, in single precision."""
    bits = ctx.ir.cast("trunc", half_of_byte(ctx, kind, byte), "i16")
    return ctx.ir.cast("fpext", ctx.ir.cast("bitcast", bits, "half"), "float")
