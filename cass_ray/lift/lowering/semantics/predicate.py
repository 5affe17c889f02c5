"""Integer comparisons, and moves between predicates and registers."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.known_values import LowComparison
from cass_ray.lift.lowering.table import lowers

_PREDICATES = 7
_MIRRORED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
"""A condition -> the one that says the same of swapped operands."""


def join(ctx: LoweringContext, i: DecodedInstruction, left: Value, right: Value) -> Value:
    """Combine two conditions as the modifier AND, OR or XOR says."""
    if i.has("OR"):
        return ctx.ir.either(left, right)
    return ctx.ir.exclusive(left, right) if i.has("XOR") else ctx.ir.both(left, right)


def write_pair(ctx: LoweringContext, i: DecodedInstruction, result: Value, other: Value) -> None:
    """Set both targets of a comparison: joined with ``other``, and its opposite joined."""
    first, second = i.operands[:2].exactly(2)
    inverse = join(ctx, i, ctx.ir.invert(result), other) if _is_written(second) else FALSE
    ctx.write_predicate(first, join(ctx, i, result, other))
    ctx.write_predicate(second, inverse)


def _is_written(operand: object) -> bool:
    return isinstance(operand, Predicate) and operand.index is not None


def compare(ctx: LoweringContext, i: DecodedInstruction, left: Value, right: Value) -> Value:
    """The comparison that the modifiers name, of integers."""
    condition = i.one_of("EQ", "NE", "LT", "LE", "GT", "GE", "T", "F")
    if condition in ("T", "F"):
        return TRUE if condition == "T" else FALSE
    sign = "" if condition in ("EQ", "NE") else "u" if i.has("U32") or i.has("U64") else "s"
    return ctx.ir.icmp(sign + condition.lower(), left, right)


@lowers("{,U}ISETP.{EQ,NE,LT,LE,GT,GE,T,F}{,.U32}.{AND,OR,XOR}")
def compare_integers(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare two words; remembers them for the comparison of the high words."""
    left, right = ctx.integer(i.operands[2]), ctx.integer(i.operands[3])
    result = compare(ctx, i, left, right)
    condition = i.one_of(*_MIRRORED)
    if condition in ("EQ", "NE") or (condition and i.has("U32")):
        ctx.comparisons[result] = LowComparison(condition, left, right)
    write_pair(ctx, i, result, ctx.predicate(i.operands[4]))


@lowers("{,U}ISETP.{EQ,NE,LT,LE,GT,GE}.{U64,S64}.{AND,OR,XOR}")
def compare_wide_integers(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare two of 64 bits."""
    left, right = (ctx.wide_literal_or_register(operand) for operand in i.operands[2:4].exactly(2))
    write_pair(ctx, i, compare(ctx, i, left, right), ctx.predicate(i.operands[4]))


@lowers("{,U}ISETP.{EQ,NE,LT,LE,GT,GE}{,.U32}.{AND,OR,XOR}.EX")
def compare_high_words(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Compare the high words of wide integers; the last operand is the result of the low ones."""
    left, right = ctx.integer(i.operands[2]), ctx.integer(i.operands[3])
    below = ctx.predicate(i.operands[5])
    write_pair(ctx, i, wide_comparison(ctx, i, left, right, below), ctx.predicate(i.operands[4]))


def wide_comparison(
    ctx: LoweringContext, i: DecodedInstruction, left: Value, right: Value, below: Value
) -> Value:
    """Whether the wide integers compare, given the result ``below`` for their low words."""
    condition = i.one_of(*_MIRRORED)
    low = ctx.comparisons.get(below)
    if low is not None and low.condition == condition:
        return compare(ctx, i, ctx.ir.pair(low.left, left), ctx.ir.pair(low.right, right))
    if low is not None and low.condition == _MIRRORED[condition]:  # ptxas swaps one half's words
        return compare(ctx, i, ctx.ir.pair(low.right, left), ctx.ir.pair(low.left, right))
    equal = ctx.ir.icmp("eq", left, right)
    if condition == "EQ":
        return ctx.ir.both(equal, below)
    if condition == "NE":
        return ctx.ir.either(ctx.ir.icmp("ne", left, right), below)
    strict = ("u" if i.has("U32") else "s") + condition[0].lower() + "t"
    return ctx.ir.either(ctx.ir.icmp(strict, left, right), ctx.ir.both(equal, below))


@lowers("P2R{,.B1,.B2,.B3}", "UP2UR{,.B1,.B2,.B3}")
def predicates_to_register(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Put the predicates that a mask names into a byte of a register."""
    target, _, source, mask_operand = i.operands.exactly(4)
    if not isinstance(mask_operand, Immediate):
        raise i.unknown("a mask that is no literal")
    mask = mask_operand.integer
    start = 8 * int(i.modifiers[0][1]) if i.modifiers else 0
    file = "UP" if i.opcode == "UP2UR" else "P"
    value = ctx.ir.op("and", ctx.integer(source), i32(~(mask << start)))
    for number in range(_PREDICATES):
        if mask >> number & 1:
            bit = ctx.ir.cast("zext", ctx.predicate(Predicate(file, number)), "i32")
            value = ctx.ir.op("or", value, ctx.ir.op("shl", bit, i32(number + start)))
    ctx.write(target, value)


@lowers("R2P", "UR2UP")
def register_to_predicates(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Set the predicates that a mask names from a byte of a register."""
    _, source, mask_operand = i.operands.exactly(3)
    if not isinstance(mask_operand, Immediate) or not isinstance(source, Register):
        raise i.unknown("operands that are no register and literal")
    value = ctx.integer(source)
    file = "UP" if i.opcode == "UR2UP" else "P"
    for number in range(_PREDICATES):
        if mask_operand.integer >> number & 1:
            bit = ctx.ir.op("and", value, i32(1 << number))
            ctx.write_predicate(Predicate(file, number), ctx.ir.icmp("ne", bit, i32(0)))
