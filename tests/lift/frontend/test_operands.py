"""Operands and instructions as nvdisasm prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.assembly import sass
from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.instruction import decode
from cass_ray.lift.frontend.operands import (
    Address,
    Constant,
    Immediate,
    Name,
    Predicate,
    Register,
    parse,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R4", Register("R", 4)),
        ("RZ", Register("R", None)),
        ("UR16", Register("UR", 16)),
        ("-R7.reuse", Register("R", 7, negated=True)),
        ("~R3", Register("R", 3, inverted=True)),
        ("|R3|", Register("R", 3, absolute=True)),
        ("-|R3|.reuse", Register("R", 3, negated=True, absolute=True)),
        ("R9.H1_H1", Register("R", 9, suffixes=("H1_H1",))),
        ("P0", Predicate("P", 0)),
        ("!UPT", Predicate("UP", None, inverted=True)),
        ("0x1f", Immediate("0x1f")),
        ("-0x8", Immediate("-0x8")),
        ("1.5", Immediate("1.5")),
        ("+INF", Immediate("+INF")),
        ("-QNAN", Immediate("-QNAN")),
        ("c[0x0][0x160]", Constant(0, 0x160)),
        ("c[0x0] [0x170].H0_H0", Constant(0, 0x170, suffixes=("H0_H0",))),
        ("-c[0x3][R2+0x10]", Constant(3, 0x10, Register("R", 2), negated=True)),
        ("c[0x0][UR4]", Constant(0, 0, Register("UR", 4))),
        ("[R2.64+0x10]", Address((Register("R", 2, suffixes=("64",)),), 0x10)),
        ("desc[UR4][R2.64]", Address((Register("R", 2, suffixes=("64",)),), 0)),
        ("[R0.X4+UR5+-0x8]", Address((Register("R", 0, suffixes=("X4",)), Register("UR", 5)), -8)),
        ("[RZ]", Address((), 0)),
        ("SR_TID.X", Name("SR_TID.X")),
        (".L_3", Name(".L_3")),
    ],
)
def test_operands(text: str, expected: object) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["[-R2]", "[R2*4]", "c[0x0][R2+R3]"])
def test_an_address_of_unknown_shape_is_an_error(text: str) -> None:
    with pytest.raises(UnknownForm):
        parse(text)


@given(
    st.sampled_from(["R", "UR"]),
    st.integers(0, 254),
    st.sampled_from(["", "-", "~"]),
    st.booleans(),
)
def test_a_register_reads_back_as_written(file: str, index: int, sign: str, absolute: bool) -> None:
    bar = "|" if absolute else ""
    found = parse(f"{sign}{bar}{file}{index}{bar}")
    assert found == Register(
        file, index, negated=sign == "-", inverted=sign == "~", absolute=absolute
    )


@given(st.integers(0, 254), st.integers(-(2**23), 2**23 - 1))
def test_an_address_reads_back_as_written(index: int, offset: int) -> None:
    sign = "-" if offset < 0 else ""
    found = parse(f"[R{index}.64+{sign}{abs(offset):#x}]")
    assert found == Address((Register("R", index, suffixes=("64",)),), offset)


def test_guard_modifiers_and_operands() -> None:
    instruction = decode(sass.SassInstruction(0x40, "@!P2 ISETP.GE.U32.AND P0, PT, R1, 0x2, PT"))
    assert instruction.guard == Predicate("P", 2, inverted=True)
    assert instruction.mnemonic == "ISETP.GE.U32.AND"
    assert instruction.has("U32")
    assert instruction.one_of("LT", "GE") == "GE"
    assert len(instruction.operands) == 5


def test_a_guard_that_always_holds_is_none() -> None:
    assert decode(sass.SassInstruction(0, "@PT MOV R1, R2")).guard is None


def test_targets_of_an_indirect_branch() -> None:
    instruction = decode(sass.SassInstruction(0, "BRX R4 .L_0 (.L_1, .L_2)"))
    assert instruction.targets == (".L_1", ".L_2")
    assert instruction.operands == (Register("R", 4), Name(".L_0"))
