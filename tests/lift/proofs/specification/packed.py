"""Several integers in a word (PTX ISA: video and SIMD instructions)."""

from __future__ import annotations

from collections.abc import Callable

import z3

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Operand, Register
from tests.lift.proofs.specification.predicates import least_or_most, not_negative, without_outputs
from tests.lift.proofs.specification.state import NotSpecified, State, Word, Writer, specifies, word


def _halves(state: State, operand: Operand) -> tuple[Word, Word]:
    """The low half, the high half; a sign is that of each."""
    value = state.raw(operand)
    halves = z3.Extract(15, 0, value), z3.Extract(31, 16, value)
    if isinstance(operand, Register | Constant):
        if operand.suffixes or operand.absolute or operand.inverted:
            raise NotSpecified(f"modifiers of {operand}")
        if operand.negated:
            return -halves[0], -halves[1]
    return halves


def _by_halves(state: State, operands: tuple[Operand, ...], make: Callable[..., Word]) -> Word:
    given = [_halves(state, operand) for operand in operands]
    return z3.Concat(make(*(half[1] for half in given)), make(*(half[0] for half in given)))


@specifies("VIADD.16x2")
def add_halves(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX add.{u,s}16x2."""
    target, left, right = i.operands
    writer.word(target, _by_halves(state, (left, right), lambda a, b: a + b))


@specifies("VIMNMX.{U16x2,S16x2,S16x2.RELU}")
def extreme_of_halves(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX min and max of .u16x2 and .s16x2."""
    target, left, right, least = without_outputs(i)
    condition = state.condition(least)

    def one(a: Word, b: Word) -> Word:
        found = least_or_most(i, a, b, condition)
        return not_negative(found) if i.has("RELU") else found

    writer.word(target, _by_halves(state, (left, right), one))


@specifies("VIMNMX3.{U16x2,S16x2,S16x2.RELU}")
def extreme_of_three_halves(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """The same of three."""
    target, *sources, least = i.operands
    condition = state.condition(least)

    def one(a: Word, b: Word, c: Word) -> Word:
        found = least_or_most(i, least_or_most(i, a, b, condition), c, condition)
        return not_negative(found) if i.has("RELU") else found

    writer.word(target, _by_halves(state, tuple(sources), one))


@specifies("VIADDMNMX.{U16x2,S16x2,S16x2.RELU}")
def extreme_of_sums_of_halves(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """The same of ``a + b`` and ``c``."""
    target, *sources, least = i.operands
    condition = state.condition(least)

    def one(a: Word, b: Word, c: Word) -> Word:
        found = least_or_most(i, a + b, c, condition)
        return not_negative(found) if i.has("RELU") else found

    writer.word(target, _by_halves(state, tuple(sources), one))


@specifies("VABSDIFF{,.U32,.S32}")
def distance(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX sad: ``c + |a - b|``."""
    target, left, right, addend = i.operands
    a, b = state.word(left), state.word(right)
    is_less = z3.ULT(a, b) if i.has("U32") else a < b
    writer.word(target, z3.If(is_less, b - a, a - b) + state.word(addend))


@specifies("VABSDIFF4{,.U8,.S8}{,.ACC}")
def distance_of_bytes(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX vabsdiff4: of each byte, with .ACC (.add) their sum plus a word."""
    target, left, right, addend = i.operands
    a, b = state.word(left), state.word(right)
    distances = []
    for place in range(4):
        one, other = (z3.Extract(8 * place + 7, 8 * place, value) for value in (a, b))
        is_less = one < other if i.has("S8") else z3.ULT(one, other)
        distances.append(z3.If(is_less, other - one, one - other))
    if not i.has("ACC"):
        writer.word(target, z3.Concat(distances[::-1]))
        return
    total = state.word(addend)
    for each in distances:
        total = total + z3.ZeroExt(24, each)
    writer.word(target, total)


_RANGES = {"U8": (0, 0xFF), "S8": (-0x80, 0x7F), "U16": (0, 0xFFFF), "S16": (-0x8000, 0x7FFF)}


@specifies("I2I.{U8,S8,U16,S16}.S32.SAT")
def saturate(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX cvt.sat: the nearest value of a narrower type, extended by its sign or by zeros."""
    target, source = i.operands
    value = state.word(source)
    least, most = (word(bound) for bound in _RANGES[i.modifiers[0]])
    writer.word(target, z3.If(value < least, least, z3.If(value > most, most, value)))
