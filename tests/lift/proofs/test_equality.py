"""Forms that are called equal to another one are compared with it again; faults are found."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection

import pytest

from cass_ray.lift.form_evidence import stored
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Address, Register
from cass_ray.lift.lowering import table
from cass_ray.lift.lowering.context import LoweringContext
from tests.lift.proofs.equality import RULES, candidates, compare, equal, trusted
from tests.lift.proofs.test_prove import plant

PARTS = 8
"""The fast test compares one form of so many."""


def known() -> Collection[str]:
    return stored().proven | stored().tested.keys()


def found(form: str, rules: Collection[str] | None = None) -> str:
    return equal(form, known(), trusted() if rules is None else rules).other


def test_a_part_of_the_equal_forms() -> None:
    chosen = sorted(stored().equal)[::PARTS]
    assert {form: found(form) for form in chosen} == {f: stored().equal[f] for f in chosen}


@pytest.mark.slow
def test_all_equal_forms() -> None:
    assert {form: found(form) for form in stored().equal} == stored().equal


@pytest.mark.parametrize("rule", sorted(json.loads(RULES.read_text())))
def test_each_rule_holds_between_forms_that_a_gpu_ran(rule: str) -> None:
    form, other = json.loads(RULES.read_text())[rule]
    assert {form, other} <= stored().tested.keys()
    assert compare(form, other, (rule,)) == ""


def test_of_rules_that_nothing_confirms_no_form_is_equal() -> None:
    assert found("LDL R,[UR+i]") == "LDL R,[R+i]"
    others = {rule for rule in trusted() if not rule.startswith("32 bits [UR")}
    assert found("LDL R,[UR+i]", others) == ""


def test_a_byte_is_taken_from_its_place() -> None:
    ((other, twin), *_) = candidates("I2F.U8 R,R.B2", ["I2F.U8 R,R"])
    assert (other, twin.rules) == ("I2F.U8 R,R", (".B2",))
    assert twin.before == ("SHF.R.U32.HI R108, RZ, 0x10, R8",)
    assert compare("I2F.U8 R,R.B2", other, twin.rules) == ""


@pytest.mark.parametrize(
    ("form", "other", "rules"),
    [
        ("I2F.U8 R,R.B2", "I2F.U8 R,R", (".B1",)),
        ("F2I.S16.NTZ R,|R|", "F2I.S16.NTZ R,R", ("- of f32",)),
        ("LDG.E.SYS R,[UR+i]", "LDG.E.SYS R,[R]", ("64 bits [UR]",)),
        ("USEL.64 UR,UR,UR,!UP", "SEL.64 R,R,R,P", ("uniform opcode",)),
        ("BREAK P,name", "BREAK !P,name", ("!P",)),
        ("UIMNMX.S64 PT,PT,UR,UR,UR,PT,!PT", "IMNMX.U64 PT,PT,R,R,R,PT,!PT", ("uniform opcode",)),
    ],
)
def test_another_rule_leads_nowhere(form: str, other: str, rules: tuple[str, ...]) -> None:
    assert compare(form, other, rules).startswith("no twin")


@pytest.mark.parametrize(
    ("form", "other", "rules"),
    [
        ("USEL.64 UR,UR,i,UP", "SEL.64 R,R,i,P", ("uniform opcode",)),
        ("UIMNMX.U64 PT,PT,UR,UR,i,PT,!PT", "IMNMX.U64 PT,PT,R,R,R,PT,!PT",
         ("uniform opcode", "i of 64 bits")),
        ("BREAK P,name", "BREAK !P,name", ("P",)),
    ],
)  # fmt: skip
def test_wide_uniform_forms(form: str, other: str, rules: tuple[str, ...]) -> None:
    assert compare(form, other, rules) == ""


def test_forms_that_differ_are_not_equal() -> None:
    weaker = (".STRONG.GPU as .STRONG.SYS",)
    assert "syncscope" in compare(
        "ATOMG.E.ADD.STRONG.GPU PT,R,[R.64],R", "ATOMG.E.ADD.STRONG.SYS PT,R,[R.64],R", weaker
    )


def test_an_address_without_its_high_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    form = "LDG.E.64.SYS"
    original = table.entered()[form].semantics

    def low_word_alone(ctx: LoweringContext, i: DecodedInstruction) -> None:
        address = i.operands[1]
        assert isinstance(address, Address)
        terms = tuple(
            dataclasses.replace(term, suffixes=("U32",)) if term.file == "UR" else term
            for term in address.terms
        )
        changed = dataclasses.replace(address, terms=terms)
        original(ctx, dataclasses.replace(i, operands=type(i.operands)((i.operands[0], changed))))

    plant(monkeypatch, form, low_word_alone)
    said = compare(f"{form} R,[UR+i]", f"{form} R,[R+i]", ("64 bits [UR]",))
    assert "different where" in said


def test_a_selector_that_is_dropped_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = table.entered()["I2F.U16"].semantics

    def lower_half(ctx: LoweringContext, i: DecodedInstruction) -> None:
        source = i.operands[1]
        assert isinstance(source, Register)
        plain = dataclasses.replace(source, suffixes=())
        original(ctx, dataclasses.replace(i, operands=type(i.operands)((i.operands[0], plain))))

    plant(monkeypatch, "I2F.U16", lower_half)
    assert "different where" in compare("I2F.U16 R,R.H1", "I2F.U16 R,R", (".H1",))


def test_a_branch_goes_one_way() -> None:
    assert compare("BRA.U !UP,name", "BRA !P,name", ("uniform opcode",)) == ""
    assert compare("BRA.U !UP,name", "BRA P,name", ("uniform opcode",)).startswith("no twin")
