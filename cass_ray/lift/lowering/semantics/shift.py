"""Shifts and bit fields. Shift amounts beyond the width give zeros or signs, as in PTX."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.llvm.builder import Value, i32, i64
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.table import lowers


def clamped_shift(ctx: LoweringContext, opcode: str, value: Value, amount: Value) -> Value:
    """``value`` shifted by ``amount``, of the same type; any amount is allowed."""
    width = 64 if value.type == "i64" else 32
    constant = i64 if width == 64 else i32
    number = amount.number
    if number is not None:
        if number >= width:
            return (
                ctx.ir.op(opcode, value, constant(width - 1)) if opcode == "ashr" else constant(0)
            )
        return ctx.ir.op(opcode, value, amount)
    if opcode == "ashr":
        least = ctx.ir.call(value.type, f"llvm.umin.{value.type}", amount, constant(width - 1))
        return ctx.ir.op("ashr", value, least)
    inside = ctx.ir.icmp("ult", amount, constant(width))
    masked = ctx.ir.op("and", amount, constant(width - 1))
    return ctx.select(inside, ctx.ir.op(opcode, value, masked), constant(0))


@lowers("{,U}SHF.{L,R}{,.W}.{U32,S32,U64,S64}{,.HI}")
def funnel_shift(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Shift the pair (third operand, first operand) and keep one word, the high one with .HI.

    .W takes the amount modulo the width; without it larger amounts shift everything out.
    """
    target, low, amount, high = i.operands.exactly(4)
    lo, count, hi = ctx.integer(low), ctx.integer(amount), ctx.integer(high)
    is_signed = i.has("S32") or i.has("S64")
    right = "ashr" if is_signed else "lshr"
    width = 64 if i.has("U64") or i.has("S64") else 32
    if i.has("W"):
        count = ctx.ir.op("and", count, i32(width - 1))
    number = count.number
    if i.has("L") and not i.has("HI") and (width == 32 or (number is not None and number < 32)):
        whole = _done("shl", ctx, lo, count)
        ctx.write(target, ctx.ir.low(whole) if whole else clamped_shift(ctx, "shl", lo, count))
        return
    if i.has("R") and i.has("HI") and width == 32:
        whole = _done(right, ctx, hi, count)
        ctx.write(target, ctx.ir.high(whole) if whole else clamped_shift(ctx, right, hi, count))
        return
    if number is not None and 0 < number < 32:
        if i.has("L"):
            value = ctx.ir.call("i32", "llvm.fshl.i32", hi, lo, i32(number))
        elif i.has("HI"):
            value = ctx.ir.op(right, hi, i32(number))
        else:
            value = ctx.ir.call("i32", "llvm.fshr.i32", hi, lo, i32(number))
        ctx.write(target, value)
        return
    # The amount counts up to the width of the type; beyond it everything is gone.
    if number is not None:
        count = i32(min(number, width))
    elif width == 32:
        count = ctx.ir.call("i32", "llvm.umin.i32", count, i32(width))
    opcode = "shl" if i.has("L") else right
    shifted = _wide_shift(ctx, opcode, lo, hi, count)
    if width == 64 and number is None:
        ctx.ir.remember(_key(opcode, lo if i.has("L") else hi, count), shifted)
    ctx.write(target, ctx.ir.high(shifted) if i.has("HI") else ctx.ir.low(shifted))


def _wide_shift(ctx: LoweringContext, opcode: str, low: Value, high: Value, count: Value) -> Value:
    pair = ctx.ir.pair(low, high)
    own = ctx.registers.bit_scans.own_zeros(count, low, high) if opcode != "ashr" else None
    if own is not None:
        return ctx.ir.op(opcode, pair, own)
    return clamped_shift(ctx, opcode, pair, ctx.ir.cast("zext", count, "i64"))


def _key(opcode: str, word: Value, count: Value) -> tuple[object, ...]:
    return ("wide shift", opcode, word, count)


def _done(opcode: str, ctx: LoweringContext, word: Value, count: Value) -> Value | None:
    """The shift of 64 bits of which that of ``word`` is the other half, where there was one.

    The word that nothing is shifted into, the upper one to the right, is the same in both: beyond
    32 it has zeros, or signs, and so it has beyond 64.
    """
    return ctx.ir.remembered(_key(opcode, word, count))


@lowers("SHL", "USHL")
def shift_left(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One word to the left; 32 and more give zero."""
    target, value, amount = i.operands[:3].exactly(3)
    ctx.write(target, clamped_shift(ctx, "shl", ctx.integer(value), ctx.integer(amount)))


@lowers("{,U}SGXT{,.W}{,.U32}")
def extend_field(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The low bits of a word, as many as the second operand says (modulo 32 with .W), extended."""
    target, source, width = i.operands.exactly(3)
    value, bits = ctx.integer(source), ctx.integer(width)
    if i.has("W"):
        bits = ctx.ir.op("and", bits, i32(31))
    bits = ctx.ir.call("i32", "llvm.umin.i32", bits, i32(32)) if bits.number is None else bits
    if bits.number is not None:
        bits = i32(min(bits.number, 32))
    empty = ctx.ir.op("sub", i32(32), bits)
    raised = clamped_shift(ctx, "shl", value, empty)
    if i.has("U32"):
        ctx.write(target, clamped_shift(ctx, "lshr", raised, empty))
        return
    lowered = clamped_shift(ctx, "ashr", raised, empty)
    ctx.write(target, lowered)


@lowers("{,U}BMSK{,.W}")
def bit_mask(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Ones from the bit that the first operand says, as many as the second says."""
    target, start, count = i.operands.exactly(3)
    first, length = ctx.integer(start), ctx.integer(count)
    if i.has("W"):
        first, length = (ctx.ir.op("and", value, i32(31)) for value in (first, length))
    ones = ctx.ir.op("sub", clamped_shift(ctx, "shl", i32(1), length), i32(1))
    ctx.write(target, clamped_shift(ctx, "shl", ones, first))
