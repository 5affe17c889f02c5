"""Sparse matrix products of a warp: operands that are refused. What they compute: the vectors."""

from __future__ import annotations

import pytest

from tests.lift.lowering.test_warpgroup import lifted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("HMMA.SP.16816.F32 R4, R8, R12, R4, R16, 0x4", "a sparsity selector"),
        ("HMMA.SP.16832.F32 R4, R8, R12, R4, R16, 0x2", "a sparsity selector"),
        ("IMMA.SP.16832.S8.S8 R4, R8.ROW, R12.COL, R4, R16, 0x2", "a sparsity selector"),
        ("IMMA.SP.16864.S8.S8 R4, R8.ROW, R12.COL, R4, R16, 0x1", "a sparsity selector"),
        ("HMMA.SP.16816.F32 R4, R8, R12, R4, -R16, 0x0", "metadata"),
        ("IMMA.SP.16832.S8.S8 R4, R8.ROW, R12.COL, R4, R16", "operand"),
        ("HMMA.SP.16816.F32 R4, -R8, R12, R4, R16, 0x0", "no plain register"),
        ("HMMA.SP.1688.F32 R4, R8, R12, R4, R16, 0x0", "not in the table"),
        ("IMMA.SP.168128.S8.S8 R4, R8, R12, R4, R16, 0x0", "not in the table"),
    ],
)
def test_what_is_not_known_is_refused(text: str, reason: str) -> None:
    said = lifted(text)
    assert text in said
    assert reason in said
