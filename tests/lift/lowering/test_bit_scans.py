"""ptxas' search for a set bit in two words: found whole, and only then written as LLVM's."""

from __future__ import annotations

import re

import pytest
import z3

from tests.lift.lowering.test_mbarrier import lifted

# nvcc 13.0, sm_80: the leading zeros of R13:R12 in R6.
_COUNT = (
    "ISETP.NE.U32.AND P0, PT, R13, RZ, PT",
    "SEL R10, R12, R13, !P0",
    "FLO.U32 R6, R10",
    "IADD3 R8, -R6, 0x1f, RZ",
    "IADD3 R6, -R6, 0x3f, RZ",
    "@P0 IMAD.MOV R6, RZ, RZ, R8",
)
# nvcc 13.0, sm_80: those of the lowest set bit of R13:R12.
_LOWEST = (
    "IADD3 R9, P0, RZ, -R12, RZ",
    "IMAD.X R10, RZ, RZ, ~R13, P0",
    "LOP3.LUT R10, R13, R10, RZ, 0xc0, !PT",
    "ISETP.NE.U32.AND P0, PT, R10, RZ, PT",
    "@!P0 LOP3.LUT R10, R12, R9, RZ, 0xc0, !PT",
    "FLO.U32 R6, R10",
    "IADD3 R8, -R6, 0x1f, RZ",
    "IADD3 R6, -R6, 0x3f, RZ",
    "@P0 IMAD.MOV R6, RZ, RZ, R8",
)
_BEFORE = ("S2R R12, SR_TID.X", "S2R R13, SR_CTAID.X")
_AFTER = ("STG.E [R2.64], R6", "EXIT")


def made_of(*steps: str) -> str:
    return lifted(80, "gfx1100", *_BEFORE, *steps, *_AFTER)


def test_leading_zeros_are_counted_in_64_bits() -> None:
    assert "@llvm.ctlz.i64" in made_of(*_COUNT)


def test_the_lowest_bit_is_looked_for() -> None:
    made = made_of(*_LOWEST)
    assert made.count("call i32 @llvm.cttz.i32") == 2
    assert "@llvm.ctlz.i64" not in made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-R6, 0x1f, RZ", "-R6, 0x1e, RZ"),
        ("-R6, 0x3f, RZ", "-R6, 0x40, RZ"),
        ("-R6, 0x1f, RZ", "R6, 0x1f, RZ"),
        ("@P0 IMAD.MOV", "@!P0 IMAD.MOV"),
        ("FLO.U32 R6, R10", "FLO.U32.SH R6, R10"),
        ("FLO.U32 R6, R10", "FLO.U32 R6, R13"),
        ("SEL R10, R12, R13, !P0", "SEL R10, R12, R13, P0"),
        ("P0, PT, R13, RZ, PT", "P0, PT, R12, RZ, PT"),
    ],
)
def test_other_steps_are_no_count(old: str, new: str) -> None:
    steps = [line.replace(old, new) for line in _COUNT]
    assert steps != list(_COUNT)
    made = made_of(*steps)
    assert "store i32" in made and "ctlz.i64" not in made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("IADD3 R9, P0, RZ, -R12, RZ", "IADD3 R9, P0, RZ, -R13, RZ"),
        ("IMAD.X R10, RZ, RZ, ~R13, P0", "IMAD.X R10, RZ, RZ, ~R12, P0"),
        ("IMAD.X R10, RZ, RZ, ~R13, P0", "IMAD.X R10, RZ, RZ, ~R13, !PT"),
        ("LOP3.LUT R10, R12, R9,", "LOP3.LUT R10, R13, R9,"),
        ("LOP3.LUT R10, R13, R10,", "LOP3.LUT R10, R12, R10,"),
    ],
)
def test_of_other_words_only_the_leading_zeros_are_counted(old: str, new: str) -> None:
    steps = [line.replace(old, new) for line in _LOWEST]
    assert steps != list(_LOWEST)
    made = made_of(*steps)
    assert "ctlz.i64" in made and "cttz" not in made


def highest(word: z3.BitVecRef) -> z3.BitVecRef:
    """FLO.U32: the place of the highest set bit, -1 for none."""
    found = z3.BitVecVal(-1, 32)
    for place in range(32):
        found = z3.If(z3.Extract(place, place, word) == 1, z3.BitVecVal(place, 32), found)
    return found


def lowest(word: z3.BitVecRef) -> z3.BitVecRef:
    """The place of the lowest set bit, -1 for none."""
    found = z3.BitVecVal(-1, 32)
    for place in reversed(range(32)):
        found = z3.If(z3.Extract(place, place, word) == 1, z3.BitVecVal(place, 32), found)
    return found


def steps_of(low: z3.BitVecRef, high: z3.BitVecRef) -> z3.BitVecRef:
    place = highest(z3.If(high != 0, high, low))
    return z3.If(high != 0, 31 - place, 63 - place)


def test_both_are_proven_for_all_words() -> None:
    low, high = z3.BitVecs("low high", 32)
    both = z3.Concat(high, low)
    zeros = z3.BitVecVal(64, 32)
    for place in range(64):
        zeros = z3.If(z3.Extract(place, place, both) == 1, z3.BitVecVal(63 - place, 32), zeros)
    solver = z3.Solver()
    solver.add(steps_of(low, high) != zeros)
    assert solver.check() == z3.unsat

    place, single = lowest_place(low, high), both & -both
    solver = z3.Solver()
    solver.add(steps_of(z3.Extract(31, 0, single), z3.Extract(63, 32, single)) != 63 - place)
    assert solver.check() == z3.unsat


def lowest_place(low: z3.BitVecRef, high: z3.BitVecRef) -> z3.BitVecRef:
    """As the lifter writes it: 0 to 63, and all bits for no set bit."""
    in_low, in_high = lowest(low), lowest(high)
    above = z3.If(z3.UGT(in_high, 0xFFFFFFFF - 32), z3.BitVecVal(-1, 32), in_high + 32)
    return z3.If(z3.ULT(in_low, above), in_low, above)


# Behind _LOWEST, nvcc 13.0, sm_120: R13:R12 without the zeros below its lowest set bit.
_SHIFT = (
    "IADD3 R7, -R6, 0x3f, RZ",
    "SHF.R.U64 R4, R12, R7, R13",
    "SHF.R.U32.HI R5, RZ, R7, R13",
    "LOP3.LUT R6, R4, R5, RZ, 0x3c, !PT",
)


def test_a_shift_by_its_own_zeros_needs_no_clamp() -> None:
    made = made_of(*_LOWEST, *_SHIFT)
    assert made.count("lshr i64") - made_of(*_LOWEST).count("lshr i64") == 2, (
        "one, and its upper word"
    )
    assert "call i64 @llvm.cttz.i64" in made and "icmp ult i64" not in made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-R6, 0x3f, RZ", "-R6, 0x3e, RZ"),
        ("R4, R12, R7, R13", "R4, R13, R7, R12"),
        ("R4, R12, R7, R13", "R4, R12, R7, R12"),
        ("SHF.R.U64", "SHF.R.S64"),
    ],
)
def test_other_shifts_are_clamped(old: str, new: str) -> None:
    steps = [line.replace(old, new) for line in _SHIFT]
    assert steps != list(_SHIFT)
    assert "cttz.i64" not in made_of(*_LOWEST, *steps)


@pytest.mark.parametrize(
    ("first", "second", "shifts"),
    [
        ("SHF.R.U64 R4, R12, R6, R13", "SHF.R.U32.HI R5, RZ, R6, R13", 0),
        ("SHF.R.S64 R4, R12, R6, R13", "SHF.R.S32.HI R5, RZ, R6, R13", 0),
        ("SHF.L.U64.HI R4, R12, R6, R13", "SHF.L.U32 R5, R12, R6, RZ", 0),
        ("SHF.R.U64 R4, R12, R6, R13", "SHF.R.S32.HI R5, RZ, R6, R13", 1),
        ("SHF.R.U64 R4, R12, R6, R13", "SHF.R.U32.HI R5, RZ, R6, R12", 1),
        ("SHF.R.U64 R4, R12, R6, R13", "SHF.R.U32.HI R5, RZ, R2, R13", 1),
        ("SHF.L.U64.HI R4, R12, R6, R13", "SHF.L.U32 R5, R13, R6, RZ", 1),
        ("SHF.L.W.U64.HI R4, R12, R6, R13", "SHF.L.W.U32 R5, R12, R6, RZ", 1),
    ],
)
def test_words_of_one_wide_shift_are_made_by_one(first: str, second: str, shifts: int) -> None:
    both = "LOP3.LUT R6, R4, R5, RZ, 0x3c, !PT"
    made = made_of("S2R R6, SR_TID.Y", first, second, both)
    assert len(re.findall(r"= (?:shl|lshr|ashr) i32 ", made)) == shifts


def test_shifts_are_proven_for_all_words() -> None:
    low, high, count = z3.BitVecs("low high count", 32)
    both, amount = z3.Concat(high, low), z3.ZeroExt(32, count)
    zeros = z3.BitVecVal(64, 64)
    for place in reversed(range(64)):
        bit = z3.Extract(place, place, both)
        zeros = z3.If(bit == 1, z3.BitVecVal(place, 64), zeros)
    # SMT's shifts by the width or more give zeros or signs, as SASS's do.
    place = z3.ZeroExt(32, lowest_place(low, high))
    arithmetic = z3.If(z3.UGT(amount, 63), z3.BitVecVal(63, 64), amount)
    for left, right in (
        (z3.LShR(both, place), z3.LShR(both, zeros & 63)),
        (both << place, both << (zeros & 63)),
        (z3.Extract(63, 32, z3.LShR(both, amount)), z3.LShR(high, count)),
        (z3.Extract(63, 32, both >> arithmetic), high >> count),
        (z3.Extract(31, 0, both << amount), low << count),
    ):
        solver = z3.Solver()
        solver.add(left != right)
        assert solver.check() == z3.unsat
