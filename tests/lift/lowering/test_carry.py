"""Sums of 64 bits: high words go with the low ones that they were next to."""

from __future__ import annotations

import re

import pytest

from tests.lift.lowering.test_mbarrier import lifted

_BEFORE = ("S2R R0, SR_TID.X", "LDG.E R4, desc[UR4][R2.64]", "LDG.E R5, desc[UR4][R2.64+0x4]")
_AFTER = ("STG.E desc[UR4][R8.64], R0", "EXIT")


@pytest.mark.parametrize(
    "high",
    [
        "IADD3.X R9, RZ, R5, RZ, P0, !PT",
        "IADD3.X R9, R5, RZ, RZ, P0, !PT",
        "IMAD.X R9, RZ, RZ, R5, P0",
    ],
)
def test_an_offset_is_added_to_a_pointer(high: str) -> None:
    """R0 + R5:R4, with the pointer behind the offset."""
    made = lifted(90, "gfx1100", *_BEFORE, "IADD3 R8, P0, R0, R4, RZ", high, *_AFTER)
    low, above = re.findall(r"(%v\d+) = load i32, ptr addrspace\(1\)", made)
    shifted = re.search(rf"(%v\d+) = zext i32 {above} to i64\n\s+(%v\d+) = shl i64 \1, 32", made)
    assert shifted
    pointer = re.search(
        rf"(%v\d+) = zext i32 {low} to i64\n\s+(%v\d+) = or i64 \1, {shifted[2]}", made
    )
    assert pointer
    assert re.search(rf"add i64 %v\d+, {pointer[2]}", made)
