"""Products of a warp's matrix fragments by the processor's own matrix instructions.

A warp has 16 (or 8) rows and 8 columns of a product, AMD's instruction 16 by 16. Columns become its
lines of A and rows its lines of B, so that a lane's first four results are all that is of use:
element r of lane 16 h + m is row m, column 4 h + r. The depth may be in any order, if it is the
same for both factors. Idle lines hold copies.

The instructions take no notice of EXEC: they read and write all lanes of the wave. On a wave of 64
lanes each warp has an instruction of its own, whose lines of A are the columns of both warps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import (
    from_place,
    from_wave_lane,
    is_upper_warp,
    place_of,
    wave_lane,
)
from cass_ray.lift.lowering.matrix_instructions import MatrixInstruction, MatrixUnit
from cass_ray.lift.lowering.target import WARP_LANES

_SLAB_WORDS = 4
"""Each register of a fragment has a word of a row in each of four lanes."""
_TOP_BITS, _ONES = i32(0x80808080), i32(0x01010101)


@dataclass(frozen=True)
class Fragments:
    """A warp's registers of A, in rows g and in rows g + 8 if there are any, and of B."""

    rows: Sequence[Sequence[Value]]
    columns: Sequence[Value]


class WarpProduct:
    """Writes products of fragments by one matrix instruction."""

    def __init__(
        self, ctx: LoweringContext, unit: MatrixUnit, instruction: MatrixInstruction
    ) -> None:
        self._ctx, self._ir = ctx, ctx.ir
        self._unit, self._instruction = unit, instruction
        self._lane = wave_lane(ctx)

    def find_places(self) -> None:
        """Reckon now which lanes' words are fetched, for :meth:`of` in blocks that follow."""
        for start in self._starts:
            self._row_places(start)
        self._column_places()
        self._return_places()

    def of(
        self, matrices: Fragments, signs: tuple[bool, bool], before: list[Value] | None = None
    ) -> list[Value]:
        """Elements of the product that a lane has; ``signs``: which factors are signed.

        With ``before``, what was given before, added to that.
        """
        products = self._multiplied(matrices, signs, before)
        if self._instruction.has_signs or signs == (True, True):
            return products
        # Unsigned bytes were made signed ones, 128 less: 128 times the other factor's sums are
        # missing. There is no such way to multiply two unsigned factors.
        ones = [_ONES] * len(matrices.columns)
        a_signed, b_signed = signs
        assert a_signed != b_signed
        others = Fragments([ones], matrices.columns) if b_signed else Fragments(matrices.rows, ones)
        missing = self._multiplied(others, (True, True))
        return [
            self._ir.op("add", one, self._ir.op("shl", more, i32(7)))
            for one, more in zip(products, missing, strict=True)
        ]

    # The factors

    @property
    def _starts(self) -> tuple[int, ...]:
        """The first lanes of the warps of a wave."""
        return (0, WARP_LANES) if self._unit.is_mfma else (0,)

    def _multiplied(
        self, matrices: Fragments, signs: tuple[bool, bool], before: list[Value] | None = None
    ) -> list[Value]:
        """The four results of each lane that are of use, added to those of ``before``."""
        columns = self._as_signed(self._columns(matrices.columns), signs[1])
        each = [
            self._chain(
                self._as_signed(self._rows(matrices.rows, start), signs[0]), columns, signs, before
            )
            for start in self._starts
        ]
        if len(each) == 1:
            return each[0]
        upper = is_upper_warp(self._ctx)
        return [self._ir.select(upper, *reversed(pair)) for pair in zip(*each, strict=True)]

    def _as_signed(self, words: list[Value], is_signed: bool) -> list[Value]:
        if is_signed or self._instruction.has_signs:
            return words
        return [self._ir.op("xor", word, _TOP_BITS) for word in words]

    def _rows(self, rows: Sequence[Sequence[Value]], start: int) -> list[Value]:
        """What this lane has of the rows of the warp whose lanes begin at ``start``."""
        return self._once((*rows, start), lambda: list(self._gathered_rows(rows, start)))

    def _gathered_rows(self, rows: Sequence[Sequence[Value]], start: int) -> Iterator[Value]:
        in_second, *places = self._row_places(start)
        each = [list(self._words(row, places)) for row in rows]
        for words in zip(*each, strict=True):
            yield self._ir.select(in_second, words[-1], words[0])

    def _row_places(self, start: int) -> list[Value]:
        """Whether the lane has a row of the second eight, and where the words of its row are."""

        def found() -> list[Value]:
            first = self._ir.op("or", self._bits(self._lane, 0, 3, to=2), i32(start))
            return [self._is_set(self._lane, 3), *self._places(first)]

        return self._once(("row places", start), found)

    def _columns(self, columns: Sequence[Value]) -> list[Value]:
        """What this lane has of its column."""
        return self._once((columns,), lambda: list(self._words(columns, self._column_places())))

    def _column_places(self) -> list[Value]:
        return self._once(("column places",), lambda: self._places(self._first_column()))

    def _once(self, of: Iterable[object], make: Callable[[], list[Value]]) -> list[Value]:
        """Fragments meet many others: what is gathered of them serves again in the block."""
        key = (self._instruction.intrinsic, *map(str, of))
        block_values = self._ctx.registers.block_values
        if key not in block_values:
            block_values[key] = make()
        return block_values[key]

    def _words(self, registers: Sequence[Value], places: Sequence[Value]) -> Iterator[Value]:
        """What this lane has of a line, whose words are at ``places``."""
        for register in registers:
            for place in places:
                is_constant = register.number is not None
                yield register if is_constant else from_place(self._ctx, register, place)

    def _places(self, first: Value) -> list[Value]:
        """Where this lane's words are of a line that four lanes from ``first`` on have."""
        count = _SLAB_WORDS // self._unit.groups
        group = self._bits(self._lane, 4, self._unit.groups.bit_length() - 1)
        start = self._ir.op("or", first, self._ir.op("mul", group, i32(count)))
        lanes = (self._ir.op("or", start, i32(number)) for number in range(count))
        return [place_of(self._ctx, lane) for lane in lanes]

    def _first_column(self) -> Value:
        """The first lane that has words of this lane's column; see the module."""
        half = self._bits(self._lane, self._unit.line_of_half.bit_length() - 1, 1, to=4)
        within = self._bits(self._lane, self._unit.line_of_register.bit_length() - 1, 2, to=2)
        first = self._ir.op("or", half, within)
        if self._unit.is_mfma:
            first = self._ir.op("or", first, self._bits(self._lane, 3, 1, to=5))
        return first

    def _chain(
        self,
        rows: list[Value],
        columns: list[Value],
        signs: tuple[bool, bool],
        before: list[Value] | None,
    ) -> list[Value]:
        """Emit as many instructions, one after the other, as the depth takes."""
        element, count = self._instruction.element, self._unit.registers
        kind = f"<{count} x {element}>"
        result = Value(kind, "zeroinitializer")
        if before is not None:
            # What nobody reads begins as anything: copies would be half of a long chain's code.
            result = self._ir.vector([*before, *[Value(element, "poison")] * (count - len(before))])
        for start in range(0, len(rows), self._instruction.words):
            factors = [self._operand(words, start) for words in (columns, rows)]
            arguments = self._arguments(factors, result, signs)
            result = self._ir.call(kind, f"llvm.amdgcn.{self._instruction.intrinsic}", *arguments)
        return [self._ir.element(result, number, element) for number in range(4)]

    def _arguments(
        self, factors: list[Value], addend: Value, signs: tuple[bool, bool]
    ) -> list[Value]:
        if self._unit.is_mfma:
            return [*factors, addend, i32(0), i32(0), i32(0)]
        if not self._instruction.has_signs:
            return [*factors, addend]
        flags = [TRUE if sign else FALSE for sign in reversed(signs)]
        return [flags[0], factors[0], flags[1], factors[1], addend, FALSE]

    def _operand(self, words: list[Value], start: int) -> Value:
        count = self._instruction.words
        operand_words = words[start : start + count]
        operand_words += [i32(0)] * (count - len(operand_words))
        whole = self._ir.vector(operand_words) if count > 1 else operand_words[0]
        return self._ir.cast("bitcast", whole, self._instruction.operand)

    # The result

    def returned(self, products: list[Value], rows: int) -> list[Value]:
        """Results where SASS has them: lane 4 g + t, row g (then g + 8), columns 2 t and 2 t + 1.

        A lane may give one word at a time. Lanes of odd t ask for the second rows when the others
        ask for the first; so a lane of the first rows first gives columns of even t, a lane of the
        second ones columns of odd t. Where there are no second rows they are copies of the first.
        """
        ir = self._ir
        gives_odd, asks_odd, *places = self._return_places()
        words = []
        for turn, place in enumerate(places[:rows]):
            for column in range(2):
                even, odd = products[column], products[2 + column]
                if turn:
                    even, odd = odd, even
                word = ir.cast("bitcast", ir.select(gives_odd, odd, even), "i32")
                word = from_place(self._ctx, word, place)
                words.append(ir.cast("bitcast", word, self._instruction.element))
        if rows == 1:
            return words
        first, second = words[:2], words[2:]
        return [
            *(ir.select(asks_odd, b, a) for a, b in zip(first, second, strict=True)),
            *(ir.select(asks_odd, a, b) for a, b in zip(first, second, strict=True)),
        ]

    def _return_places(self) -> list[Value]:
        """Whether the lane gives, and asks for, the other rows or columns first; where it asks."""

        def found() -> list[Value]:
            lane, ir = self._lane, self._ir
            start = ir.op("and", lane, i32(WARP_LANES))
            group = ir.op("or", self._bits(lane, 2, 3), self._bits(lane, 1, 1, to=4))
            source = ir.op("or", ir.op("or", start, group), self._bits(lane, 0, 1, to=3))
            lanes = (source, ir.op("xor", source, i32(8)))
            odd = (self._is_set(lane, 3), self._is_set(lane, 0))
            return [*odd, *(place_of(self._ctx, each) for each in lanes)]

        return self._once(("return places",), found)

    def _bits(self, value: Value, first: int, count: int, *, to: int = 0) -> Value:
        return _bits(self._ctx, value, first, count, to=to)

    def _is_set(self, value: Value, bit: int) -> Value:
        return self._ir.icmp("ne", self._ir.op("and", value, i32(1 << bit)), i32(0))


class DoubleProduct:
    """Writes products of 8 by 8 doubles of depth 4, of both warps of a wave by one instruction.

    Its lines are the columns, and the rows, of both: two of four squares are of use. Element r of
    lane 16 q + c is line q + 4 r, column c; lines are put so that lane 4 g + t of warp w finds its
    two columns, 2 t and 2 t + 1, in elements 2 w and 2 w + 1 of lane 16 t + 8 w + g.
    """

    def __init__(self, ctx: LoweringContext, instruction: MatrixInstruction) -> None:
        self._ctx, self._ir = ctx, ctx.ir
        self._instruction = instruction
        lane = wave_lane(ctx)
        depth, row = _bits(ctx, lane, 4, 2), _bits(ctx, lane, 0, 3, to=2)
        warp = _bits(ctx, lane, 3, 1, to=5)
        column = [_bits(ctx, lane, 0, 2, to=3), _bits(ctx, lane, 2, 1, to=2)]
        self._row_place = self._joined(warp, row, depth)
        self._column_place = self._joined(warp, *column, depth)
        group, own_warp = _bits(ctx, lane, 2, 3), _bits(ctx, lane, 5, 1, to=3)
        self._result_place = self._joined(_bits(ctx, lane, 0, 2, to=4), own_warp, group)
        self._is_of_upper = ctx.ir.icmp("ne", warp, i32(0))

    def of(self, a: list[Value], b: list[Value], sums: list[Value]) -> list[Value]:
        """Words of the result, from those of A, of B and of C, each double a low and a high one."""
        kind = f"<4 x {self._instruction.element}>"
        # Where the other warp's sums belong, copies of these are of no use, and do no harm.
        before = [self._double(sums[2 * n : 2 * n + 2], self._row_place) for n in (0, 1, 0, 1)]
        products = self._ir.call(
            kind,
            f"llvm.amdgcn.{self._instruction.intrinsic}",
            self._double(b, self._column_place),
            self._double(a, self._row_place),
            self._ir.vector(before),
            *[i32(0)] * 3,
        )
        elements = [self._ir.element(products, n, self._instruction.element) for n in range(4)]
        words: list[Value] = []
        for lower, upper in zip(elements[:2], elements[2:], strict=True):
            bits = self._ir.cast("bitcast", self._ir.select(self._is_of_upper, upper, lower), "i64")
            halves = (self._ir.low(bits), self._ir.high(bits))
            words += [from_wave_lane(self._ctx, half, self._result_place) for half in halves]
        return words

    def _double(self, words: list[Value], place: Value) -> Value:
        low, high = (from_wave_lane(self._ctx, word, place) for word in words)
        return self._ir.cast("bitcast", self._ir.pair(low, high), "double")

    def _joined(self, first: Value, *others: Value) -> Value:
        for other in others:
            first = self._ir.op("or", first, other)
        return first


def _bits(ctx: LoweringContext, value: Value, first: int, count: int, *, to: int = 0) -> Value:
    """Bits of a number, moved to bit ``to``."""
    masked = ctx.ir.op("and", value, i32((1 << count) - 1 << first))
    how = "shl" if to > first else "lshr"
    return ctx.ir.op(how, masked, i32(abs(to - first)))
