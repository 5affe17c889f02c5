"""Integer arithmetic."""

from __future__ import annotations

from dataclasses import replace

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Operand, Operands, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.table import lowers


def leading_predicates(operands: Operands) -> tuple[Operands, Operands]:
    """Split carry outputs from the operands that follow them."""
    count = 0
    while count < len(operands) and isinstance(operands[count], Predicate):
        count += 1
    return operands[:count], operands[count:]


def without_outputs(ctx: LoweringContext, i: DecodedInstruction) -> Operands:
    """The operands without the predicates that sm_100 has behind the target, which drop theirs."""
    predicates, rest = leading_predicates(i.operands[1:])
    if any(ctx.predicate(predicate) != TRUE for predicate in predicates):
        raise i.unknown("a predicate that says which operand was taken")
    return Operands((i.operands[0], *rest))


@lowers("MOV{,.SPILL}", "UMOV", "MOV32I")
def move(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy; a last operand, where there is one, masks bytes and is 0xf in all code seen."""
    if len(i.operands) > 2 and ctx.bits(i.operands[2]) != i32(0xF):
        raise i.unknown("a byte mask")
    ctx.write(i.operands[0], ctx.integer(i.operands[1]))


@lowers("{,U}MOV.64")
def move_wide(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Copy 64 bits."""
    target, source = i.operands.exactly(2)
    ctx.write_wide(target, ctx.wide(source))


@lowers("VIADD.S32.ISAT")
def add_saturated(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum or difference of two signed words, or the nearest word."""
    target, left, right = i.operands.exactly(3)
    if _is_negated(left):
        raise i.unknown("a negated first term")
    name = "llvm.ssub.sat.i32" if _is_negated(right) else "llvm.sadd.sat.i32"
    if isinstance(right, Register | Constant):
        right = replace(right, negated=False)
    ctx.write(target, ctx.ir.call("i32", name, ctx.integer(left), ctx.integer(right)))


def _is_negated(operand: Operand) -> bool:
    return isinstance(operand, Register | Constant) and operand.negated


@lowers("VIADD", "UIADD")
def add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum of two words, without a carry."""
    ctx.write(
        i.operands[0], ctx.ir.op("add", ctx.integer(i.operands[1]), ctx.integer(i.operands[2]))
    )


@lowers("{,U}IMAD{,.MOV,.MOV.U32,.U32,.SHL,.SHL.U32,.IADD,.IADD.U32,.SHR,.SHR.U32}")
def multiply_add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Low word of a product, plus a word."""
    target, left, right, addend = i.operands.exactly(4)
    product = ctx.ir.op("mul", ctx.integer(left), ctx.integer(right))
    ctx.write(target, ctx.ir.op("add", product, ctx.integer(addend)))


@lowers("{,U}IMAD.{WIDE,HI}{,.U32}{,.X}")
def multiply_add_wide(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """64-bit product plus a 64-bit addend; .HI keeps the high word."""
    carries_out, rest = leading_predicates(i.operands[1:])
    extend = "zext" if i.has("U32") else "sext"
    factors = rest[:2].exactly(2)
    left, right = (ctx.ir.cast(extend, ctx.integer(factor), "i64") for factor in factors)
    product = ctx.ir.op("mul", left, right)
    total = ctx.ir.op("add", product, ctx.wide(rest[2], signed=not i.has("U32")))
    carry = ctx.ir.icmp("ult", total, product) if carries_out else FALSE
    if rest[3:] and not i.has("X"):
        raise i.unknown("carry in without .X")
    for operand in rest[3:]:
        before = total
        total = ctx.ir.op("add", total, ctx.ir.cast("zext", ctx.predicate(operand), total.type))
        carry = ctx.ir.either(carry, ctx.ir.icmp("ult", total, before))
    if i.has("HI"):
        ctx.write(i.operands[0], ctx.ir.high(total))
    else:
        ctx.write_wide(i.operands[0], total)
    for target in carries_out[:1]:
        ctx.write_predicate(target, carry)


@lowers("IABS")
def absolute(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Magnitude; that of the least integer is itself."""
    ctx.write(
        i.operands[0],
        ctx.ir.call("i32", "llvm.abs.i32", ctx.integer(i.operands[1]), Value("i1", "false")),
    )


def minimum_or_maximum(
    ctx: LoweringContext, left: Value, right: Value, least: Value, sign: str
) -> Value:
    """The smaller where ``least`` holds, else the larger; ``sign`` is ``s`` or ``u``."""
    kinds = [f"llvm.{sign}{which}.{left.type}" for which in ("min", "max")]
    kinds = [kind.replace("<2 x i16>", "v2i16") for kind in kinds]
    if least == TRUE:
        return ctx.ir.call(left.type, kinds[0], left, right)
    if least.name == "false":
        return ctx.ir.call(left.type, kinds[1], left, right)
    smaller, larger = (ctx.ir.call(left.type, kind, left, right) for kind in kinds)
    return ctx.select(least, smaller, larger)


@lowers("{IMNMX,VIMNMX,UIMNMX,UVIMNMX}{,.U32,.S32}")
def min_max(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum of two, chosen by a predicate."""
    target, left, right, least = without_outputs(ctx, i).exactly(4)
    sign = "u" if i.has("U32") else "s"
    values = ctx.integer(left), ctx.integer(right), ctx.predicate(least)
    ctx.write(target, minimum_or_maximum(ctx, *values, sign))


@lowers("{,U}IMNMX.{U64,S64}")
def min_max_wide(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum of two of 64 bits; the predicates for longer ones are not used."""
    first, second, target, left, right, least, carry = i.operands.exactly(7)
    if (ctx.predicate(first), ctx.predicate(second), ctx.predicate(carry)) != (TRUE, TRUE, FALSE):
        raise i.unknown("a part of a longer comparison")
    values = [ctx.wide_literal_or_register(operand) for operand in (left, right)]
    sign = "u" if i.has("U64") else "s"
    result = minimum_or_maximum(ctx, values[0], values[1], ctx.predicate(least), sign)
    ctx.write_wide(target, result)


@lowers("VIADDMNMX{,.U32,.RELU}")
def add_min_max(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Minimum or maximum of a sum and a value; with .RELU not below zero."""
    target, left, right, bound, least = i.operands.exactly(5)
    total = ctx.ir.op("add", ctx.integer(left), ctx.integer(right))
    sign = "u" if i.has("U32") else "s"
    value = minimum_or_maximum(ctx, total, ctx.integer(bound), ctx.predicate(least), sign)
    if i.has("RELU"):
        value = minimum_or_maximum(ctx, value, i32(0), FALSE, "s")
    ctx.write(target, value)


@lowers("SEL", "USEL")
def select(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One of two words, chosen by a predicate."""
    target, yes, no, condition = i.operands.exactly(4)
    ctx.write(target, ctx.select(ctx.predicate(condition), ctx.integer(yes), ctx.integer(no)))


@lowers("{,U}SEL.64")
def select_wide(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """One of two of 64 bits, chosen by a predicate."""
    target, yes, no, condition = i.operands.exactly(4)
    chosen = ctx.ir.select(ctx.predicate(condition), ctx.wide(yes), ctx.wide(no))
    ctx.write_wide(target, chosen)


@lowers("POPC", "UPOPC")
def count_ones(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The number of bits that are set in a word."""
    ctx.write(i.operands[0], ctx.ir.call("i32", "llvm.ctpop.i32", ctx.integer(i.operands[1])))


@lowers("BREV", "UBREV")
def reverse_bits(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """The bits of a word in the other order."""
    ctx.write(i.operands[0], ctx.ir.call("i32", "llvm.bitreverse.i32", ctx.integer(i.operands[1])))


@lowers("{,U}FLO{,.U32}{,.SH}")
def find_leading_one(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Position of the leading one (of the leading bit unlike the sign); -1 for none."""
    _, rest = leading_predicates(i.operands[1:])
    value = ctx.integer(rest[0])
    if not i.has("U32"):
        value = ctx.ir.op("xor", value, ctx.ir.op("ashr", value, i32(31)))
    zeros = ctx.ir.call("i32", "llvm.ctlz.i32", value, Value("i1", "false"))
    place = zeros if i.has("SH") else ctx.ir.op("sub", i32(31), zeros)
    ctx.write(i.operands[0], ctx.select(ctx.ir.icmp("eq", value, i32(0)), i32(-1), place))
