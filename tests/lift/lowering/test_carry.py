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


def test_words_of_a_sum_under_one_guard_are_one_address_though_others_are_between() -> None:
    made = lifted(
        90,
        "gfx1100",
        *_BEFORE,
        "ISETP.NE.AND P1, PT, R0, RZ, PT",
        "@P1 IADD3 R8, P0, R0, R4, RZ",
        "IADD3 R12, R0, 0x1, RZ",
        "@P1 IADD3.X R9, R5, RZ, RZ, P0, !PT",
        "IADD3 R13, R0, 0x2, RZ",
        "@P1 STG.E desc[UR4][R8.64], R0",
        "EXIT",
    )
    address = re.findall(r"inttoptr i64 (%v\d+)", made)[-1]
    assert re.search(rf"{address} = add i64", made)


def test_a_word_that_is_needed_without_the_guard_stays_what_it_was() -> None:
    """The word above it may mean nothing there, and then their sum does not."""
    made = lifted(
        90,
        "gfx1100",
        *_BEFORE,
        "ISETP.NE.AND P1, PT, R0, RZ, PT",
        "IADD3 R8, P0, R0, R4, RZ",
        "@P1 IADD3.X R9, R5, RZ, RZ, P0, !PT",
        "STG.E desc[UR4][R2.64], R8",
        "@P1 STG.E desc[UR4][R8.64], R0",
        "EXIT",
    )
    stored = re.search(r"store i32 (%v\d+), ptr addrspace\(1\)", made)
    assert stored and re.search(rf"{stored[1]} = add i32", made)
