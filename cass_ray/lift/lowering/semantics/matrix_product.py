"""How matrix products of a warp are written: by AMD's matrix instructions or by ordinary ones.

Lane ``4 g + t`` (PTX's groupID g, threadID_in_group t) holds of A rows g and g + 8, of B column g,
and of C columns 2 t and 2 t + 1; a word of A or B holds consecutive elements along k (PTX ISA,
"Matrix Fragments for mma"). Integers are exact either way. Sums of products of halves are rounded
at each step, in the order of k, or, if that is asked for, as AMD's matrix instructions do it;
Nvidia's hardware aligns and cuts them its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Operand, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32, i64
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import ballot_of_wave, from_lane, lane
from cass_ray.lift.lowering.matrix_instructions import MatrixInstruction
from cass_ray.lift.lowering.matrix_unit import DoubleProduct, Fragments, WarpProduct
from cass_ray.lift.lowering.semantics.fp8 import NARROW_KINDS, half_of_byte, half_of_narrow
from cass_ray.lift.lowering.target import WARP_LANES


@dataclass(frozen=True)
class MatrixShape:
    """Words of A for each of ``rows`` (1: g, 2: g and g + 8), and of B, along k."""

    rows: int
    words: int


def plain_registers(
    ctx: LoweringContext, i: DecodedInstruction, operand: Operand, count: int
) -> list[Value]:
    """``count`` registers of a matrix. Raises :class:`~cass_ray.lift.errors.UnknownForm`."""
    if not isinstance(operand, Register) or operand.negated or operand.absolute:
        raise i.unknown("a matrix that is no plain register")
    if any(suffix not in ("ROW", "COL") for suffix in operand.suffixes):
        raise i.unknown(f"a matrix {operand.suffixes}")
    return [ctx.register(operand.following(number)) for number in range(count)]


def fragments(ctx: LoweringContext, i: DecodedInstruction, shape: MatrixShape) -> Fragments:
    """A lane's registers of A and of B."""
    a = plain_registers(ctx, i, i.operands[1], shape.rows * shape.words)
    b = plain_registers(ctx, i, i.operands[2], shape.words)
    return Fragments([a[row :: shape.rows] for row in range(shape.rows)], b)


class Lines(Protocol):
    """What a lane's four sums are of; sum ``n`` is of row g + 8 (n / 2) and column 2 t + n % 2."""

    def factors(self, number: int) -> tuple[list[Value], list[Value]]:
        """Words of A and of B whose numbers are multiplied, in the order of k."""


@dataclass(frozen=True)
class GatheredMatrices:
    """Words of A by row, and of B by column (2 t, 2 t + 1), in the order of k."""

    rows: list[list[Value]]
    columns: list[list[Value]]

    def factors(self, number: int) -> tuple[list[Value], list[Value]]:
        return self.rows[number // 2], self.columns[number % 2]


def gather(ctx: LoweringContext, matrices: Fragments) -> GatheredMatrices:
    """What the other lanes have of a lane's rows and columns."""
    own = lane(ctx)
    group = ctx.ir.op("and", own, i32(~3))  # 4 g
    first_column = ctx.ir.op("shl", ctx.ir.op("and", own, i32(3)), i32(3))  # lane 4 (2 t)
    left = [ctx.ir.op("add", group, i32(step)) for step in range(4)]
    rows = [
        [from_lane(ctx, word, lane) for word in words for lane in left] for words in matrices.rows
    ]
    columns: list[list[Value]] = []
    for column in range(2):
        right = [ctx.ir.op("add", first_column, i32(4 * column + step)) for step in range(4)]
        columns.append([from_lane(ctx, word, lane) for word in matrices.columns for lane in right])
    return GatheredMatrices(rows, columns)


class _TwoWays(Protocol):
    """A product by a matrix instruction, or without one; each gives registers of the result."""

    def prepare(self, ctx: LoweringContext, instruction: MatrixInstruction) -> None:
        """Do what may be done before the way is chosen, and costs little."""

    def by_unit(self, ctx: LoweringContext, instruction: MatrixInstruction) -> list[Value]:
        """Multiply with all lanes of the wave."""

    @property
    def by_lanes(self) -> Callable[[], list[Value]]:
        """The product by ordinary arithmetic."""


@dataclass(frozen=True)
class _Product:
    """A product of words of elements."""

    matrices: Fragments
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
        block_values, count = ctx.registers.block_values, len(self.sums)
        earlier = block_values.get(("sums", *self.sums), []) if self.is_sum else []
        sums, before = earlier[:count] or self.sums, earlier[count:] or None
        by_unit = unit.of(self.matrices, self.signs, before)
        results = self.added(sums, unit.returned(by_unit, len(self.matrices.rows)))
        results = [ctx.ir.cast("bitcast", each, "i32") for each in results]
        if self.is_sum:
            block_values["sums", *results] = [*sums, *by_unit]
        return results

    def _unit(self, ctx: LoweringContext, instruction: MatrixInstruction) -> WarpProduct:
        unit = ctx.environment.target.matrix_unit
        assert unit is not None
        return WarpProduct(ctx, unit, instruction)


@dataclass(frozen=True)
class OfDoubles:
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


def multiply(
    ctx: LoweringContext,
    i: DecodedInstruction,
    instruction: MatrixInstruction | None,
    product: _TwoWays,
) -> None:
    """Multiply by ``instruction``, if there is one: it needs all lanes of a wave."""
    pairs = ctx.environment.target.pairs_warps
    is_never_whole = pairs and ctx.environment.kernel.max_threads <= WARP_LANES
    if instruction is None or ctx.scheduler is not None or is_never_whole:
        ctx.write_words(i.operands[0], product.by_lanes())
    elif not pairs:
        ctx.write_words(i.operands[0], product.by_unit(ctx, instruction))
    else:
        # Fragments are gathered inside: a wave of which half is empty is spared that.
        product.prepare(ctx, instruction)
        are_all_here = ctx.ir.icmp("eq", ballot_of_wave(ctx, TRUE), i64(-1))
        with ctx.registers.skipped_unless(are_all_here, keeps_values=True):
            ctx.write_words(i.operands[0], product.by_unit(ctx, instruction))
        with ctx.registers.skipped_unless(ctx.ir.invert(are_all_here)):
            ctx.write_words(i.operands[0], product.by_lanes())


def of_integers(
    ctx: LoweringContext, kind: str, signs: tuple[bool, bool]
) -> MatrixInstruction | None:
    """The matrix instruction for integers; none for two unsigned ones if it knows signed only."""
    unit = ctx.environment.target.matrix_unit
    instruction = unit.integers.get(kind) if unit else None
    return instruction if instruction and (instruction.has_signs or any(signs)) else None


def of_floats(ctx: LoweringContext, kind: str) -> MatrixInstruction | None:
    """The matrix instruction for floating-point numbers, where they may go to it."""
    target = ctx.environment.target
    unit = target.matrix_unit if target.multiplies_floats_natively else None
    return unit.floats.get(kind) if unit else None


@dataclass(frozen=True)
class Dot:
    """Adds the products of two words to a sum; the matrix instruction that does so, if any."""

    accumulate: Callable[[tuple[Value, Value], Value], Value]
    instruction: MatrixInstruction | None = None
    signs: tuple[bool, bool] = (True, True)


def multiply_integers(
    ctx: LoweringContext, i: DecodedInstruction, matrices: Fragments, dot: Dot
) -> None:
    """Write the product of ``matrices``, added to C."""
    sums = plain_registers(ctx, i, i.operands[3], 2 * len(matrices.rows))

    def plus(before: Value, total: Value) -> Value:
        if i.has("SAT"):
            return ctx.ir.call("i32", "llvm.sadd.sat.i32", before, total)
        return ctx.ir.op("add", before, total)

    def added(before: list[Value], totals: list[Value]) -> list[Value]:
        return [plus(*pair) for pair in zip(before, totals, strict=True)]

    def by_lanes() -> list[Value]:
        gathered = gather(ctx, matrices)
        results = []
        for number, before in enumerate(sums):
            words = gathered.factors(number)
            total = i32(0) if i.has("SAT") else before
            for pair in zip(*words, strict=True):
                total = dot.accumulate(pair, total)
            results.append(plus(before, total) if i.has("SAT") else total)
        return results

    product = _Product(matrices, dot.signs, sums, added, by_lanes, is_sum=not i.has("SAT"))
    multiply(ctx, i, dot.instruction, product)


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


def multiply_to_singles(
    ctx: LoweringContext, i: DecodedInstruction, matrices: Fragments, kinds: tuple[str, str]
) -> None:
    """Write the product of ``matrices``, whose A and B are of ``kinds``, added to C: words."""
    sums = plain_registers(ctx, i, i.operands[3], 4)

    def added(before: list[Value], totals: list[Value]) -> list[Value]:
        return _float_sums(ctx, _singles(ctx, before), totals)

    def by_lanes() -> list[Value]:
        return fused_singles(ctx, gather(ctx, matrices), sums, kinds)

    product = _Product(matrices, (True, True), sums, added, by_lanes)
    multiply(ctx, i, of_floats(ctx, kinds[0]), product)


def fused_singles(
    ctx: LoweringContext, lines: Lines, sums: list[Value], kinds: tuple[str, str]
) -> list[Value]:
    """Sums in words, four registers of C, and the products, by ordinary arithmetic."""
    return _fused_sums(ctx, lines, _singles(ctx, sums), kinds)


def multiply_to_halves(
    ctx: LoweringContext, i: DecodedInstruction, matrices: Fragments, kinds: tuple[str, str]
) -> None:
    """As :func:`multiply_to_singles`, with sums in halves."""
    sums = plain_registers(ctx, i, i.operands[3], 2)

    def added(before: list[Value], totals: list[Value]) -> list[Value]:
        return _rounded(ctx, _float_sums(ctx, _halves(ctx, before), totals))

    def by_lanes() -> list[Value]:
        return fused_halves(ctx, gather(ctx, matrices), sums, kinds)

    product = _Product(matrices, (True, True), sums, added, by_lanes, is_sum=False)
    multiply(ctx, i, of_floats(ctx, kinds[0]), product)


def fused_halves(
    ctx: LoweringContext, lines: Lines, sums: list[Value], kinds: tuple[str, str]
) -> list[Value]:
    """Sums in halves, two registers of C, and the products, rounded at the end."""
    return _rounded(ctx, _fused_sums(ctx, lines, _halves(ctx, sums), kinds))


def _singles(ctx: LoweringContext, words: list[Value]) -> list[Value]:
    return [ctx.ir.cast("bitcast", word, "float") for word in words]


def _halves(ctx: LoweringContext, words: list[Value]) -> list[Value]:
    """Read halves in single precision."""
    return [number for word in words for number in _numbers(ctx, word, "half")]


def _rounded(ctx: LoweringContext, totals: list[Value]) -> list[Value]:
    """Two words of halves."""
    halves = [ctx.ir.cast("fptrunc", value, "half") for value in totals]
    pairs = [ctx.ir.vector(halves[:2]), ctx.ir.vector(halves[2:])]
    return [ctx.ir.result("i32", f"bitcast {pair} to i32") for pair in pairs]


def _float_sums(ctx: LoweringContext, left: list[Value], right: list[Value]) -> list[Value]:
    pairs = zip(left, right, strict=True)
    return [ctx.ir.result("float", f"fadd {a}, {b.name}") for a, b in pairs]


def _fused_sums(
    ctx: LoweringContext, lines: Lines, totals: list[Value], kinds: tuple[str, str]
) -> list[Value]:
    """``kinds`` of numbers: of A and of B."""
    earlier: dict[tuple[Value, str], list[Value]] = {}

    def numbers(word: Value, kind: str) -> list[Value]:
        if (word, kind) not in earlier:
            earlier[word, kind] = _numbers(ctx, word, kind)
        return earlier[word, kind]

    results = []
    for number, before in enumerate(totals):
        total = before
        for left, right in zip(*lines.factors(number), strict=True):
            for a, b in zip(numbers(left, kinds[0]), numbers(right, kinds[1]), strict=True):
                total = ctx.ir.call("float", "llvm.fma.f32", a, b, total)
        results.append(total)
    return results


def _numbers(ctx: LoweringContext, word: Value, kind: str) -> list[Value]:
    """The numbers in a word, in single precision."""
    if kind == "float":
        return [ctx.ir.cast("bitcast", word, "float")]
    if kind == PACKED_FOURS:  # as bytes have them: from bit 2 on
        places = [ctx.ir.op("shl", word, i32(2))]
        places += [ctx.ir.op("lshr", word, i32(4 * n - 2)) for n in range(1, 8)]
        return [_single_of_byte(ctx, "E2M1", place) for place in places]
    if kind in _SMALL_KINDS or kind in NARROW_KINDS:
        return [_single_of_byte(ctx, kind, ctx.ir.op("lshr", word, i32(8 * n))) for n in range(4)]
    vector = ctx.ir.result(f"<2 x {kind}>", f"bitcast {word} to <2 x {kind}>")
    return [ctx.ir.cast("fpext", ctx.ir.element(vector, n, kind), "float") for n in range(2)]


PACKED_FOURS = "eight E2M1"
"""A kind: numbers of four bits without anything between them."""
_SMALL_KINDS = frozenset({"E4M3", "E5M2"})


def _single_of_byte(ctx: LoweringContext, kind: str, byte: Value) -> Value:
    """The number in the low byte, in single precision."""
    half_of = half_of_narrow if kind in NARROW_KINDS else half_of_byte
    bits = ctx.ir.cast("trunc", half_of(ctx, kind, byte), "i16")
    return ctx.ir.cast("fpext", ctx.ir.cast("bitcast", bits, "half"), "float")
