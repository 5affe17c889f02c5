"""Integers packed in a word, and minima of three: what video and dynamic-programming code uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Operand, Register
from cass_ray.lift.llvm.builder import FALSE, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics.integer import minimum_or_maximum, without_outputs
from cass_ray.lift.lowering.table import lowers


def field(ctx: LoweringContext, word: Value, place: int, bits: int, *, signed: bool) -> Value:
    """The ``place``-th field of ``bits`` bits, extended to 32."""
    narrow = ctx.ir.cast("trunc", ctx.ir.op("lshr", word, i32(place * bits)), f"i{bits}")
    return ctx.ir.cast("sext" if signed else "zext", narrow, "i32")


def _fields(ctx: LoweringContext, operand: Operand) -> Value:
    """A word of fields, whose signs nobody changes."""
    if isinstance(operand, Register | Constant) and (operand.negated or operand.absolute):
        raise UnknownForm(str(operand), "the sign of a packed operand")
    return ctx.integer(operand)


@lowers("IDP.4A.{U8,S8}.{U8,S8}")
def dot_product_4(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Dot product of four bytes, plus a word."""
    left, right = (_fields(ctx, operand) for operand in i.operands[1:3].exactly(2))
    total = ctx.integer(i.operands[3])
    first, second = (kind == "S8" for kind in i.modifiers[1:])
    for place in range(4):
        factors = (
            field(ctx, left, place, 8, signed=first),
            field(ctx, right, place, 8, signed=second),
        )
        total = ctx.ir.op("add", total, ctx.ir.op("mul", *factors))
    ctx.write(i.operands[0], total)


@lowers("IDP.2A.{LO,HI}.{U16,S16}.{U8,S8}")
def dot_product_2(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Dot product of two halves and the low or high two bytes, plus a word."""
    left, right = (_fields(ctx, operand) for operand in i.operands[1:3].exactly(2))
    total = ctx.integer(i.operands[3])
    first = 2 if i.has("HI") else 0
    for place in range(2):
        half = field(ctx, left, place, 16, signed=i.has("S16"))
        byte = field(ctx, right, first + place, 8, signed=i.has("S8"))
        total = ctx.ir.op("add", total, ctx.ir.op("mul", half, byte))
    ctx.write(i.operands[0], total)


_PACKED = ("U16x2", "S16x2")


def _halves(ctx: LoweringContext, operand: Operand) -> Value:
    """Two halves; a sign applies to each of them."""
    if not isinstance(operand, Register | Constant):
        return ctx.ir.result("<2 x i16>", f"bitcast {ctx.integer(operand)} to <2 x i16>")
    if operand.absolute:
        raise UnknownForm(str(operand), "magnitudes of halves")
    word = ctx.plain_integer(operand) if operand.negated else ctx.integer(operand)
    halves = ctx.ir.result("<2 x i16>", f"bitcast {word} to <2 x i16>")
    if not operand.negated:
        return halves
    return ctx.ir.result("<2 x i16>", f"sub <2 x i16> zeroinitializer, {halves.name}")


def _extreme(
    ctx: LoweringContext, i: DecodedInstruction, operands: Sequence[Operand], least: Value
) -> Value:
    """Minimum or maximum of words or of packed halves."""
    sign = "u" if i.has("U32") or i.has("U16x2") else "s"
    packed = any(i.has(kind) for kind in _PACKED)
    chosen = [_halves(ctx, o) if packed else ctx.integer(o) for o in operands]
    result = chosen[0]
    for value in chosen[1:]:
        result = minimum_or_maximum(ctx, result, value, least, sign)
    if i.has("RELU"):
        zero = Value("<2 x i16>", "zeroinitializer") if packed else i32(0)
        result = minimum_or_maximum(ctx, result, zero, FALSE, "s")
    return ctx.ir.result("i32", f"bitcast {result} to i32") if packed else result


@lowers("VIMNMX{.U16x2,.S16x2,.S16x2.RELU,.RELU,.S32.RELU}")
def packed_min_max(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum of halves, or one that is not below zero."""
    target, left, right, least = without_outputs(ctx, i).exactly(4)
    ctx.write(target, _extreme(ctx, i, (left, right), ctx.predicate(least)))


@lowers("VIMNMX3{,.U32,.S32,.U16x2,.S16x2,.S16x2.RELU,.RELU}")
def min_max_of_three(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum of three words, or of three pairs of halves."""
    target, first, second, third, least = i.operands.exactly(5)
    ctx.write(target, _extreme(ctx, i, (first, second, third), ctx.predicate(least)))


@lowers("VABSDIFF{,.U32,.S32}")
def absolute_difference(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Distance of two words, plus a third."""
    target, left, right, total = i.operands.exactly(4)
    values = ctx.integer(left), ctx.integer(right)
    sign = "u" if i.has("U32") else "s"
    high = ctx.ir.call("i32", f"llvm.{sign}max.i32", *values)
    low = ctx.ir.call("i32", f"llvm.{sign}min.i32", *values)
    ctx.write(target, ctx.ir.op("add", ctx.ir.op("sub", high, low), ctx.integer(total)))


@lowers("VABSDIFF4{,.U8,.S8}{,.ACC}")
def absolute_difference_of_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Distances of bytes; with .ACC their sum plus a word."""
    target, left, right, third = i.operands.exactly(4)
    words = _fields(ctx, left), _fields(ctx, right)
    signed = i.has("S8")
    total = ctx.integer(third) if i.has("ACC") else i32(0)
    for place in range(4):
        values = [field(ctx, word, place, 8, signed=signed) for word in words]
        distance = ctx.ir.call(
            "i32", "llvm.abs.i32", ctx.ir.op("sub", *values), Value("i1", "false")
        )
        if i.has("ACC"):
            total = ctx.ir.op("add", total, distance)
        else:
            part = ctx.ir.op("shl", ctx.ir.op("and", distance, i32(0xFF)), i32(8 * place))
            total = ctx.ir.op("or", total, part)
    ctx.write(target, total)


def _bytes(ctx: LoweringContext, operand: Operand) -> Value:
    return ctx.ir.result("<4 x i8>", f"bitcast {_fields(ctx, operand)} to <4 x i8>")


@lowers("VIADD.U8x4")
def add_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sums or differences of bytes; no carry leaves one."""
    target, left, right = i.operands.exactly(3)
    operation = "add"
    if isinstance(right, Register | Constant) and right.negated:
        right, operation = replace(right, negated=False), "sub"
    first, second = _bytes(ctx, left), _bytes(ctx, right)
    total = ctx.ir.result("<4 x i8>", f"{operation} {first}, {second.name}")
    ctx.write(target, ctx.ir.result("i32", f"bitcast {total} to i32"))


@lowers("VIMNMX.{U8x4,S8x4}")
def min_max_of_bytes(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum of each byte."""
    target, left, right, least = without_outputs(ctx, i).exactly(4)
    first, second = _bytes(ctx, left), _bytes(ctx, right)
    sign = "u" if i.has("U8x4") else "s"
    kinds = [f"llvm.{sign}{which}.v4i8" for which in ("min", "max")]
    smaller, larger = (ctx.ir.call("<4 x i8>", kind, first, second) for kind in kinds)
    chosen = ctx.ir.select(ctx.predicate(least), smaller, larger)
    ctx.write(target, ctx.ir.result("i32", f"bitcast {chosen} to i32"))


@lowers("VIADD.16x2")
def packed_add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sums of both halves; a carry does not leave the low one."""
    operands = [_halves(ctx, operand) for operand in i.operands[1:3].exactly(2)]
    if len(i.operands) != 3:
        raise i.unknown("not two terms")
    total = _add_halves(ctx, operands[0], operands[1])
    ctx.write(i.operands[0], ctx.ir.result("i32", f"bitcast {total} to i32"))


@lowers("VIADDMNMX.{U16x2,S16x2,S16x2.RELU}")
def packed_add_min_max(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum of sums of halves and of halves; with .RELU not below zero."""
    target, left, right, bound, least = i.operands.exactly(5)
    total = _add_halves(ctx, _halves(ctx, left), _halves(ctx, right))
    sign = "u" if i.has("U16x2") else "s"
    value = minimum_or_maximum(ctx, total, _halves(ctx, bound), ctx.predicate(least), sign)
    if i.has("RELU"):
        zero = Value("<2 x i16>", "zeroinitializer")
        value = minimum_or_maximum(ctx, value, zero, FALSE, "s")
    ctx.write(target, ctx.ir.result("i32", f"bitcast {value} to i32"))


def _add_halves(ctx: LoweringContext, left: Value, right: Value) -> Value:
    return ctx.ir.result("<2 x i16>", f"add {left}, {right.name}")
