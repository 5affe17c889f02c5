"""Products: IMAD in all its shapes (PTX ISA: mad, mad.wide, mad.hi, madc), and dot products."""

from __future__ import annotations

import z3

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Operand, Predicate
from tests.lift.proofs.specification.state import (
    NotSpecified,
    State,
    Word,
    Writer,
    specifies,
    split,
)
from tests.lift.proofs.specification.sums import EXACT, bit, exact, term, write_sum
from tests.lift.proofs.terms import product


@specifies("{,U}IMAD{,.MOV,.SHL,.IADD,.SHR}{,.U32}")
def multiply_add(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Low word of ``a * b + c``. The names after the dot only say what the assembler wanted."""
    if len(i.operands) != 4:
        raise NotSpecified(i.text)
    target, left, right, addend = i.operands
    low = product(state.word(left), state.word(right))
    writer.word(target, low + state.word(addend))


@specifies("{,U}IMAD{,.U32}.X")
def multiply_add_with_carry(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Low word of a product, plus a word and a carry, as one exact sum."""
    carries, rest = split(i.operands[1:])
    low = product(state.word(rest[0]), state.word(rest[1]))
    total = exact(low) + term(state, rest[2])
    for operand in rest[3:]:
        total = total + bit(state.condition(operand), EXACT)
    write_sum(writer, i.operands[0], total, carries)


@specifies("{,U}IMAD.{WIDE,HI}{,.U32}{,.X}")
def multiply_add_wide(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """64 bits of ``a * b + c``, of which .HI keeps the high word; the carry is out of 64 bits."""
    carries, rest = split(i.operands[1:])
    extend = z3.ZeroExt if i.has("U32") else z3.SignExt
    left, right = (extend(32, state.word(operand)) for operand in rest[:2])
    addend = state.wide(rest[2], signed=not i.has("U32"))
    incoming: list[Operand] = rest[3:]
    if (incoming and not i.has("X")) or any(not isinstance(o, Predicate) for o in incoming):
        raise NotSpecified(i.text)
    total = z3.ZeroExt(2, product(left, right)) + z3.ZeroExt(2, addend)
    for operand in incoming:
        total = total + bit(state.condition(operand), 66)
    if i.has("HI"):
        writer.word(i.operands[0], z3.Extract(63, 32, total))
    else:
        writer.wide(i.operands[0], z3.Extract(63, 0, total))
    if len(carries) > 1:
        raise NotSpecified(i.text)
    for operand in carries:
        writer.condition(operand, z3.Extract(65, 64, total) != 0)


def _piece(value: Word, place: int, width: int, *, signed: bool) -> Word:
    piece = z3.Extract(width * place + width - 1, width * place, value)
    return (z3.SignExt if signed else z3.ZeroExt)(32 - width, piece)


@specifies("IDP.4A.{U8,S8}.{U8,S8}")
def dot_product_4(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX dp4a: four products of bytes, plus a word."""
    target, left, right, addend = i.operands
    a, b, total = state.word(left), state.word(right), state.word(addend)
    first, second = (kind == "S8" for kind in i.modifiers[1:])
    for place in range(4):
        factors = _piece(a, place, 8, signed=first), _piece(b, place, 8, signed=second)
        total = total + product(*factors)
    writer.word(target, total)


@specifies("IDP.2A.{LO,HI}.{U16,S16}.{U8,S8}")
def dot_product_2(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX dp2a: halves of a times the low or high two bytes of b, plus a word."""
    target, left, right, addend = i.operands
    a, b, total = state.word(left), state.word(right), state.word(addend)
    start = 2 if i.has("HI") else 0
    for place in range(2):
        half = _piece(a, place, 16, signed=i.has("S16"))
        total = total + product(half, _piece(b, start + place, 8, signed=i.has("S8")))
    writer.word(target, total)
