"""Integer arithmetic."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Operand, Predicate
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.table import lowers


def leading_predicates(operands: tuple[Operand, ...]) -> tuple[list[Operand], list[Operand]]:
    """Split carry outputs from the operands that follow them."""
    count = 0
    while count < len(operands) and isinstance(operands[count], Predicate):
        count += 1
    return list(operands[:count]), list(operands[count:])


@lowers("MOV", "UMOV", "MOV32I")
def move(t: Thread, i: Instruction) -> None:
    """Copy; a last operand, where there is one, masks bytes and is 0xf in all code seen."""
    if len(i.operands) > 2 and t.bits(i.operands[2]) != i32(0xF):
        raise i.unknown("a byte mask")
    t.write(i.operands[0], t.integer(i.operands[1]))


@lowers("VIADD", "UIADD")
def add(t: Thread, i: Instruction) -> None:
    """Sum of two."""
    t.write(i.operands[0], t.op("add", t.integer(i.operands[1]), t.integer(i.operands[2])))


@lowers("{,U}IMAD{,.MOV,.MOV.U32,.U32,.SHL,.SHL.U32,.IADD,.IADD.U32,.SHR,.SHR.U32}")
def multiply_add(t: Thread, i: Instruction) -> None:
    """Low word of a product, plus a word."""
    target, left, right, addend = i.operands
    product = t.op("mul", t.integer(left), t.integer(right))
    t.write(target, t.op("add", product, t.integer(addend)))


@lowers("{,U}IMAD.{WIDE,HI}{,.U32}{,.X}")
def multiply_add_wide(t: Thread, i: Instruction) -> None:
    """64-bit product plus a 64-bit addend; .HI keeps the high word."""
    carries_out, rest = leading_predicates(i.operands[1:])
    extend = "zext" if i.has("U32") else "sext"
    left, right = (t.cast(extend, t.integer(operand), "i64") for operand in rest[:2])
    product = t.op("mul", left, right)
    total = t.op("add", product, t.wide(rest[2], signed=not i.has("U32")))
    carry = t.icmp("ult", total, product) if carries_out else FALSE
    if rest[3:] and not i.has("X"):
        raise i.unknown("carry in without .X")
    for operand in rest[3:]:
        before = total
        total = t.op("add", total, t.cast("zext", t.predicate(operand), total.type))
        carry = t.either(carry, t.icmp("ult", total, before))
    if i.has("HI"):
        t.write(i.operands[0], t.high(total))
    else:
        t.write_wide(i.operands[0], total)
    for target in carries_out[:1]:
        t.write_predicate(target, carry)


@lowers("IABS")
def absolute(t: Thread, i: Instruction) -> None:
    """Magnitude; that of the least integer is itself."""
    t.write(
        i.operands[0], t.call("i32", "llvm.abs.i32", t.integer(i.operands[1]), Value("i1", "false"))
    )


def minimum_or_maximum(t: Thread, left: Value, right: Value, least: Value, sign: str) -> Value:
    """The smaller where ``least`` holds, else the larger; ``sign`` is ``s`` or ``u``."""
    kinds = [f"llvm.{sign}{which}.{left.type}" for which in ("min", "max")]
    kinds = [kind.replace("<2 x i16>", "v2i16") for kind in kinds]
    if least == TRUE:
        return t.call(left.type, kinds[0], left, right)
    if least.name == "false":
        return t.call(left.type, kinds[1], left, right)
    smaller, larger = (t.call(left.type, kind, left, right) for kind in kinds)
    return t.select(least, smaller, larger)


@lowers("{IMNMX,VIMNMX,UIMNMX}{,.U32,.S32}")
def min_max(t: Thread, i: Instruction) -> None:
    """Minimum or maximum of two, chosen by a predicate."""
    target, left, right, least = i.operands
    sign = "u" if i.has("U32") else "s"
    values = t.integer(left), t.integer(right), t.predicate(least)
    t.write(target, minimum_or_maximum(t, *values, sign))


@lowers("VIADDMNMX{,.U32,.RELU}")
def add_min_max(t: Thread, i: Instruction) -> None:
    """Minimum or maximum of a sum and a value; with .RELU not below zero."""
    target, left, right, bound, least = i.operands
    total = t.op("add", t.integer(left), t.integer(right))
    sign = "u" if i.has("U32") else "s"
    value = minimum_or_maximum(t, total, t.integer(bound), t.predicate(least), sign)
    if i.has("RELU"):
        value = minimum_or_maximum(t, value, i32(0), FALSE, "s")
    t.write(target, value)


@lowers("SEL", "USEL")
def select(t: Thread, i: Instruction) -> None:
    """One of two words, chosen by a predicate."""
    target, yes, no, condition = i.operands
    t.write(target, t.select(t.predicate(condition), t.integer(yes), t.integer(no)))


@lowers("POPC", "UPOPC")
def count_ones(t: Thread, i: Instruction) -> None:
    """Number of ones."""
    t.write(i.operands[0], t.call("i32", "llvm.ctpop.i32", t.integer(i.operands[1])))


@lowers("BREV", "UBREV")
def reverse_bits(t: Thread, i: Instruction) -> None:
    """Bits in the other order."""
    t.write(i.operands[0], t.call("i32", "llvm.bitreverse.i32", t.integer(i.operands[1])))


@lowers("{,U}FLO{,.U32}{,.SH}")
def find_leading_one(t: Thread, i: Instruction) -> None:
    """Position of the leading one (of the leading bit unlike the sign); -1 for none."""
    _, rest = leading_predicates(i.operands[1:])
    value = t.integer(rest[0])
    if not i.has("U32"):
        value = t.op("xor", value, t.op("ashr", value, i32(31)))
    zeros = t.call("i32", "llvm.ctlz.i32", value, Value("i1", "false"))
    place = zeros if i.has("SH") else t.op("sub", i32(31), zeros)
    t.write(i.operands[0], t.select(t.icmp("eq", value, i32(0)), i32(-1), place))
