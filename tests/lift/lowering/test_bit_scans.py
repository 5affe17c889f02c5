"""ptxas' search for a set bit in two words: found whole, and only then written as LLVM's."""

from __future__ import annotations

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

    single = both & -both
    in_high = lowest(high)
    above = z3.If(z3.UGT(in_high, 0xFFFFFFFF - 32), z3.BitVecVal(-1, 32), in_high + 32)
    in_low = lowest(low)
    place = z3.If(z3.ULT(in_low, above), in_low, above)
    solver = z3.Solver()
    solver.add(steps_of(z3.Extract(31, 0, single), z3.Extract(63, 32, single)) != 63 - place)
    assert solver.check() == z3.unsat
