"""Shifts and bit fields. Shift amounts beyond the width give zeros or signs, as in PTX."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.llvm.builder import Value, i32, i64
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.table import lowers


def clamped_shift(t: Thread, opcode: str, value: Value, amount: Value) -> Value:
    """``value`` shifted by ``amount``, of the same type; any amount is allowed."""
    width = 64 if value.type == "i64" else 32
    constant = i64 if width == 64 else i32
    number = amount.number
    if number is not None:
        if number >= width:
            return t.op(opcode, value, constant(width - 1)) if opcode == "ashr" else constant(0)
        return t.op(opcode, value, amount)
    if opcode == "ashr":
        least = t.call(value.type, f"llvm.umin.{value.type}", amount, constant(width - 1))
        return t.op("ashr", value, least)
    inside = t.icmp("ult", amount, constant(width))
    masked = t.op("and", amount, constant(width - 1))
    return t.select(inside, t.op(opcode, value, masked), constant(0))


@lowers("{,U}SHF.{L,R}{,.W}.{U32,S32,U64,S64}{,.HI}")
def funnel_shift(t: Thread, i: Instruction) -> None:
    """Shift the pair (third operand, first operand) and keep one word, the high one with .HI.

    .W takes the amount modulo the width; without it larger amounts shift everything out.
    """
    target, low, amount, high = i.operands
    lo, count, hi = t.integer(low), t.integer(amount), t.integer(high)
    is_signed = i.has("S32") or i.has("S64")
    right = "ashr" if is_signed else "lshr"
    width = 64 if i.has("U64") or i.has("S64") else 32
    if i.has("W"):
        count = t.op("and", count, i32(width - 1))
    number = count.number
    if i.has("L") and not i.has("HI") and (width == 32 or (number is not None and number < 32)):
        t.write(target, clamped_shift(t, "shl", lo, count))
        return
    if i.has("R") and i.has("HI") and width == 32:
        t.write(target, clamped_shift(t, right, hi, count))
        return
    if number is not None and 0 < number < 32:
        if i.has("L"):
            value = t.call("i32", "llvm.fshl.i32", hi, lo, i32(number))
        elif i.has("HI"):
            value = t.op(right, hi, i32(number))
        else:
            value = t.call("i32", "llvm.fshr.i32", hi, lo, i32(number))
        t.write(target, value)
        return
    # The amount counts up to the width of the type; beyond it everything is gone.
    count = t.call("i32", "llvm.umin.i32", count, i32(width)) if number is None else count
    count = i32(min(number, width)) if number is not None else count
    pair, distance = t.pair(lo, hi), t.cast("zext", count, "i64")
    shifted = clamped_shift(t, "shl" if i.has("L") else right, pair, distance)
    t.write(target, t.high(shifted) if i.has("HI") else t.low(shifted))


@lowers("SHL", "USHL")
def shift_left(t: Thread, i: Instruction) -> None:
    """One word to the left."""
    target, value, amount = i.operands[:3]
    t.write(target, clamped_shift(t, "shl", t.integer(value), t.integer(amount)))


@lowers("{,U}SGXT{,.W}{,.U32}")
def extend_field(t: Thread, i: Instruction) -> None:
    """The low bits of a word, as many as the second operand says (modulo 32 with .W), extended."""
    target, source, width = i.operands
    value, bits = t.integer(source), t.integer(width)
    if i.has("W"):
        bits = t.op("and", bits, i32(31))
    bits = t.call("i32", "llvm.umin.i32", bits, i32(32)) if bits.number is None else bits
    if bits.number is not None:
        bits = i32(min(bits.number, 32))
    empty = t.op("sub", i32(32), bits)
    raised = clamped_shift(t, "shl", value, empty)
    if i.has("U32"):
        t.write(target, clamped_shift(t, "lshr", raised, empty))
        return
    lowered = clamped_shift(t, "ashr", raised, empty)
    t.write(target, lowered)


@lowers("{,U}BMSK{,.W}")
def bit_mask(t: Thread, i: Instruction) -> None:
    """Ones from the bit that the first operand says, as many as the second says."""
    target, start, count = i.operands
    first, length = t.integer(start), t.integer(count)
    if i.has("W"):
        first, length = (t.op("and", value, i32(31)) for value in (first, length))
    ones = t.op("sub", clamped_shift(t, "shl", i32(1), length), i32(1))
    t.write(target, clamped_shift(t, "shl", ones, first))
