"""Matrix products of four warps (PTX: ``wgmma``), whose operands are in shared memory.

Each warp has 16 rows of A and of the sums, and reads all of B; so it computes its own rows, at once
(``llvm/device/warpgroup.hip``; ``warpgroup_sparse.hip`` where A is sparse). PTX lets the hardware
read the matrices at any time between the instruction and the wait for its group, in which nothing
may write to them, nor touch the registers of the sums: at once is one such time. What was written
before is seen as by any load, behind the same barriers. The wait is for all four warps: behind it
one of them may write to the matrices, and programs let one thread say for the warpgroup that it has
read them (CUTLASS's pipelines).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import (
    Immediate,
    MatrixDescriptors,
    Name,
    Operand,
    Operands,
    Predicate,
    Register,
)
from cass_ray.lift.llvm.builder import FALSE, SUPPORT_PREFIX, TRUE, Value, i32, i64
from cass_ray.lift.lowering.clusters import offset_shift
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.lanes import warp_number
from cass_ray.lift.lowering.semantics.barrier import WARPGROUP_WARPS
from cass_ray.lift.lowering.table import lowers

_ARRAY, _MOST_SUMS = "warpgroup_sums", 128
_TILE_COLUMNS = 8
_IN_REGISTERS, _IS_NEGATED, _TRANSPOSES_A, _TRANSPOSES_B, _KEEPS_SUMS, _SATURATES = (
    1 << bit for bit in range(6)
)
"""As ``Flag`` in ``llvm/device/warpgroup.hip``."""

_TRANSPOSITIONS = frozenset({"tnspA", "tnspB"})
_NEGATIONS = frozenset({"negA", "negB"})
_GROUP = re.compile(r"gsb\d")
"""A scoreboard, which a wait for the instruction names."""


def _widths(columns: Iterable[int], depth: int) -> str:
    return "{" + ",".join(f"64x{count}x{depth}" for count in columns) + "}"


_ALL = tuple(range(8, 257, 8))
_OF_INTEGERS = (8, 16, 24, *range(32, 257, 16))
"""PTX ISA, "wgmma.mma_async": N."""


@lowers(
    f"HGMMA.{_widths(_ALL, 16)}.{{F32,F16,F32.BF16}}",
    f"HGMMA.SP.{_widths(_ALL, 32)}.{{F32,F16,F32.BF16}}",
    has_effect=True,
)
def multiply_halves(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """fp16 or bf16; the one kind of which matrices may be transposed."""
    kind = "bf16" if i.has("BF16") else "f16"
    result = "f16" if i.has("F16") else "f32"
    _multiply(ctx, i, f"{result}_{kind}_{kind}", _NEGATIONS | _TRANSPOSITIONS)


@lowers(
    f"HGMMA.{_widths(_ALL, 8)}.F32.TF32", f"HGMMA.SP.{_widths(_ALL, 16)}.F32.TF32", has_effect=True
)
def multiply_tf32(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Single precision cut to eleven bits."""
    _multiply(ctx, i, "f32_tf32_tf32", _NEGATIONS)


@lowers(
    f"QGMMA.{_widths(_ALL, 32)}.{{F32,F16}}.{{E4M3,E5M2}}.{{E4M3,E5M2}}",
    f"QGMMA.SP.{_widths(_ALL, 64)}.{{F32,F16}}.{{E4M3,E5M2}}.{{E4M3,E5M2}}",
    has_effect=True,
)
def multiply_small_floats(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Floating-point numbers of eight bits."""
    _multiply(ctx, i, "_".join(i.modifiers[-3:]).lower(), _NEGATIONS)


@lowers(
    f"IGMMA.{_widths(_OF_INTEGERS, 32)}.{{S8,U8}}.{{S8,U8}}{{,.SAT}}",
    f"IGMMA.SP.{_widths(_OF_INTEGERS, 64)}.{{S8,U8}}.{{S8,U8}}{{,.SAT}}",
    has_effect=True,
)
def multiply_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Bytes, summed in words; with .SAT the last sum saturates."""
    kinds = [modifier for modifier in i.modifiers if modifier in ("S8", "U8")]
    _multiply(ctx, i, f"s32_{'_'.join(kinds)}".lower(), frozenset())


@lowers(f"BGMMA.{_widths(_OF_INTEGERS, 256)}.AND.POPC", has_effect=True)
def multiply_bits(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Ones in the conjunction of a row and a column."""
    _multiply(ctx, i, "s32_b1_b1", frozenset())


@lowers("WARPGROUP.ARRIVE")
def order(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Registers are as they were written; the wait is a barrier (:mod:`.barrier`)."""
    del ctx, i


def _multiply(
    ctx: LoweringContext, i: DecodedInstruction, kinds: str, allowed: frozenset[str]
) -> None:
    """``kinds`` of sums, A and B name the device function; ``allowed``: flags of matrices."""
    is_sparse = i.has("SP")
    factors = _factors(i, allowed)
    metadata, rest = _metadata(ctx, i, factors.rest) if is_sparse else ((), factors.rest)
    keeps = _keeps(ctx, i, rest)
    columns = int(i.modifiers[is_sparse].split("x")[1])
    count = columns // (4 if kinds.startswith("f16") else 2)
    array = ctx.registers.array(_ARRAY, _MOST_SUMS)
    places = [ctx.ir.offset(array, i32(4 * number)) for number in range(count)]
    if keeps != FALSE:
        for number, place in enumerate(places):
            ctx.ir.store(ctx.register(factors.sums.following(number)), place, 4)
    ctx.ir.call_void(
        f"{SUPPORT_PREFIX}warpgroup_{'sparse_' if is_sparse else ''}{kinds}",
        array,
        *factors.words_of_a(ctx),
        *factors.descriptors(ctx),
        ctx.ir.op("and", warp_number(ctx), i32(WARPGROUP_WARPS - 1)),
        offset_shift(ctx),
        i32(columns // _TILE_COLUMNS),
        _flags(ctx, i, factors, keeps),
        *metadata,
    )
    ctx.write_words(i.operands[0], [ctx.ir.load("i32", place, 4) for place in places])


@dataclass(frozen=True)
class _Factors:
    """The operands of an instruction after its result."""

    matrices: MatrixDescriptors
    a: Register | None
    """None: A is in shared memory too."""
    sums: Register
    rest: Operands

    def words_of_a(self, ctx: LoweringContext) -> list[Value]:
        """The four registers of A, if it is in any."""
        return [ctx.register(self.a.following(n)) if self.a else i32(0) for n in range(4)]

    def descriptors(self, ctx: LoweringContext) -> tuple[Value, Value]:
        """Descriptors of A, if it is in shared memory, and of B, which is in the second pair of
        registers."""
        first = self.matrices.first
        return i64(0) if self.a else ctx.wide(first), ctx.wide(first.following(2))

    @property
    def is_negated(self) -> bool:
        """Whether the products are taken off the sums."""
        signs = [flag in _NEGATIONS for flag in self.matrices.flags]
        return (sum(signs) + bool(self.a and self.a.negated)) % 2 == 1


def _factors(i: DecodedInstruction, allowed: frozenset[str]) -> _Factors:
    """Raises :class:`UnknownForm` for operands of another shape."""
    place = next(
        (n for n, operand in enumerate(i.operands) if isinstance(operand, MatrixDescriptors)), 0
    )
    matrices, sums = i.operands[place], i.operands[place + 1]
    if not isinstance(matrices, MatrixDescriptors) or place > 2:
        raise i.unknown("matrices without their descriptors")
    if place == 1:
        return _Factors(matrices, None, _plain(i, sums), _checked(i, matrices, allowed, place))
    a = i.operands[1]
    sign = isinstance(a, Register) and a.negated
    if sign and not allowed >= _NEGATIONS:
        raise i.unknown("a negated matrix")
    of_b = allowed & {"negB", "tnspB"}
    rest = _checked(i, matrices, of_b, place)
    return _Factors(matrices, _plain(i, a, may_be_negated=sign), _plain(i, sums), rest)


def _checked(
    i: DecodedInstruction, matrices: MatrixDescriptors, allowed: frozenset[str], place: int
) -> Operands:
    """What comes after the sums; ``place`` is that of ``matrices``."""
    if not allowed.issuperset(matrices.flags) or len(set(matrices.flags)) < len(matrices.flags):
        raise i.unknown(f"matrices {matrices.flags}")
    return i.operands[place + 2 :]


def _plain(i: DecodedInstruction, operand: Operand, *, may_be_negated: bool = False) -> Register:
    if not isinstance(operand, Register) or operand.file != "R":
        raise i.unknown("a matrix that is in no register")
    if operand.inverted or operand.absolute or operand.suffixes:
        raise i.unknown("a matrix that is no plain register")
    if operand.negated and not may_be_negated:
        raise i.unknown("a negated matrix")
    return operand


def _metadata(
    ctx: LoweringContext, i: DecodedInstruction, rest: Operands
) -> tuple[tuple[Value, Value], Operands]:
    """A lane's word of metadata and the sparsity selector, and ``rest`` without them: they stand
    behind the predicate, if there is one. Numbers of eight bits have no selector."""
    place = 1 if rest and isinstance(rest[0], Predicate) else 0
    if len(rest) <= place:
        raise i.unknown("a sparse matrix without metadata")
    word = ctx.register(_plain(i, rest[place]))
    before, after = rest[:place], rest[place + 1 :]
    if i.opcode in ("IGMMA", "QGMMA"):
        return (word, i32(0)), Operands((*before, *after))
    selector = after[0] if after else None
    if not isinstance(selector, Immediate) or selector.integer not in (0, 1):
        raise i.unknown(f"a sparsity selector {selector}")
    return (word, i32(selector.integer)), Operands((*before, *after[1:]))


def _keeps(ctx: LoweringContext, i: DecodedInstruction, rest: Operands) -> Value:
    """Whether there is anything to add to; ``rest``: a predicate and a scoreboard, or neither."""
    keeps = TRUE
    for operand in rest:
        if isinstance(operand, Predicate) and operand is rest[0]:
            keeps = ctx.predicate(operand)
        elif not isinstance(operand, Name) or not _GROUP.fullmatch(operand.text):
            raise i.unknown(f"an operand after the sums: {operand}")
    return keeps


def _flags(ctx: LoweringContext, i: DecodedInstruction, factors: _Factors, keeps: Value) -> Value:
    flags = {
        _IN_REGISTERS: factors.a is not None,
        _IS_NEGATED: factors.is_negated,
        _TRANSPOSES_A: "tnspA" in factors.matrices.flags,
        _TRANSPOSES_B: "tnspB" in factors.matrices.flags,
        _SATURATES: i.has("SAT"),
    }
    fixed = i32(sum(flag for flag, is_set in flags.items() if is_set))
    return ctx.ir.op("or", fixed, ctx.select(keeps, i32(_KEEPS_SUMS), i32(0)))
