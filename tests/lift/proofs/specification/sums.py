"""Sums of words with carries: IADD3, LEA, VIADD, and what IMAD does where its product is none."""

from __future__ import annotations

from dataclasses import replace

import z3

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Operand, Predicate, Register
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

EXACT = 36
"""Bits in which a sum of four terms of 33 bits is exact."""


def exact(value: Word) -> Word:
    """A word as a number that is not negative."""
    return z3.ZeroExt(EXACT - value.size(), value)


def subtrahend(value: Word) -> Word:
    """What an adder gets to subtract ``value``: its complement and a one.

    For zero that is 2^32, with the carry which says that nothing was borrowed.
    """
    return exact(~value) + 1


def _is_negated(operand: Operand) -> bool:
    return isinstance(operand, Register | Constant) and operand.negated


def term(state: State, operand: Operand) -> Word:
    """What an operand adds to an exact sum."""
    if _is_negated(operand):
        assert isinstance(operand, Register | Constant)
        if operand.absolute or operand.inverted:
            raise NotSpecified(f"{operand} in a sum")
        return subtrahend(state.raw(operand))
    return exact(state.word(operand))


def bit(condition: Condition, width: int) -> Word:
    """One where the condition holds."""
    return z3.If(condition, word(1, width), word(0, width))


def write_sum(writer: Writer, target: Operand, total: Word, carries: list[Operand]) -> None:
    """Write an exact sum's word, and of its carry whether it is at least 1, and at least 2."""
    writer.word(target, z3.Extract(31, 0, total))
    if len(carries) > 2:
        raise NotSpecified("more than two carries")
    for number, carry in enumerate(carries):
        writer.condition(carry, z3.UGE(z3.LShR(total, 32), word(number + 1, EXACT)))


@specifies("{,U}IADD3{,.X}")
def add3(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Three terms; with .X the words are inverted, not negated, and two carries come in."""
    carries, rest = split(i.operands[1:])
    terms, incoming = rest[:3], rest[3:]
    if len(terms) != 3 or (incoming and not i.has("X")):
        raise NotSpecified(i.text)
    total = sum((term(state, operand) for operand in terms), word(0, EXACT))
    for operand in incoming:
        total = total + bit(state.condition(operand), EXACT)
    write_sum(writer, i.operands[0], total, carries)


@specifies("UIADD3.64", "IADD.64", "IADD.64.X")
def add_long(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Two or three terms of 64 bits (PTX add.u64); with .X a carry comes in."""
    carries, rest = split(i.operands[1:])
    terms = [operand for operand in rest if not isinstance(operand, Predicate)]
    incoming = rest[len(terms) :]
    is_written = [isinstance(carry, Predicate) and carry.index is not None for carry in carries]
    if any(is_written[1:]) or bool(incoming) != i.has("X"):
        raise NotSpecified(i.text)
    total = sum((_long_term(state, operand) for operand in terms), word(0, EXACT + 32))
    for operand in incoming:
        total = total + bit(state.condition(operand), EXACT + 32)
    writer.wide(i.operands[0], z3.Extract(63, 0, total))
    for carry in carries:
        writer.condition(carry, z3.LShR(total, 64) != 0)


def _long_term(state: State, operand: Operand) -> Word:
    if not _is_negated(operand):
        return z3.ZeroExt(EXACT - 32, state.long(operand))
    assert isinstance(operand, Register | Constant)
    value = state.long(replace(operand, negated=False))
    return z3.ZeroExt(EXACT - 32, ~value) + 1


@specifies("VIADD", "UIADD")
def add(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Two terms."""
    target, left, right = _exactly(i, 3)
    writer.word(target, state.word(left) + state.word(right))


@specifies("{,U}LEA")
def scaled_sum(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """``(a << scale) + b``; a negated ``a`` is subtracted after it is scaled."""
    carries, rest = split(i.operands[1:])
    first, second, scale = rest[0], rest[1], _scale(i, rest[2:])
    scaled = state.raw(first) << scale
    if isinstance(first, Register | Constant) and (first.inverted or first.absolute):
        raise NotSpecified(i.text)
    total = subtrahend(scaled) if _is_negated(first) else exact(scaled)
    write_sum(writer, i.operands[0], total + term(state, second), carries)


@specifies("{,U}LEA.X")
def scaled_sum_with_carry(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """``(a << scale) + b`` and a carry."""
    carries, rest = split(i.operands[1:])
    first, second, *further = rest
    incoming = [operand for operand in further if isinstance(operand, Predicate)]
    literals: list[Operand] = [o for o in further if not isinstance(o, Predicate)]
    scale = _scale(i, literals)
    if carries or len(incoming) != 1:
        raise NotSpecified(i.text)
    total = exact(state.word(first) << scale) + term(state, second)
    write_sum(writer, i.operands[0], total + bit(state.condition(incoming[0]), EXACT), [])


@specifies("{,U}LEA.HI{,.X}{,.SX32}")
def scaled_sum_high(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """High word of ``{c, a} << scale``, plus ``b`` and a carry; with .SX32 ``c`` is a's sign."""
    carries, rest = split(i.operands[1:])
    incoming = [operand for operand in rest if isinstance(operand, Predicate)]
    words = [operand for operand in rest if not isinstance(operand, Predicate)]
    if incoming and not i.has("X"):
        raise NotSpecified(i.text)
    first, second = words[0], words[1]
    if isinstance(first, Register | Constant) and (
        first.negated or first.inverted or first.absolute
    ):
        raise NotSpecified(i.text)
    if i.has("SX32"):
        wide = z3.SignExt(32, state.word(first))
        scale = _scale(i, words[2:])
    else:
        wide = z3.Concat(state.word(words[2]), state.word(first))
        scale = _scale(i, words[3:])
    total = exact(z3.Extract(63, 32, wide << scale)) + term(state, second)
    for operand in incoming:
        total = total + bit(state.condition(operand), EXACT)
    write_sum(writer, i.operands[0], total, carries)


def _scale(i: DecodedInstruction, operands: list[Operand]) -> int:
    if not operands:
        return 0
    if len(operands) == 1 and isinstance(operands[0], Immediate) and operands[0].integer < 32:
        return operands[0].integer
    raise NotSpecified(i.text)


def _exactly(i: DecodedInstruction, count: int) -> list[Operand]:
    if len(i.operands) != count:
        raise NotSpecified(i.text)
    return list(i.operands)
