"""Integers packed in a word, and minima of three: what video and dynamic-programming code uses."""

from __future__ import annotations

from collections.abc import Sequence

from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Constant, Operand, Register
from cass_ray.lift.llvm.builder import FALSE, Value, i32
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.semantics.integer import minimum_or_maximum
from cass_ray.lift.lowering.table import lowers


def field(t: Thread, word: Value, place: int, bits: int, *, signed: bool) -> Value:
    """The ``place``-th field of ``bits`` bits, extended to 32."""
    narrow = t.cast("trunc", t.op("lshr", word, i32(place * bits)), f"i{bits}")
    return t.cast("sext" if signed else "zext", narrow, "i32")


def _fields(t: Thread, operand: Operand) -> Value:
    """A word of fields, whose signs nobody changes."""
    if isinstance(operand, Register | Constant) and (operand.negated or operand.absolute):
        raise UnknownForm(str(operand), "the sign of a packed operand")
    return t.integer(operand)


@lowers("IDP.4A.{U8,S8}.{U8,S8}")
def dot_product_4(t: Thread, i: Instruction) -> None:
    """Dot product of four bytes, plus a word."""
    left, right = (_fields(t, operand) for operand in i.operands[1:3])
    total = t.integer(i.operands[3])
    first, second = (kind == "S8" for kind in i.modifiers[1:])
    for place in range(4):
        factors = field(t, left, place, 8, signed=first), field(t, right, place, 8, signed=second)
        total = t.op("add", total, t.op("mul", *factors))
    t.write(i.operands[0], total)


@lowers("IDP.2A.{LO,HI}.{U16,S16}.{U8,S8}")
def dot_product_2(t: Thread, i: Instruction) -> None:
    """Dot product of two halves and the low or high two bytes, plus a word."""
    left, right = (_fields(t, operand) for operand in i.operands[1:3])
    total = t.integer(i.operands[3])
    first = 2 if i.has("HI") else 0
    for place in range(2):
        half = field(t, left, place, 16, signed=i.has("S16"))
        byte = field(t, right, first + place, 8, signed=i.has("S8"))
        total = t.op("add", total, t.op("mul", half, byte))
    t.write(i.operands[0], total)


_PACKED = ("U16x2", "S16x2")


def _halves(t: Thread, operand: Operand) -> Value:
    """Two halves; a sign applies to each of them."""
    if not isinstance(operand, Register | Constant):
        return t.result("<2 x i16>", f"bitcast {t.integer(operand)} to <2 x i16>")
    if operand.absolute:
        raise UnknownForm(str(operand), "magnitudes of halves")
    word = t.plain_integer(operand) if operand.negated else t.integer(operand)
    halves = t.result("<2 x i16>", f"bitcast {word} to <2 x i16>")
    if not operand.negated:
        return halves
    return t.result("<2 x i16>", f"sub <2 x i16> zeroinitializer, {halves.name}")


def _extreme(t: Thread, i: Instruction, operands: Sequence[Operand], least: Value) -> Value:
    """Minimum or maximum of words or of packed halves."""
    sign = "u" if i.has("U32") or i.has("U16x2") else "s"
    packed = any(i.has(kind) for kind in _PACKED)
    chosen = [_halves(t, o) if packed else t.integer(o) for o in operands]
    result = chosen[0]
    for value in chosen[1:]:
        result = minimum_or_maximum(t, result, value, least, sign)
    if i.has("RELU"):
        zero = Value("<2 x i16>", "zeroinitializer") if packed else i32(0)
        result = minimum_or_maximum(t, result, zero, FALSE, "s")
    return t.result("i32", f"bitcast {result} to i32") if packed else result


@lowers("VIMNMX{.U16x2,.S16x2,.S16x2.RELU,.RELU}")
def packed_min_max(t: Thread, i: Instruction) -> None:
    """Minimum or maximum of halves, or one that is not below zero."""
    target, left, right, least = i.operands
    t.write(target, _extreme(t, i, (left, right), t.predicate(least)))


@lowers("VIMNMX3{,.U32,.S32,.U16x2,.S16x2,.S16x2.RELU,.RELU}")
def min_max_of_three(t: Thread, i: Instruction) -> None:
    """Minimum or maximum of three."""
    target, first, second, third, least = i.operands
    t.write(target, _extreme(t, i, (first, second, third), t.predicate(least)))


@lowers("VABSDIFF{,.U32,.S32}")
def absolute_difference(t: Thread, i: Instruction) -> None:
    """Distance of two words, plus a third."""
    target, left, right, total = i.operands
    values = t.integer(left), t.integer(right)
    sign = "u" if i.has("U32") else "s"
    high = t.call("i32", f"llvm.{sign}max.i32", *values)
    low = t.call("i32", f"llvm.{sign}min.i32", *values)
    t.write(target, t.op("add", t.op("sub", high, low), t.integer(total)))


@lowers("VABSDIFF4{,.U8,.S8}{,.ACC}")
def absolute_difference_of_bytes(t: Thread, i: Instruction) -> None:
    """Distances of bytes; with .ACC their sum plus a word."""
    target, left, right, third = i.operands
    words = _fields(t, left), _fields(t, right)
    signed = i.has("S8")
    total = t.integer(third) if i.has("ACC") else i32(0)
    for place in range(4):
        values = [field(t, word, place, 8, signed=signed) for word in words]
        distance = t.call("i32", "llvm.abs.i32", t.op("sub", *values), Value("i1", "false"))
        if i.has("ACC"):
            total = t.op("add", total, distance)
        else:
            part = t.op("shl", t.op("and", distance, i32(0xFF)), i32(8 * place))
            total = t.op("or", total, part)
    t.write(target, total)


@lowers("VIADD.16x2")
def packed_add(t: Thread, i: Instruction) -> None:
    """Sums of halves."""
    operands = [_halves(t, operand) for operand in i.operands[1:3]]
    if len(i.operands) != 3:
        raise i.unknown("not two terms")
    total = _add_halves(t, operands[0], operands[1])
    t.write(i.operands[0], t.result("i32", f"bitcast {total} to i32"))


@lowers("VIADDMNMX.{U16x2,S16x2,S16x2.RELU}")
def packed_add_min_max(t: Thread, i: Instruction) -> None:
    """Minimum or maximum of sums of halves and of halves; with .RELU not below zero."""
    target, left, right, bound, least = i.operands
    total = _add_halves(t, _halves(t, left), _halves(t, right))
    sign = "u" if i.has("U16x2") else "s"
    value = minimum_or_maximum(t, total, _halves(t, bound), t.predicate(least), sign)
    if i.has("RELU"):
        zero = Value("<2 x i16>", "zeroinitializer")
        value = minimum_or_maximum(t, value, zero, FALSE, "s")
    t.write(target, t.result("i32", f"bitcast {value} to i32"))


def _add_halves(t: Thread, left: Value, right: Value) -> Value:
    return t.result("<2 x i16>", f"add {left}, {right.name}")
