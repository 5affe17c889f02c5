"""Forms that ``cass_ray/lift/form_evidence.json`` calls proven are proven again; faults are
found."""

from __future__ import annotations

import dataclasses

import pytest

from cass_ray.lift.form_evidence import stored
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant
from cass_ray.lift.llvm.builder import i32
from cass_ray.lift.lowering import table
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.semantics import carry, predicate
from tests.lift.proofs.form_evidence import carriers
from tests.lift.proofs.instances import Instance, sequence
from tests.lift.proofs.prove import (
    DIFFERENT,
    NOT_MODELLED,
    NOT_SPECIFIED,
    PROVEN,
    prove,
    prove_instances,
)

_JOINED = ("IADD3", "LEA", "ISETP", "MOV", "SEL")
"""Opcodes between which the lifter carries what it knows."""
PARTS = 40
"""The fast test proves one part of so many, again and again the same; the slow one all."""


def proven() -> list[str]:
    return sorted(stored().proven)


@pytest.mark.parametrize("form", proven()[::PARTS])
def test_sample_of_proven_forms(form: str) -> None:
    verdict = prove(form)
    assert (verdict.outcome, verdict.detail) == (PROVEN, "")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_proven_forms(part: int) -> None:
    starts = carriers(proven())
    verdicts = [prove(form, starts) for form in proven()[part::PARTS]]
    assert {v.form: v.detail for v in verdicts if v.outcome != PROVEN} == {}


def test_sequences_of_proven_forms() -> None:
    """The lifter joins sums and comparisons that belong together: others it must leave apart."""
    forms = [form for form in proven() if form.startswith(_JOINED)]
    verdict = prove_instances("sequences", [sequence(forms, 4, seed) for seed in range(8)])
    assert (verdict.outcome, verdict.detail) == (PROVEN, "")


def plant(monkeypatch: pytest.MonkeyPatch, mnemonic: str, semantics: table.Semantics) -> None:
    form = table.entered()[mnemonic]
    monkeypatch.setitem(table._forms, mnemonic, dataclasses.replace(form, semantics=semantics))


def test_the_carry_of_a_negated_scaled_word_was_wrong_and_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the lifter was: the carry of ``((-a) << s) + b``, which is none where ``a << s`` is 0."""

    def as_it_was(ctx: LoweringContext, i: DecodedInstruction) -> None:
        carries_out, rest = carry._carries_and_terms(i)
        scale = carry._shift_count(i, rest, 2)
        scaled = ctx.ir.op("shl", ctx.integer(rest[0]), i32(scale))
        carry.add_low(
            ctx, i.operands[0], [carry.Term(scaled), carry._term(ctx, rest[1])], carries_out
        )

    plant(monkeypatch, "LEA", as_it_was)
    verdict = prove("LEA R,P,-R,R,i")
    assert verdict.outcome == DIFFERENT
    assert "P0 is 0x0 lifted, 0x1 specified" in verdict.detail


def test_a_comparison_of_the_wrong_sign_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsigned(ctx: LoweringContext, i: DecodedInstruction) -> None:
        result = ctx.ir.icmp("ult", ctx.integer(i.operands[2]), ctx.integer(i.operands[3]))
        predicate.write_pair(ctx, i, result, ctx.predicate(i.operands[4]))

    plant(monkeypatch, "ISETP.LT.AND", unsigned)
    assert prove("ISETP.LT.AND P,PT,R,R,PT").outcome == DIFFERENT
    assert prove("ISETP.LT.U32.AND P,PT,R,R,PT").outcome == PROVEN


def test_a_sum_of_two_words_without_the_carry_between_them_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def by_words(ctx: LoweringContext, i: DecodedInstruction) -> None:
        values = [ctx.wide(operand) for operand in i.operands[1:]]
        low = ctx.ir.op("add", *(ctx.ir.low(value) for value in values))
        high = ctx.ir.op("add", *(ctx.ir.high(value) for value in values))
        ctx.write_words(i.operands[0], [low, high])

    plant(monkeypatch, "IADD.64", by_words)
    assert prove("IADD.64 R,R,UR").outcome == DIFFERENT
    monkeypatch.undo()
    assert prove("IADD.64 R,R,UR").outcome == PROVEN


def test_a_constant_of_the_wrong_byte_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The byte is the lowest of its word in one instance only."""

    def lowest_byte(ctx: LoweringContext, i: DecodedInstruction) -> None:
        source = i.operands[1]
        assert isinstance(source, Constant)
        word = ctx.bits(dataclasses.replace(source, offset=source.offset & ~3))
        ctx.write(i.operands[0], ctx.ir.op("and", word, i32(0xFF)))

    plant(monkeypatch, "LDCU.U8", lowest_byte)
    verdict = prove("LDCU.U8 UR,c")
    assert verdict.outcome == DIFFERENT
    assert verdict.detail.startswith("LDCU.U8 UR4, c[0x0][0x181]")
    monkeypatch.undo()
    assert prove("LDCU.U8 UR,c").outcome == PROVEN


def test_predicates_that_say_which_operand_was_taken_are_not_specified() -> None:
    assert prove("VIMNMX R,PT,PT,R,R,PT").outcome == PROVEN
    assert prove("VIMNMX R,P,PT,R,R,PT").outcome == NOT_SPECIFIED


def test_products_of_the_same_factors_are_equal_and_of_others_are_not() -> None:
    assert prove("IMAD.HI.U32 R,R,R,R").outcome == PROVEN
    same = Instance(("IMAD R4, R8, R12, RZ", "IMAD R5, R12, R8, RZ", "IADD3 R6, R4, -R5, RZ"))
    assert prove_instances("sequence", [same]).outcome == PROVEN


def test_what_is_no_arithmetic_is_not_modelled() -> None:
    verdict = prove_instances("a launch dimension", [Instance(("MOV R4, c[0x0][0x4]",))])
    assert verdict.outcome == NOT_MODELLED


def test_wide_sums_that_the_lifter_joins() -> None:
    """Carries that go into sums of other words, or of words that were changed in between."""
    sequences = [
        ("LEA R4, P0, R8, R12, 0x3", "LEA.HI.X R5, R8, R13, R9, 0x3, P0"),
        ("LEA R8, P0, R8, R12, 0x3", "LEA.HI.X R5, R8, R13, R9, 0x3, P0"),
        ("LEA R4, P0, R8, R12, 0x3", "MOV R8, R20", "LEA.HI.X R5, R8, R13, R9, 0x3, P0"),
        ("LEA R4, P0, R8, R12, 0x3", "LEA.HI.X R5, R8, R13, R9, 0x4, P0"),
        ("IADD3 R4, P0, -R8, R12, RZ", "IADD3.X R5, ~R9, R13, RZ, P0, !PT"),
        ("IADD3 R4, P0, -R8, R12, RZ", "MOV R4, R20", "IADD3.X R5, ~R9, R13, RZ, P0, !PT"),
        ("IADD3 R4, P0, -R8, R12, RZ", "IADD3.X R5, ~R9, R13, 0x7, P0, !PT"),
        ("IADD3 R4, P0, -R8, R12, RZ", "IADD3.X R5, R9, R13, -0x1, P0, !PT"),
        ("IADD3 R4, P0, R8, R12, RZ", "IMAD.X R5, RZ, RZ, ~R13, P0"),
        ("IADD3 R4, P0, R8, -R12, RZ", "IADD3.X R5, P1, R9, ~R13, RZ, P0, !PT",
         "IADD3.X R6, R10, ~R14, RZ, P1, !PT"),
        ("ISETP.LT.U32.AND P0, PT, R8, R12, PT", "ISETP.GT.AND.EX P1, PT, R13, R9, PT, P0"),
        ("ISETP.LT.U32.AND P0, PT, R8, R12, PT", "ISETP.GE.U32.AND.EX P1, P2, R13, R9, P3, P0"),
    ]  # fmt: skip
    verdict = prove_instances("sequences", [Instance(lines) for lines in sequences])
    assert (verdict.outcome, verdict.detail) == (PROVEN, "")


@pytest.mark.parametrize("form", ["LEA.X R,R,R,i,P", "LEA.X R,R,R,i,!P", "ULEA.X UR,UR,UR,i,UP"])
def test_scaled_sums_with_a_carry(form: str) -> None:
    """Generated programs 2821 and 3012 of seed 26 have them, and print what they should."""
    verdict = prove(form)
    assert (verdict.outcome, verdict.detail) == (PROVEN, "")
