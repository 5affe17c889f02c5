"""Sparse matrix products of a warp (PTX: ``mma.sp``).

Of each chunk of a row of A, four numbers (two of single precision; four pairs of nibbles), two are
stored (one), and a nibble of metadata says for each of them which of the chunk it is, so which
number of B it is multiplied by. The texts leave a nibble undefined that names one number twice; an
H100 multiplies both, and here, of integers, their bits are joined. Which lanes have the nibbles is
in figures of the PTX ISA; it was read off an H100, with random metadata in each lane
(``benchmarks/results/lift.md``).

Floating-point products are never those of AMD's matrix instructions: what is not stored would be 0
there, and 0 times an infinity of B is none, where Nvidia's hardware does not multiply it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Register
from cass_ray.lift.llvm.builder import Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import from_lane, lane
from cass_ray.lift.lowering.matrix_unit import Fragments
from cass_ray.lift.lowering.semantics.matrix_product import (
    fused_halves,
    fused_singles,
    gather,
    multiply_integers,
    plain_registers,
)
from cass_ray.lift.lowering.semantics.tensor import as_tf32, of_bytes, of_nibbles
from cass_ray.lift.lowering.table import lowers

_NIBBLES_OF_WORD = 8


@dataclass(frozen=True)
class Metadata:
    """Where the nibbles are of a warp's chunks."""

    word: Value
    selector: int
    """Chooses lanes; PTX calls it the sparsity selector."""
    words: int
    """Registers of a row of A, as it is stored."""

    def lane_of_wide(self, chunk: int) -> int:
        """The lane, of four, that has the nibbles of both rows; for numbers of 16 or 32 bits."""
        return self.selector * self.words + chunk // 4

    def lane_of_narrow(self, row: int, chunk: int) -> int:
        """The one that has the nibble of one row, of 8 or 4 bits a number."""
        return 2 * self.selector + row + 2 * (chunk // _NIBBLES_OF_WORD)


def _metadata(ctx: LoweringContext, i: DecodedInstruction, words: int, lanes: int) -> Metadata:
    """``lanes`` have nibbles of one instruction."""
    holder, selector = i.operands[4], i.operands[5]
    if not isinstance(holder, Register) or holder.negated or holder.absolute or holder.suffixes:
        raise i.unknown("metadata that is in no register")
    if not isinstance(selector, Immediate) or not 0 <= selector.integer < 4 // lanes:
        raise i.unknown(f"a sparsity selector {selector}")
    return Metadata(ctx.register(holder), selector.integer, words)


def _stored(ctx: LoweringContext, i: DecodedInstruction, words: int) -> Fragments:
    """A as it is stored, ``words`` registers a row, and B, which is whole."""
    a = plain_registers(ctx, i, i.operands[1], 2 * words)
    return Fragments([a[0::2], a[1::2]], plain_registers(ctx, i, i.operands[2], 2 * words))


# Integers: A is made whole

_BYTES = {"16832": 1, "16864": 2}
_NIBBLES = {"16864": 1, "168128": 2}


@lowers("IMMA.SP.{16832,16864}.{U8,S8}.{U8,S8}{,.SAT}", has_effect=True)
def multiply_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Bytes, two of four."""
    matrices = _whole(ctx, i, _BYTES[i.modifiers[1]])
    multiply_integers(ctx, i, matrices, of_bytes(ctx, i.modifiers[2:4]))


@lowers("IMMA.SP.{16864,168128}.{U4,S4}.{U4,S4}{,.SAT}", has_effect=True)
def multiply_nibbles(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Pairs of nibbles, two of four."""
    matrices = _whole(ctx, i, _NIBBLES[i.modifiers[1]])
    multiply_integers(ctx, i, matrices, of_nibbles(ctx, i.modifiers[2:4]))


def _whole(ctx: LoweringContext, i: DecodedInstruction, words: int) -> Fragments:
    """Lane 4 g + t has word ``4 w + t`` of a row, which is a chunk, in register w."""
    stored = _stored(ctx, i, words)
    metadata = _metadata(ctx, i, words, lanes=2 * words)
    own = lane(ctx)
    group = ctx.ir.op("and", own, i32(~3))
    half = ctx.ir.op("shl", ctx.ir.op("and", own, i32(1)), i32(4))
    pair = ctx.ir.op("lshr", ctx.ir.op("and", own, i32(3)), i32(1))
    nibble = ctx.ir.op("shl", ctx.ir.op("and", own, i32(3)), i32(2))

    def word(row: int, number: int) -> Value:
        place = ctx.ir.op("add", ctx.ir.op("add", group, pair), i32(2 * (number % 2)))
        both = from_lane(ctx, stored.rows[row][number // 2], place)
        holder = ctx.ir.op("add", group, i32(metadata.lane_of_narrow(row, 4 * number)))
        nibbles = from_lane(ctx, metadata.word, holder)
        chosen = ctx.ir.op("lshr", nibbles, ctx.ir.op("add", nibble, i32(16 * (number % 2))))
        return _spread(ctx, ctx.ir.op("lshr", both, half), chosen)

    rows = [[word(row, number) for number in range(2 * words)] for row in range(2)]
    return Fragments(rows, stored.columns)


def _spread(ctx: LoweringContext, stored: Value, nibble: Value) -> Value:
    """Two bytes, where the lowest four bits of ``nibble`` say."""
    whole = i32(0)
    for number in range(2):
        byte = ctx.ir.op("and", ctx.ir.op("lshr", stored, i32(8 * number)), i32(0xFF))
        place = ctx.ir.op("shl", _index(ctx, nibble, number), i32(3))
        whole = ctx.ir.op("or", whole, ctx.ir.op("shl", byte, place))
    return whole


def _index(ctx: LoweringContext, nibble: Value, number: int) -> Value:
    """Which of its chunk the first or second stored number is."""
    return ctx.ir.op("and", ctx.ir.op("lshr", nibble, i32(2 * number)), i32(3))


# Floating-point numbers: those of B are chosen

_HALVES = {"16816": 1, "16832": 2}
_SINGLES = {"1688": 1, "16816": 2}


@dataclass(frozen=True)
class ChosenLines:
    """Words of rows of A as they are stored, and of B those numbers that they are multiplied by."""

    rows: list[list[Value]]
    chosen: list[list[list[Value]]]
    """Chosen elements by row and column."""

    def factors(self, number: int) -> tuple[list[Value], list[Value]]:
        return self.rows[number // 2], self.chosen[number // 2][number % 2]


class _Choosing:
    """Choose numbers of columns by the metadata."""

    def __init__(self, ctx: LoweringContext, stored: Fragments, metadata: Metadata) -> None:
        self._ctx, self._ir = ctx, ctx.ir
        self._metadata = metadata
        self._gathered = gather(ctx, stored)
        self._group = ctx.ir.op("and", lane(ctx), i32(~3))

    def lines(self, word: Callable[[list[Value], int, int], Value]) -> ChosenLines:
        """``word`` of a column that a row's stored word, by its number, is multiplied by."""
        rows, columns = self._gathered.rows, self._gathered.columns
        numbers = range(len(rows[0]))
        chosen = [
            [[word(column, row, number) for number in numbers] for column in columns]
            for row in range(2)
        ]
        return ChosenLines(rows, chosen)

    def halves(self, column: list[Value], row: int, chunk: int) -> Value:
        """Two of the four in two words."""
        nibble = self._wide_nibble(row, chunk)
        low, high = (
            self._half(column[2 * chunk : 2 * chunk + 2], _index(self._ctx, nibble, number))
            for number in range(2)
        )
        return self._ir.op("or", low, self._ir.op("shl", high, i32(16)))

    def single(self, column: list[Value], row: int, chunk: int) -> Value:
        """One of two words: the second for 1110 and the first for 0100, as PTX names them."""
        index = _index(self._ctx, self._wide_nibble(row, chunk), 1)
        is_second = self._ir.icmp("eq", index, i32(3))
        return self._ir.select(is_second, column[2 * chunk + 1], column[2 * chunk])

    def bytes(self, column: list[Value], row: int, number: int) -> Value:
        """Two of the four in each of two words."""
        whole = i32(0)
        for place in range(4):
            chunk = 2 * number + place // 2
            index = _index(self._ctx, self._narrow_nibble(row, chunk), place % 2)
            shifted = self._ir.op("lshr", column[chunk], self._ir.op("shl", index, i32(3)))
            byte = self._ir.op("and", shifted, i32(0xFF))
            whole = self._ir.op("or", whole, self._ir.op("shl", byte, i32(8 * place)))
        return whole

    def _half(self, words: list[Value], index: Value) -> Value:
        is_later = self._ir.icmp("ugt", index, i32(1))
        word = self._ir.select(is_later, words[1], words[0])
        place = self._ir.op("shl", self._ir.op("and", index, i32(1)), i32(4))
        return self._ir.op("and", self._ir.op("lshr", word, place), i32(0xFFFF))

    def _wide_nibble(self, row: int, chunk: int) -> Value:
        holder = self._metadata.lane_of_wide(chunk)
        return self._nibble(holder, chunk % 4 + 4 * row)

    def _narrow_nibble(self, row: int, chunk: int) -> Value:
        holder = self._metadata.lane_of_narrow(row, chunk)
        return self._nibble(holder, chunk % _NIBBLES_OF_WORD)

    def _nibble(self, holder: int, number: int) -> Value:
        place = self._ir.op("add", self._group, i32(holder))
        word = from_lane(self._ctx, self._metadata.word, place)
        return self._ir.op("lshr", word, i32(4 * number))


@lowers("HMMA.SP.{16816,16832}.{F32,F32.BF16,F16}", has_effect=True)
def multiply_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """fp16 or bf16, two of four."""
    words = _HALVES[i.modifiers[1]]
    kind = "bfloat" if i.has("BF16") else "half"
    metadata = _metadata(ctx, i, words, lanes=words)
    choosing = _Choosing(ctx, _stored(ctx, i, words), metadata)
    _multiply(ctx, i, choosing.lines(choosing.halves), (kind, kind))


@lowers("HMMA.SP.{1688,16816}.F32.TF32", has_effect=True)
def multiply_tf32(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Single precision cut to eleven bits, one of two."""
    words = _SINGLES[i.modifiers[1]]
    metadata = _metadata(ctx, i, words, lanes=words)
    choosing = _Choosing(ctx, as_tf32(ctx, _stored(ctx, i, words)), metadata)
    _multiply(ctx, i, choosing.lines(choosing.single), ("float", "float"))


@lowers("QMMA.SP.16864.{F32,F16}.{E4M3,E5M2}.{E4M3,E5M2}", has_effect=True)
def multiply_small_floats(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Floating-point numbers of eight bits, two of four."""
    metadata = _metadata(ctx, i, 2, lanes=4)
    choosing = _Choosing(ctx, _stored(ctx, i, 2), metadata)
    _multiply(ctx, i, choosing.lines(choosing.bytes), (i.modifiers[3], i.modifiers[4]))


def _multiply(
    ctx: LoweringContext, i: DecodedInstruction, lines: ChosenLines, kinds: tuple[str, str]
) -> None:
    if i.modifiers[2] == "F16":
        sums = plain_registers(ctx, i, i.operands[3], 2)
        ctx.write_words(i.operands[0], fused_halves(ctx, lines, sums, kinds))
    else:
        sums = plain_registers(ctx, i, i.operands[3], 4)
        ctx.write_words(i.operands[0], fused_singles(ctx, lines, sums, kinds))
