"""Operations with .FTZ that LLVM leaves out, as they change nothing but denormal numbers."""

from __future__ import annotations

import re

import pytest

from cass_ray.lift.llvm.emit import assembly
from cass_ray.toolchain.locate import find_amd
from tests.lift.lowering.test_mbarrier import lifted

_LOAD = ("MOV R2, c[0x0][0x160]", "MOV R3, c[0x0][0x164]", "LDG.E R6, [R2.64]")
_STORE = ("STG.E [R2.64], R4", "EXIT")


def instructions(*between: str) -> list[str]:
    """Vector instructions of gfx1100 but moves for what is done to a word of memory."""
    made, _ = assembly(find_amd(), lifted(80, "gfx1100", *_LOAD, *between, *_STORE), "gfx1100")
    body = made.partition("_Z1kPf:")[2].partition("s_endpgm")[0]
    found = re.findall(r"v_(?:dual_)?(\w+?)(?:_e32|_e64)?\s", body)
    return [f"v_{each}" for each in found if "mov" not in each]


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
    assert instructions(*between) == ["v_max_f32"]


@pytest.mark.amd
@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (["FMUL.FTZ R4, R6, 3"], ["v_mul_f32"]),
        (["FADD.FTZ.SAT R4, R6, 3"], ["v_add_f32"]),
        (["FMUL.FTZ R4, R6, 3", "FADD.FTZ R4, -|R4|, R6"], ["v_mul_f32", "v_sub_f32"]),
        (["FFMA.FTZ R4, R6, 1, R6", "FFMA.FTZ R4, R4, 3, R6"], ["v_add_f32", "v_fma_f32"]),
        (["FADD.FTZ R4, R6, 1", "FMNMX.FTZ R4, R4, 3, PT"], ["v_add_f32", "v_min_f32"]),
        (["FADD.FTZ R4, R6, 1", "FSETP.GT.FTZ.AND P0, PT, R4, 3, PT", "SEL R4, R6, R4, P0"],
         ["v_add_f32", "v_cmp_lt_f32", "v_cndmask_b32"]),
        (["FADD.FTZ R4, R6, 1", "FRND.FTZ.CEIL R4, R4"], ["v_add_f32", "v_ceil_f32"]),
        (["FADD.FTZ R4, R6, 1", "MUFU.RCP R4, R4", "FADD.FTZ R4, R4, 1"],
         ["v_add_f32", "v_rcp_f32", "v_add_f32"]),
    ],
)  # fmt: skip
def test_nothing_more_is_done_where_the_operation_stays(
    between: list[str], expected: list[str]
) -> None:
    found = [re.sub("v_fmac|v_fmaak|v_fmamk", "v_fma", each) for each in instructions(*between)]
    assert found == expected


@pytest.mark.amd
@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (["FSEL.FTZ R4, R6, RZ, P1"], ["v_max_f32", "v_cndmask_b32"]),
        (["FRND.FTZ.CEIL R4, R6"], ["v_max_f32", "v_ceil_f32"]),
        (["F2I.FTZ.FLOOR.NTZ R4, R6"], ["v_max_f32", "v_floor_f32", "v_cvt_i32_f32"]),
        (["F2F.FTZ.F64.F32 R8, R6", "F2F.FTZ.F32.F64 R4, R8"], ["v_max_f32"]),
        (["FMNMX.FTZ R4, R6, R6, PT"], ["v_max_f32"]),
    ],
)
def test_what_passes_bits_on_flushes(between: list[str], expected: list[str]) -> None:
    """A selection, or what LLVM makes a copy; and rounding up, for which a denormal counts."""
    arithmetic = "FSETP.GT.FTZ.AND P1, PT, R6, 3, PT"  # by which the kernel's mode flushes
    found = instructions(arithmetic, *between)
    assert [each for each in found if "v_cmp" not in each] == expected


@pytest.mark.amd
@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (["MOV R5, 0x7f000000", "MUFU.RCP R5, R5"], None),
        (["MOV R5, 0x400000", "MUFU.RCP R5, R5"], "0x7f800000"),
        (["MOV R5, 0x400000", "FFMA.FTZ R5, R5, 2, R5"], None),
        (["MOV R5, 0x400000", "FFMA.FTZ R5, R5, 2, 1"], "1.0"),
    ],
)
def test_what_llvm_folds_flushes(between: list[str], expected: str | None) -> None:
    """Of 2^127 the reciprocal is 2^-127 and counts as 0, of which it is infinite."""
    mode, added = "FADD.FTZ R6, R6, 1", "IADD3 R4, R6, R5, RZ"
    code = (*_LOAD, mode, *between, added, *_STORE)
    made, _ = assembly(find_amd(), lifted(80, "gfx1100", *code), "gfx1100")
    body = made.partition("_Z1kPf:")[2].partition("s_endpgm")[0]
    found = re.findall(r"_(?:add_nc_u32|add_i32)\S* .*\b(0x\w+|1\.0)", body)
    assert found == ([] if expected is None else [expected])


@pytest.mark.amd
def test_what_equals_a_denormal_constant_is_zero() -> None:
    """LLVM writes the constant where a number is used that was equal to it."""
    code = (
        *("MOV R5, 0x400000", "FADD.FTZ R4, R6, 1", "FSETP.EQ.FTZ.AND P1, PT, R4, R5, PT"),
        "@!P1 EXIT",
    )
    made, _ = assembly(find_amd(), lifted(80, "gfx1100", *_LOAD, *code, *_STORE), "gfx1100")
    assert "0x400000" not in made.partition("_Z1kPf:")[2].partition("s_endpgm")[0]
