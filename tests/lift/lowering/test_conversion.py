"""Literals that are converted, as ptxas 13.0 writes them for constants of PTX."""

from __future__ import annotations

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
