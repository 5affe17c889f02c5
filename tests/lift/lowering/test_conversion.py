"""Literals that are converted, as ptxas 13.0 writes them for constants of PTX."""

from __future__ import annotations

import re

import pytest

from tests.lift.lowering.test_mbarrier import lifted


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        # mov.u64 %rd, 0x2000000000000000; cvt.rn.f32.u64 %f, %rd; smaller ones go to a bank.
        ("I2F.U64 R4, 0x20000000", f"uitofp i64 {0x2000000000000000} to float"),
        ("I2F.U64 R4, 0xffffffff", f"uitofp i64 {0xFFFFFFFF00000000} to float"),
        ("I2F.S64 R4, -0x1", f"sitofp i64 {0xFFFFFFFF00000000} to float"),
        ("I2F.F64.U64 R4, 0x12345678", f"uitofp i64 {0x1234567800000000} to double"),
        ("I2F.F64.S64 R4, -0x80000000", f"sitofp i64 {1 << 63} to double"),
    ],
)
def test_a_literal_of_64_bits_is_its_high_word(text: str, converted: str) -> None:
    made = lifted(90, "gfx1100", text, "STG.E desc[UR4][R2.64], R4", "EXIT")
    assert converted in made


@pytest.mark.parametrize(
    "operands", ["R3.F32, R4.H0_H0", "R3.F32, RZ.H0_H0", "R3.F32, R4.F32", "R3.F32, 1, 1"]
)
def test_a_single_precision_number_is_added_to_negative_zero_alone(operands: str) -> None:
    """What ptxas writes for ``cvt.rz.f16.f32``; that the sum is rounded to zero is known of it."""
    text = f"HADD2 R4, {operands}"
    made = lifted(75, "gfx1100", text, "STG.E [R2], R4", "EXIT")
    assert text in made
    assert "a sum with a single-precision number" in made


@pytest.mark.parametrize(
    "operands", ["R3.F32, -RZ.H0_H0", "-RZ.H0_H0, c[0x0] [0x160].F32", "-|R3|.F32, -RZ.H0_H0"]
)
def test_a_narrowed_number_is_both_halves(operands: str) -> None:
    """ptxas stores the result where ``{%h, %h}`` is wanted."""
    made = lifted(75, "gfx1100", f"HADD2 R4, {operands}", "STG.E [R2], R4", "EXIT")
    assert "v_cvt_f16_f32" in made
    assert re.search(r"shl i32 (%v\d+), 16\n\s+%v\d+ = or i32 %v\d+, \1\n", made)


def test_a_uniform_byte_is_converted_as_a_byte_of_each_thread() -> None:
    """ptxas 13.0 for a 0 that it does not fold: F2IP up to sm_110, UF2IP for sm_120."""
    stored = ("LDC.64 R2, c[0x0][0x380]", "STG.E desc[UR4][R2.64], R4", "EXIT")
    one = lifted(120, "gfx1100", "F2IP.U8.F32.NTZ R4, RZ, RZ, RZ", *stored)
    moved = ("UF2IP.U8.F32.NTZ UR6, URZ, URZ, URZ", "MOV R4, UR6")
    other = lifted(120, "gfx1100", *moved, *stored)
    conversion = r"= (.* asm .*v_cvt_u32_f32.*)"
    assert len(re.findall(conversion, one)) == 1
    assert re.findall(conversion, one) == re.findall(conversion, other)
