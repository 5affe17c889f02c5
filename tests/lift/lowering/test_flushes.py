"""Operations with .FTZ that LLVM leaves out, as they change nothing but denormal numbers."""

from __future__ import annotations

import re

import pytest

from cass_ray.lift.llvm.emit import assembly
from cass_ray.toolchain.locate import find_amd
from tests.lift.lowering.test_mbarrier import lifted

_LOAD = ("MOV R2, c[0x0][0x160]", "MOV R3, c[0x0][0x164]", "LDG.E R6, [R2.64]")
_STORE = ("STG.E [R2.64], R4", "EXIT")


_FLUSHED = ["v_bfi_b32", "v_cmp_eq_f32"]
"""A zero of the number's sign, and whether the number is one or, as the mode has it, denormal."""


def instructions(*between: str) -> list[str]:
    """Vector instructions of gfx1100 but moves for what is done to a word of memory."""
    made, _ = assembly(find_amd(), lifted(80, "gfx1100", *_LOAD, *between, *_STORE), "gfx1100")
    body = made.partition("_Z1kPf:")[2].partition("s_endpgm")[0]
    found = re.findall(r"(v_\w+?)(?:_e32|_e64)?\s", body)
    return [each for each in found if "mov" not in each]


@pytest.mark.amd
@pytest.mark.parametrize(
    "between",
    [
        ["FADD.FTZ R4, R6, -RZ"],
        ["FADD.FTZ R4, R6, -URZ"],
        ["MOV R5, 0x80000000", "FADD.FTZ R4, R6, R5"],
        ["MOV R5, RZ", "FADD.FTZ R4, R6, -R5"],
        ["FMUL.FTZ R4, R6, 1"],
        ["FMUL.FTZ R4, -R6, 1"],
        ["FMUL.FTZ R4, R6, -1"],
        ["MOV R5, 0x3f800000", "FMUL.FTZ R4, R5, R6"],
        ["FFMA.FTZ R4, R6, 1, -RZ"],
        ["MOV R5, 0x80000000", "FFMA.FTZ R4, -1, R6, R5"],
    ],
)
def test_the_flush_stays(between: list[str]) -> None:
    """The kernel's mode flushes; an operation that LLVM leaves out would not."""
    assert instructions(*between)[:2] == _FLUSHED


@pytest.mark.amd
def test_nothing_more_is_done_where_the_operation_stays() -> None:
    assert instructions("FMUL.FTZ R4, R6, 3")[0] == "v_mul_f32"
    assert "v_bfi_b32" not in instructions("FFMA.FTZ R4, R6, 1, R7", "FADD.FTZ R4, R4, 2")
