"""Moves, logic, shifts, bit fields, counts and permutations of bytes."""

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


@specifies("MOV", "UMOV", "MOV32I")
def move(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """One word; a third operand would mask bytes, and is 0xf: all of them."""
    if i.operands[2:] and not _is_literal(i.operands[2], 0xF):
        raise NotSpecified(i.text)
    writer.word(i.operands[0], state.word(i.operands[1]))


@specifies("{,U}MOV.64")
def move_long(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Two words."""
    target, source = i.operands
    writer.wide(target, state.long(source))


@specifies("{LDC,ULDC,LDCU}{,.64,.128,.U8,.S8,.U16,.S16}")
def load_constant(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX ld.const, ld.param: words of a bank, or a byte or half in one that is extended."""
    target, source = i.operands
    if not isinstance(source, Constant):
        raise NotSpecified(i.text)
    size = i.modifiers[0] if i.modifiers else "32"
    if size.isdigit():
        for distance in range(int(size) // 32):
            writer.word(target, state.raw(source, distance), distance)
        return
    bits, start = int(size[1:]), 8 * (source.offset & 3)
    if start + bits > 32:
        raise NotSpecified(f"{i.text}: not in one word")
    whole = state.raw(replace(source, offset=source.offset & ~3))
    extend = z3.SignExt if size[0] == "S" else z3.ZeroExt
    writer.word(target, extend(32 - bits, z3.Extract(start + bits - 1, start, whole)))


@specifies("SEL", "USEL")
def select(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX selp."""
    target, yes, no, condition = i.operands
    writer.word(target, z3.If(state.condition(condition), state.word(yes), state.word(no)))


def _is_literal(operand: Operand, number: int) -> bool:
    return isinstance(operand, Immediate) and operand.integer == number


def _literal(operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        raise NotSpecified(f"{operand} is no literal")
    return operand.integer


def of_truth_table(table: int, inputs: tuple[Word, Word, Word], zero: Word) -> Word:
    """PTX lop3: bit 4a + 2b + c of ``table`` is the result where the inputs' bits are a, b, c."""
    result = zero
    for row in range(8):
        if table >> row & 1:
            a, b, c = (
                value if row >> shift & 1 else ~value
                for value, shift in zip(inputs, (2, 1, 0), strict=True)
            )
            result = result | (a & b & c)
    return result


@specifies("{,U}LOP3.LUT{,.PAND}")
def logic(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX lop3; its predicate is ``result != 0``, joined with one that comes in."""
    targets, rest = split(i.operands)
    inputs = (state.word(rest[1]), state.word(rest[2]), state.word(rest[3]))
    result = of_truth_table(_literal(rest[4]), inputs, word(0))
    writer.word(rest[0], result)
    if targets:
        other = state.condition(rest[5])
        join = z3.And if i.has("PAND") else z3.Or
        writer.condition(targets[0], join(result != 0, other))


@specifies("{,U}PLOP3.LUT")
def predicate_logic(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """Two truth tables of three predicates; ``R4.SIGN`` is whether R4 is negative."""
    first, second, *rest = i.operands
    inputs = tuple(_as_bit(state, operand) for operand in rest[:3])
    for target, table in zip((first, second), rest[3:], strict=True):
        result = of_truth_table(_literal(table), inputs, word(0, 1))  # type: ignore[arg-type]
        writer.condition(target, result == 1)


def _as_bit(state: State, operand: Operand) -> Word:
    if isinstance(operand, Register) and operand.suffixes == ("SIGN",):
        sign = z3.Extract(31, 31, state.raw(operand))
        return ~sign if operand.inverted else sign
    if not isinstance(operand, Predicate):
        raise NotSpecified(f"{operand} in PLOP3")
    return _bit(state.condition(operand))


def _bit(condition: Condition) -> Word:
    return z3.If(condition, word(1, 1), word(0, 1))


def at_most(value: Word, bound: int) -> Word:
    """The smaller of two unsigned numbers."""
    return z3.If(z3.ULT(value, bound), value, word(bound, value.size()))


@specifies("{,U}SHF.{L,R}{,.W}.{U32,S32,U64,S64}{,.HI}")
def funnel_shift(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX shf: ``{c, a}`` by ``b``, clamped to the type's width or wrapped; one word of it."""
    target, low, amount, high = i.operands
    pair = z3.Concat(state.word(high), state.word(low))
    width = 64 if i.has("U64") or i.has("S64") else 32
    count = state.word(amount)
    count = count & (width - 1) if i.has("W") else at_most(count, width)
    # With a bit above it the pair is a number, whose sign moves in on the left.
    extended = z3.SignExt(1, pair) if i.has("S32") or i.has("S64") else z3.ZeroExt(1, pair)
    distance = z3.ZeroExt(33, count)
    shifted = extended << distance if i.has("L") else extended >> distance
    writer.word(target, z3.Extract(63, 32, shifted) if i.has("HI") else z3.Extract(31, 0, shifted))


@specifies("SHL", "USHL")
def shift_left(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX shl: counts beyond 31 give zero."""
    target, value, amount = i.operands
    writer.word(target, state.word(value) << state.word(amount))


@specifies("{,U}SGXT{,.W}{,.U32}")
def extend_field(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX szext: the low ``n`` bits extended by their sign, or by zeros; n over 31 keeps all."""
    target, source, width = i.operands
    value, count = state.word(source), state.word(width)
    count = count & 31 if i.has("W") else at_most(count, 32)
    kept = z3.ZeroExt(1, value) & ((word(1, 33) << z3.ZeroExt(1, count)) - 1)
    field = z3.Extract(31, 0, kept)
    if i.has("U32"):
        writer.word(target, field)
        return
    above = ~z3.Extract(31, 0, (word(1, 33) << z3.ZeroExt(1, count)) - 1)
    sign = z3.LShR(value, count - 1) & 1
    is_set = z3.And(count != 0, sign == 1)
    writer.word(target, z3.If(is_set, field | above, field))


@specifies("{,U}BMSK{,.W}")
def mask(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX bmsk: ``n`` ones from bit ``s`` on."""
    target, start, count = i.operands
    first, length = state.word(start), state.word(count)
    if i.has("W"):
        first, length = first & 31, length & 31
    bits = []
    for place in range(32):
        # In 33 bits: the end of the field may be beyond 2^32.
        end = z3.ZeroExt(1, first) + z3.ZeroExt(1, length)
        inside = z3.And(z3.ULE(first, place), z3.ULT(word(place, 33), end))
        bits.append(_bit(inside))
    writer.word(target, z3.Concat(bits[::-1]))


@specifies("POPC", "UPOPC")
def count_ones(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX popc."""
    value = state.word(i.operands[1])
    ones = [z3.ZeroExt(31, z3.Extract(place, place, value)) for place in range(32)]
    writer.word(i.operands[0], z3.Sum(ones))


@specifies("BREV", "UBREV")
def reverse(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX brev."""
    value = state.word(i.operands[1])
    parts = [z3.Extract(place, place, value) for place in range(32)]
    writer.word(i.operands[0], z3.Concat(parts))


@specifies("{,U}FLO{,.U32}{,.SH}")
def find_leading(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX bfind: the highest bit that is set, or unlike the sign; -1 for none.

    With .SH (PTX .shiftamt) the shift that brings it to the top.
    """
    targets = [operand for operand in i.operands[1:] if isinstance(operand, Predicate)]
    if any(isinstance(t, Predicate) and t.index is not None for t in targets):
        raise NotSpecified(i.text)
    value = state.word(i.operands[-1])
    if not i.has("U32"):
        value = z3.If(value < 0, ~value, value)
    found = word(-1)
    for place in range(32):
        is_set = z3.Extract(place, place, value) == 1
        found = z3.If(is_set, word(31 - place if i.has("SH") else place), found)
    writer.word(i.operands[0], found)


_PATTERNS = {
    "F4E": ((3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)),
    "B4E": ((5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)),
    "RC8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ECL": ((3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)),
    "ECR": ((0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)),
    "RC16": ((1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)),
}
"""PTX ISA, prmt, table of modes: bytes d.b3 to d.b0 for selectors 0 to 3."""


@specifies("{,U}PRMT{,.F4E,.B4E,.RC8,.ECL,.ECR,.RC16}")
def permute(state: State, i: DecodedInstruction, writer: Writer) -> None:
    """PTX prmt: four of the bytes of ``{c, a}``; bit 3 of a selector asks for the byte's sign."""
    target, low, selector, high = i.operands
    pair = z3.Concat(state.word(high), state.word(low))
    source = [z3.Extract(8 * n + 7, 8 * n, pair) for n in range(8)]
    chosen = state.word(selector)
    if i.modifiers:
        patterns = _PATTERNS[i.modifiers[0]]
        bytes_ = [
            _one_of([source[pattern[place]] for pattern in patterns], z3.Extract(1, 0, chosen))
            for place in range(4)
        ]
        writer.word(target, z3.Concat(bytes_))
        return
    picked = []
    for place in (3, 2, 1, 0):
        byte = _one_of(source, z3.Extract(4 * place + 2, 4 * place, chosen))
        replicates = z3.Extract(4 * place + 3, 4 * place + 3, chosen) == 1
        sign = z3.If(byte < 0, word(0xFF, 8), word(0, 8))
        picked.append(z3.If(replicates, sign, byte))
    writer.word(target, z3.Concat(picked))


def _one_of(values: list[Word], index: Word) -> Word:
    result = values[0]
    for number, value in enumerate(values[1:], start=1):
        result = z3.If(index == number, value, result)
    return result
