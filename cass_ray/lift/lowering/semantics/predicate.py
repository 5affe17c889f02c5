"""Integer comparisons, and moves between predicates and registers."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Immediate, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, i32
from cass_ray.lift.lowering.context import Thread
from cass_ray.lift.lowering.table import lowers

_PREDICATES = 7
_MIRRORED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
"""A condition -> the one that says the same of swapped operands."""


def join(t: Thread, i: Instruction, left: Value, right: Value) -> Value:
    """Combine two conditions as the modifier AND, OR or XOR says."""
    if i.has("OR"):
        return t.either(left, right)
    return t.exclusive(left, right) if i.has("XOR") else t.both(left, right)


def write_pair(t: Thread, i: Instruction, result: Value, other: Value) -> None:
    """Set both targets of a comparison: joined with ``other``, and its opposite joined."""
    first, second = i.operands[:2]
    inverse = join(t, i, t.invert(result), other) if _is_written(second) else FALSE
    t.write_predicate(first, join(t, i, result, other))
    t.write_predicate(second, inverse)


def _is_written(operand: object) -> bool:
    return isinstance(operand, Predicate) and operand.index is not None


def compare(t: Thread, i: Instruction, left: Value, right: Value) -> Value:
    """The comparison that the modifiers name, of integers."""
    condition = i.one_of("EQ", "NE", "LT", "LE", "GT", "GE", "T", "F")
    if condition in ("T", "F"):
        return TRUE if condition == "T" else FALSE
    sign = "" if condition in ("EQ", "NE") else "u" if i.has("U32") else "s"
    return t.icmp(sign + condition.lower(), left, right)


@lowers("{,U}ISETP.{EQ,NE,LT,LE,GT,GE,T,F}{,.U32}.{AND,OR,XOR}")
def compare_integers(t: Thread, i: Instruction) -> None:
    """Compare two words."""
    left, right = t.integer(i.operands[2]), t.integer(i.operands[3])
    result = compare(t, i, left, right)
    condition = i.one_of(*_MIRRORED)
    if condition in ("EQ", "NE") or (condition and i.has("U32")):
        t.comparisons[result] = (condition, left, right)
    write_pair(t, i, result, t.predicate(i.operands[4]))


@lowers("{,U}ISETP.{EQ,NE,LT,LE,GT,GE}{,.U32}.{AND,OR,XOR}.EX")
def compare_high_words(t: Thread, i: Instruction) -> None:
    """Compare the high words of wide integers; the last operand is the result of the low ones."""
    left, right = t.integer(i.operands[2]), t.integer(i.operands[3])
    below = t.predicate(i.operands[5])
    write_pair(t, i, wide_comparison(t, i, left, right, below), t.predicate(i.operands[4]))


def wide_comparison(t: Thread, i: Instruction, left: Value, right: Value, below: Value) -> Value:
    """Whether the wide integers compare, given the result ``below`` for their low words."""
    condition = i.one_of(*_MIRRORED)
    low, low_left, low_right = t.comparisons.get(below, ("", left, right))
    if low == condition:
        return compare(t, i, t.pair(low_left, left), t.pair(low_right, right))
    if low and low == _MIRRORED[condition]:  # ptxas swaps the words of one half
        return compare(t, i, t.pair(low_right, left), t.pair(low_left, right))
    equal = t.icmp("eq", left, right)
    if condition == "EQ":
        return t.both(equal, below)
    if condition == "NE":
        return t.either(t.icmp("ne", left, right), below)
    strict = ("u" if i.has("U32") else "s") + condition[0].lower() + "t"
    return t.either(t.icmp(strict, left, right), t.both(equal, below))


@lowers("P2R{,.B1,.B2,.B3}", "UP2UR{,.B1,.B2,.B3}")
def predicates_to_register(t: Thread, i: Instruction) -> None:
    """Put the predicates that a mask names into a byte of a register."""
    target, _, source, mask_operand = i.operands
    if not isinstance(mask_operand, Immediate):
        raise i.unknown("a mask that is no literal")
    mask = mask_operand.integer
    start = 8 * int(i.modifiers[0][1]) if i.modifiers else 0
    file = "UP" if i.opcode == "UP2UR" else "P"
    value = t.op("and", t.integer(source), i32(~(mask << start)))
    for number in range(_PREDICATES):
        if mask >> number & 1:
            bit = t.cast("zext", t.predicate(Predicate(file, number)), "i32")
            value = t.op("or", value, t.op("shl", bit, i32(number + start)))
    t.write(target, value)


@lowers("R2P", "UR2UP")
def register_to_predicates(t: Thread, i: Instruction) -> None:
    """Set the predicates that a mask names from a byte of a register."""
    _, source, mask_operand = i.operands
    if not isinstance(mask_operand, Immediate) or not isinstance(source, Register):
        raise i.unknown("operands that are no register and literal")
    value = t.integer(source)
    file = "UP" if i.opcode == "UR2UP" else "P"
    for number in range(_PREDICATES):
        if mask_operand.integer >> number & 1:
            bit = t.op("and", value, i32(1 << number))
            t.write_predicate(Predicate(file, number), t.icmp("ne", bit, i32(0)))
