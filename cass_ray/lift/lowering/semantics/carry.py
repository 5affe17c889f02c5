"""Sums with carries, and what ptxas computes with them: 64-bit sums in two halves.

The second half of such a sum is written as one 64-bit addition, and the first half's register is
given its low word, so that LLVM sees an address or a wide counter instead of carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Operand, Operands, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, Value, i32, i64
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.known_values import LowSum, Term
from cass_ray.lift.lowering.patterns import Sums
from cass_ray.lift.lowering.semantics.integer import leading_predicates
from cass_ray.lift.lowering.table import lowers


def _term(ctx: LoweringContext, operand: Operand) -> Term:
    if isinstance(operand, Register | Constant) and operand.negated and not operand.absolute:
        return Term(ctx.plain_integer(operand), negated=True, place=_place(operand))
    return Term(ctx.integer(operand), place=_place(operand))


def _place(operand: Operand) -> Register | Constant | None:
    if not isinstance(operand, Register | Constant):
        return None
    return replace(operand, negated=False, inverted=False, absolute=False)


def _carrying(ctx: LoweringContext, term: Term) -> Value:
    """What a term adds in 64 bits, so that the carry is above bit 31: -x is ~x + 1."""
    word = _scaled_word(ctx, term)
    if term.negated:
        return ctx.ir.op("add", ctx.ir.cast("zext", ctx.ir.invert(word), "i64"), i64(1))
    return ctx.ir.cast("zext", word, "i64")


def _scaled_word(ctx: LoweringContext, term: Term) -> Value:
    """What a negated term subtracts, any other adds."""
    return ctx.ir.op("shl", term.word, i32(term.scale)) if term.scale else term.word


def _taken(ctx: LoweringContext, carries_in: Sequence[Operand]) -> list[Value]:
    """The carries in, without those that are never set."""
    return [value for operand in carries_in if (value := ctx.predicate(operand)) != FALSE]


def _is_zero(term: Term) -> bool:
    return term.word.number == 0 and not term.negated


def add_low(
    ctx: LoweringContext, target: Operand, terms: list[Term], carries_out: Sequence[Operand]
) -> None:
    """Write the sum of words, and its carries."""
    present = tuple(term for term in terms if not _is_zero(term))
    if len(present) == 2 and len(carries_out) == 1:
        low, carry = _two_terms(ctx, present)
        ctx.write(target, low)
        ctx.write_predicate(carries_out[0], carry)
        ctx.carries[carry] = LowSum(present, target, low)
        return
    total = i64(0)
    for term in present:
        total = ctx.ir.op("add", total, _carrying(ctx, term))
    ctx.write(target, ctx.ir.low(total))
    high = ctx.ir.high(total)
    for number, predicate in enumerate(carries_out):
        ctx.write_predicate(predicate, ctx.ir.icmp("ugt", high, i32(number)))


def _two_terms(ctx: LoweringContext, terms: tuple[Term, ...]) -> tuple[Value, Value]:
    """Sum and carry of two."""
    positive = sorted(terms, key=lambda term: term.negated)
    first, second = positive
    if first.negated:
        total = ctx.ir.op("add", _carrying(ctx, first), _carrying(ctx, second))
        return ctx.ir.low(total), ctx.ir.icmp("ne", ctx.ir.high(total), i32(0))
    left, right = _scaled_word(ctx, first), _scaled_word(ctx, second)
    if second.negated:
        return ctx.ir.op("sub", left, right), ctx.ir.icmp("uge", left, right)
    total = ctx.ir.op("add", left, right)
    return total, ctx.ir.icmp("ult", total, right)


def add_high(
    ctx: LoweringContext, target: Operand, terms: list[Term], carries_in: Sequence[Operand]
) -> Value | None:
    """Write the sum of high words and carries as the high half of a 64-bit sum.

    None where the carries are of no sum that fits; then nothing is written.
    """
    carries = _taken(ctx, carries_in)
    low = ctx.carries.get(carries[0]) if len(carries) == 1 else None
    if low is None or any(term.scale for term in low.terms):
        return None
    high = [term for term in terms if not _is_zero(term)]
    total = _wide_sum(ctx, _Halves(low, target), high)
    if total is not None:
        write_wide_sum(ctx, low, target, total)
    return total


@dataclass(frozen=True)
class _Halves:
    """What is known of the words of a wide sum, beside the high words themselves."""

    low: LowSum
    target: Operand
    """Where the high word of the sum goes."""

    def are_one(self, ctx: LoweringContext, low: Term, high: Term) -> bool:
        """Whether ``high`` was read next to ``low``, or is known to be of the same 64 bits.

        Also where both words of the sum go to where these two were: a counter.
        """
        if ctx.ir.are_halves(low.word, high.word):
            return True
        if isinstance(low.place, Register) and isinstance(high.place, Register):
            if not low.place.is_zero and low.place.following(1) == high.place:
                return True
            return (low.place, high.place) == (self.low.target, self.target)
        if isinstance(low.place, Constant) and isinstance(high.place, Constant):
            return replace(low.place, offset=low.place.offset + 4) == high.place
        return False


def _wide_sum(ctx: LoweringContext, halves: _Halves, high: list[Term]) -> Value | None:
    """The 64-bit sum: any high word may go with any low one, inverted ones with negated ones.

    Those that are next to each other go together, so that LLVM sees a pointer and an offset.
    """
    low = halves.low.terms
    inverted = [term for term in high if term.negated]
    plain = sorted(
        (term for term in high if not term.negated), key=lambda term: term.word.number is not None
    )
    total = i64(0)
    for term in sorted(low, key=lambda term: (not term.negated, term.word.number is not None)):
        if term.negated:
            if not inverted:
                ones = next((each for each in plain if each.word.number == 0xFFFFFFFF), None)
                if ones is None:
                    return None
                plain.remove(ones)
                inverted.append(Term(i32(0), negated=True))
            above = _take_high(ctx, term, halves, inverted) or inverted.pop(0).word
            total = ctx.ir.op("sub", total, ctx.ir.pair(term.word, above))
            continue
        above = _take_high(ctx, term, halves, plain) or i32(0)
        total = ctx.ir.op("add", total, ctx.ir.pair(term.word, above))
    if inverted:
        return None
    for term in plain:
        total = ctx.ir.op("add", total, ctx.ir.pair(i32(0), term.word))
    return total


def _take_high(ctx: LoweringContext, term: Term, halves: _Halves, high: list[Term]) -> Value | None:
    """Remove from ``high`` the word that is above that of ``term``, else one like it.

    None where there are none but those that belong to the others of ``low``.
    """
    own = [each for each in high if halves.are_one(ctx, term, each)]
    is_constant = term.word.number is not None
    others = [
        each
        for each in high
        if (each.word.number is not None) == is_constant
        and not any(halves.are_one(ctx, other, each) for other in halves.low.terms)
    ]
    chosen = next(iter(own or others), None)
    if chosen is None:
        return None
    high.remove(chosen)
    return chosen.word


def write_wide_sum(ctx: LoweringContext, low: LowSum, target: Operand, total: Value) -> None:
    """Write the high word, and the low one where its register still holds the low sum."""
    ctx.write(target, ctx.ir.high(total))
    ctx.respell(low.target, low.result, ctx.ir.low(total))


def _high_term(ctx: LoweringContext, operand: Operand) -> Term:
    """A term of a sum of high words: inverted ones belong to negated low words."""
    if isinstance(operand, Register | Constant) and operand.inverted:
        return Term(ctx.plain_integer(operand), negated=True, place=_place(operand))
    return Term(ctx.integer(operand), place=_place(operand))


def _carries_and_terms(i: DecodedInstruction) -> tuple[list[Predicate], Operands]:
    """The predicates that get carries, without those that are dropped, and what follows them."""
    predicates, rest = leading_predicates(i.operands[1:])
    return [p for p in predicates if isinstance(p, Predicate) and p.index is not None], rest


@lowers("{,U}IADD3")
def add3(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum of three, with up to two carries out."""
    carries_out, rest = _carries_and_terms(i)
    if len(rest) != 3:
        raise i.unknown("carry in without .X")
    if not carries_out:
        terms = Sums(ctx.ir).shortened([ctx.integer(term) for term in rest])
        ctx.write(i.operands[0], ctx.ir.sum(*terms))
        return
    add_low(ctx, i.operands[0], [_term(ctx, operand) for operand in rest], carries_out)


@lowers("UIADD3.64", "IADD.64")
def add_wide(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum of two or three of 64 bits each; of two with a carry out."""
    carries_out, terms = _carries_and_terms(i)
    values = [ctx.wide_literal_or_register(term) for term in terms]
    total = ctx.ir.sum(*values)
    if carries_out:
        left, right = terms[:2] if len(terms) == 2 else (i.operands[0], i.operands[0])
        if len(terms) != 2 or len(carries_out) != 1 or _is_negated(left):
            raise i.unknown("a carry of this sum")
        if _is_negated(right):
            taken = ctx.ir.op("sub", i64(0), values[1])
            carry = ctx.ir.icmp("uge", values[0], taken)
        else:
            carry = ctx.ir.icmp("ult", total, values[0])
        ctx.write_predicate(carries_out[0], carry)
    ctx.write_wide(i.operands[0], total)


def _is_negated(operand: Operand) -> bool:
    return isinstance(operand, Register | Constant) and operand.negated


@lowers("IADD.64.X")
def add_wide_with_carry(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum of two of 64 bits and of a carry in, with a carry out."""
    carries_out, rest = _carries_and_terms(i)
    left, right, carry_in = rest.exactly(3)
    if _is_negated(left) or _is_negated(right):
        raise i.unknown("a negated term of a sum with a carry")
    values = [ctx.wide_literal_or_register(term) for term in (left, right)]
    partial = ctx.ir.op("add", *values)
    carry = ctx.ir.cast("zext", ctx.predicate(carry_in), "i64")
    total = ctx.ir.op("add", partial, carry)
    if carries_out:
        first = ctx.ir.icmp("ult", partial, values[0])
        second = ctx.ir.icmp("ult", total, partial)
        ctx.write_predicate(carries_out[0], ctx.ir.either(first, second))
    ctx.write_wide(i.operands[0], total)


@lowers("{,U}IADD3.X")
def add3_with_carry(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Sum of three words and of up to two carries in, with carries out."""
    carries_out, rest = _carries_and_terms(i)
    _with_carry(ctx, i.operands[0], rest[:3].exactly(3), rest[3:], carries_out)


def _with_carry(
    ctx: LoweringContext,
    target: Operand,
    operands: Sequence[Operand],
    carries_in: Sequence[Operand],
    carries_out: Sequence[Operand],
) -> None:
    carries = _taken(ctx, carries_in)
    if not carries_out:
        terms = [_high_term(ctx, operand) for operand in operands]
        if add_high(ctx, target, terms, carries_in) is not None:
            return
        total = ctx.ir.sum(*(ctx.integer(operand) for operand in operands))
        for carry in carries:
            total = ctx.ir.op("add", total, ctx.ir.cast("zext", carry, "i32"))
        ctx.write(target, total)
        return
    total = i64(0)
    for operand in operands:
        total = ctx.ir.op("add", total, _carrying(ctx, _term(ctx, operand)))
    for carry in carries:
        total = ctx.ir.op("add", total, ctx.ir.cast("zext", carry, "i64"))
    ctx.write(target, ctx.ir.low(total))
    for number, predicate in enumerate(carries_out):
        ctx.write_predicate(predicate, ctx.ir.icmp("ugt", ctx.ir.high(total), i32(number)))


@lowers("{,U}IMAD{.X,.U32.X}")
def multiply_add_with_carry(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """Low word of a product, plus a word and a carry, with a carry out."""
    carries_out, rest = _carries_and_terms(i)
    factor, other, term = rest[:3].exactly(3)
    if ctx.integer(other).number == 1:  # ptxas' other way to add
        _with_carry(ctx, i.operands[0], [factor, term], rest[3:], carries_out)
        return
    product = ctx.ir.op("mul", ctx.integer(factor), ctx.integer(other))
    if product.number == 0:
        _with_carry(ctx, i.operands[0], [term], rest[3:], carries_out)
        return
    total = ctx.ir.op("add", ctx.ir.cast("zext", product, "i64"), _carrying(ctx, _term(ctx, term)))
    for carry in rest[3:]:
        total = ctx.ir.op("add", total, ctx.ir.cast("zext", ctx.predicate(carry), "i64"))
    ctx.write(i.operands[0], ctx.ir.low(total))
    for predicate in carries_out:
        ctx.write_predicate(predicate, ctx.ir.icmp("ne", ctx.ir.high(total), i32(0)))


def _shift_count(i: DecodedInstruction, operands: Sequence[Operand], place: int) -> int:
    if len(operands) <= place:
        return 0
    count = getattr(operands[place], "integer", None)
    if not isinstance(count, int) or not 0 <= count < 32:
        raise i.unknown("a scale that is no literal")
    return count


@lowers("{,U}LEA")
def scale_and_add(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A word scaled by a power of two, plus a word, with a carry out.

    A negated word is subtracted after it is scaled: the carry is that of ``b - (a << scale)``,
    which is 1 where ``a << scale`` is 0 (an H200's answer: ``tests/lift/vectors``).
    """
    carries_out, rest = _carries_and_terms(i)
    scale = _shift_count(i, rest, 2)
    if not carries_out:
        word = ctx.ir.op("shl", ctx.integer(rest[0]), i32(scale))
        ctx.write(i.operands[0], ctx.ir.op("add", word, ctx.integer(rest[1])))
        return
    scaled = replace(_term(ctx, rest[0]), scale=scale)
    add_low(ctx, i.operands[0], [scaled, _term(ctx, rest[1])], carries_out)


@lowers("{,U}LEA.X")
def scale_and_add_with_carry(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """A word scaled by a power of two, plus a word and a carry.

    ptxas writes so the high word of a sum whose scaled term has no bits in the low one.
    """
    carries_out, rest = _carries_and_terms(i)
    word, addend, *further = rest
    carries_in = [operand for operand in further if isinstance(operand, Predicate)]
    scale = _shift_count(i, [o for o in further if not isinstance(o, Predicate)], 0)
    if carries_out or len(carries_in) != 1 or _is_negated(word) or _is_negated(addend):
        raise i.unknown("not a word, a word and a carry")
    total = ctx.ir.op("shl", ctx.integer(word), i32(scale))
    total = ctx.ir.op("add", total, ctx.integer(addend))
    carry = ctx.ir.cast("zext", ctx.predicate(carries_in[0]), "i32")
    ctx.write(i.operands[0], ctx.ir.op("add", total, carry))


@lowers("{,U}LEA.HI{,.X}{,.SX32}")
def scale_and_add_high(ctx: LoweringContext, i: DecodedInstruction) -> None:
    """High word of a scaled wide integer, plus a word and a carry.

    The wide integer is the first operand with the third above it, or sign-extended with .SX32.
    """
    carries_out, rest = _carries_and_terms(i)
    carries_in = [operand for operand in rest if isinstance(operand, Predicate)]
    words = Operands(operand for operand in rest if not isinstance(operand, Predicate))
    if carries_in and not i.has("X"):
        raise i.unknown("carry in without .X")
    scale = _shift_count(i, words, 2 if i.has("SX32") else 3)
    wide = _scaled(ctx, i, words, scale)
    if not carries_out and _as_wide_sum(ctx, i, words, scale, carries_in):
        return
    high = ctx.ir.high(wide)
    if not carries_out:
        total = ctx.ir.op("add", high, ctx.integer(words[1]))
        for carry in carries_in:
            total = ctx.ir.op("add", total, ctx.ir.cast("zext", ctx.predicate(carry), "i32"))
        ctx.write(i.operands[0], total)
        return
    sum64 = ctx.ir.op("add", ctx.ir.cast("zext", high, "i64"), _carrying(ctx, _term(ctx, words[1])))
    for carry in carries_in:
        sum64 = ctx.ir.op("add", sum64, ctx.ir.cast("zext", ctx.predicate(carry), "i64"))
    ctx.write(i.operands[0], ctx.ir.low(sum64))
    for predicate in carries_out:
        ctx.write_predicate(predicate, ctx.ir.icmp("ne", ctx.ir.high(sum64), i32(0)))


def _scaled(
    ctx: LoweringContext, i: DecodedInstruction, words: Sequence[Operand], scale: int
) -> Value:
    if i.has("SX32"):
        wide = ctx.ir.cast("sext", ctx.integer(words[0]), "i64")
    else:
        first = words[0]
        if isinstance(first, Register | Constant) and first.negated:
            wide = ctx.ir.op(
                "sub", i64(0), ctx.ir.pair(ctx.plain_integer(first), ctx.integer(words[2]))
            )
        else:
            wide = ctx.ir.pair(ctx.integer(first), ctx.integer(words[2]))
    return ctx.ir.op("shl", wide, i64(scale))


def _as_wide_sum(
    ctx: LoweringContext,
    i: DecodedInstruction,
    words: Sequence[Operand],
    scale: int,
    carries_in: Sequence[Operand],
) -> bool:
    """Write both halves at once where the carry is that of the scaled low words."""
    carries = _taken(ctx, carries_in)
    low = ctx.carries.get(carries[0]) if len(carries) == 1 else None
    if low is None or len(low.terms) != 2:
        return False
    scaled, added = low.terms
    first, second = words[0], words[1]
    if isinstance(first, Register | Constant) and first.negated:
        return False
    if scaled.negated or (scaled.word, scaled.scale) != (ctx.integer(first), scale):
        return False
    if added.negated or added.scale:
        return False
    if isinstance(second, Register | Constant) and (second.negated or second.inverted):
        return False
    total = ctx.ir.op(
        "add", _scaled(ctx, i, words, scale), ctx.ir.pair(added.word, ctx.integer(second))
    )
    write_wide_sum(ctx, low, i.operands[0], total)
    return True
