"""Comparisons, minima and maxima, and moves between predicates and registers."""

from __future__ import annotations

import operator
from collections.abc import Callable

import z3

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Predicate
from tests.lift.proofs.specification.state import (
    Condition,
    NotSpecified,
    State,
    Word,
    Writer,
    specifies,
    split,
    word,
)

_JOINS: dict[str, Callable[[Condition, Condition], Condition]] = {
    "AND": z3.And,
    "OR": z3.Or,
    "XOR": z3.Xor,
}
_SIGNED: dict[str, Callable[[Word, Word], Condition]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "T": lambda a, b: z3.BoolVal(True),
    "F": lambda a, b: z3.BoolVal(False),
}
_UNSIGNED = _SIGNED | {"LT": z3.ULT, "LE": z3.ULE, "GT": z3.UGT, "GE": z3.UGE}


@specifies("{,U}ISETP.{EQ,NE,LT,LE,GT,GE,T,F}{,.U32}.{AND,OR,XOR}{,.EX}")
def compare(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX setp: the comparison and its opposite, each joined with a third predicate.

    With .EX the words are the high ones of wide integers, and the last predicate is the comparison
    of the low ones: it decides where the high words are equal.
    """
    first, second, left, right, other, *low = i.operands
    condition, join = i.modifiers[0], _JOINS[next(m for m in i.modifiers if m in _JOINS)]
    table = _UNSIGNED if i.has("U32") else _SIGNED
    a, b = state.word(left), state.word(right)
    result = table[condition](a, b)
    if i.has("EX") != bool(low):
        raise NotSpecified(i.text)
    if low:
        result = z3.If(a == b, state.condition(low[0]), result)
    joined = state.condition(other)
    writer.condition(first, join(result, joined))
    writer.condition(second, join(z3.Not(result), joined))


@specifies("{,U}ISETP.{EQ,NE,LT,LE,GT,GE}.{U64,S64}.{AND,OR,XOR}")
def compare_long(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX setp of 64 bits, and its opposite, each joined with a third predicate."""
    first, second, left, right, other = i.operands
    table = _UNSIGNED if i.has("U64") else _SIGNED
    result = table[i.modifiers[0]](state.long(left), state.long(right))
    join, joined = _JOINS[i.modifiers[2]], state.condition(other)
    writer.condition(first, join(result, joined))
    writer.condition(second, join(z3.Not(result), joined))


def without_outputs(i: DecodedInstruction) -> list[Operand]:
    """The operands without the two predicates behind the target that sm_100 prints.

    They say which operand was taken; where they are PT nothing gets that.
    """
    target, *rest = i.operands
    outputs, sources = split(tuple(rest))
    if any(not isinstance(each, Predicate) or each.index is not None for each in outputs):
        raise NotSpecified(i.text)
    return [target, *sources]


@specifies("{IMNMX,VIMNMX,UIMNMX}{,.U32,.S32}", "VIMNMX{,.S32}.RELU")
def extreme(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX min where the predicate holds, else max; with .relu not below zero."""
    target, left, right, least = without_outputs(i)
    result = least_or_most(i, state.word(left), state.word(right), state.condition(least))
    writer.word(target, not_negative(result) if i.has("RELU") else result)


@specifies("VIMNMX3{,.U32,.S32,.RELU}")
def extreme_of_three(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX min or max with three operands."""
    target, first, second, third, least = i.operands
    condition = state.condition(least)
    result = least_or_most(i, state.word(first), state.word(second), condition)
    result = least_or_most(i, result, state.word(third), condition)
    writer.word(target, not_negative(result) if i.has("RELU") else result)


@specifies("VIADDMNMX{,.U32,.RELU}")
def extreme_of_sum(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Of ``a + b`` and ``c``."""
    target, left, right, bound, least = i.operands
    total = state.word(left) + state.word(right)
    result = least_or_most(i, total, state.word(bound), state.condition(least))
    writer.word(target, not_negative(result) if i.has("RELU") else result)


def least_or_most(i: DecodedInstruction, left: Word, right: Word, least: Condition) -> Word:
    """The smaller where ``least`` holds, else the larger, by the instruction's type."""
    is_less = z3.ULT(left, right) if i.has("U32") or i.has("U16x2") else left < right
    return z3.If(is_less == least, left, right)


def not_negative(value: Word) -> Word:
    """The value, or zero for one below it."""
    return z3.If(value < 0, word(0, value.size()), value)


@specifies("IABS")
def magnitude(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX abs; the least integer stays."""
    value = state.word(i.operands[1])
    writer.word(i.operands[0], z3.If(value < 0, -value, value))


def _mask(i: DecodedInstruction) -> int:
    literal = i.operands[-1]
    if not isinstance(literal, Immediate):
        raise NotSpecified(i.text)
    return literal.integer


@specifies("P2R{,.B1,.B2,.B3}", "UP2UR{,.B1,.B2,.B3}")
def predicates_to_register(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """A byte of a register gets the predicates that the mask names, bit n that of number n."""
    target, _, source, _ = i.operands
    start = 8 * int(i.modifiers[0][1]) if i.modifiers else 0
    file, mask, value = "UP" if i.opcode == "UP2UR" else "P", _mask(i), state.word(source)
    bits = [z3.Extract(place, place, value) for place in range(32)]
    for number in range(7):
        if mask >> number & 1:
            is_set = state.predicate(file, number)
            bits[start + number] = z3.If(is_set, word(1, 1), word(0, 1))
    if mask >> 7:
        raise NotSpecified(i.text)
    writer.word(target, z3.Concat(bits[::-1]))


@specifies("R2P", "UR2UP")
def register_to_predicates(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """The predicates that the mask names get the bits of a register, number n bit n."""
    _, source, _ = i.operands
    file, mask, value = "UP" if i.opcode == "UR2UP" else "P", _mask(i), state.word(source)
    if mask >> 7:
        raise NotSpecified(i.text)
    for number in range(7):
        if mask >> number & 1:
            is_set = z3.Extract(number, number, value) == 1
            writer.condition(Predicate(file, number), is_set)
