"""ptxas' division of words: found whole, and only then written as LLVM's."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cass_ray.lift.llvm.emit import assembly
from cass_ray.toolchain.locate import find_amd
from tests.lift.lowering.test_mbarrier import lifted

# nvcc 13.0, sm_80: R2 % R5, and R2 / R5 in R9.
_ESTIMATE = (
    "I2F.U32.RP R0, R5",
    "IMAD.MOV R11, RZ, RZ, -R5",
    "ISETP.NE.U32.AND P1, PT, R5, RZ, PT",
    "MUFU.RCP R0, R0",
    "IADD3 R6, R0, 0xffffffe, RZ",
    "F2I.FTZ.U32.TRUNC.NTZ R7, R6",
    "IMAD.MOV.U32 R6, RZ, RZ, RZ",
    "IMAD R11, R11, R7, RZ",
    "IMAD.HI.U32 R7, R7, R11, R6",
    "IMAD.HI.U32 R7, R7, R2, RZ",
    "IMAD.MOV R9, RZ, RZ, -R7",
    "IMAD R4, R5, R9, R2",
)
_REMAINDER = (
    "ISETP.GE.U32.AND P0, PT, R4, R5, PT",
    "@P0 IADD3 R4, -R5, R4, RZ",
    "ISETP.GE.U32.AND P0, PT, R4, R5, PT",
    "@P0 IADD3 R4, -R5, R4, RZ",
    "@!P1 LOP3.LUT R4, RZ, R5, RZ, 0x33, !PT",
)
_QUOTIENT = (
    "ISETP.GT.U32.AND P0, PT, R5, R4, PT",
    "@!P0 IMAD.IADD R4, R4, 0x1, -R5",
    "@!P0 IADD3 R7, R7, 0x1, RZ",
    "ISETP.GE.U32.AND P0, PT, R4, R5, PT",
    "@P0 IADD3 R7, R7, 0x1, RZ",
    "@!P1 LOP3.LUT R4, RZ, R5, RZ, 0x33, !PT",
    "IMAD.MOV.U32 R4, RZ, RZ, R7",
)
_BEFORE = ("S2R R5, SR_TID.X", "S2R R2, SR_CTAID.X")
_AFTER = ("STG.E [R12.64], R4", "EXIT")


@pytest.mark.parametrize(("steps", "opcode"), [(_REMAINDER, "urem"), (_QUOTIENT, "udiv")])
def test_the_last_step_is_llvms(steps: tuple[str, ...], opcode: str) -> None:
    made = lifted(80, "gfx1100", *_BEFORE, *_ESTIMATE, *steps, *_AFTER)
    hidden = re.search(r'(%v\d+) = call i32 asm "", "=v,0"', made)
    assert hidden  # LLVM 19 divides unsigned numbers with many leading ones wrongly
    assert f"{opcode} i32 {hidden[1]}, " in made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0xffffffe", "0xffffffd"),  # another estimate
        ("I2F.U32.RP", "I2F.U32.RM"),
        ("I2F.U32.RP", "I2F.RP"),  # of a number that may be negative
        ("IMAD.HI.U32 R7, R7, R11, R6", "IMAD.HI.U32 R7, R7, R11, R2"),
        ("IMAD R11, R11, R7, RZ", "IMAD R11, R11, R7, R2"),
        ("IMAD R4, R5, R9, R2", "IMAD R4, R2, R9, R2"),
        ("ISETP.GE.U32.AND P0, PT, R4, R5, PT", "ISETP.GE.AND P0, PT, R4, R5, PT"),
        ("ISETP.GE.U32.AND P0, PT, R4, R5, PT", "ISETP.GT.U32.AND P0, PT, R4, R5, PT"),
        ("IADD3 R4, -R5, R4, RZ", "IADD3 R4, R5, R4, RZ"),
    ],
)
def test_other_steps_stay_what_they_are(old: str, new: str) -> None:
    steps = [line.replace(old, new) for line in (*_ESTIMATE, *_REMAINDER)]
    assert steps != [*_ESTIMATE, *_REMAINDER]
    made = lifted(80, "gfx1100", *_BEFORE, *steps, *_AFTER)
    assert "STG" not in made
    assert "store i32" in made
    assert "urem i32" not in made


@pytest.mark.parametrize(("copy", "is_division"), [("R2", True), ("R5", False)])
@pytest.mark.parametrize("steps", [_REMAINDER, _QUOTIENT])
def test_llvm_decides_whether_a_word_of_another_block_is_the_dividend(
    copy: str, is_division: bool, steps: tuple[str, ...]
) -> None:
    """ptxas' reciprocal is v_rcp_f32, that of LLVM's division is v_rcp_iflag_f32."""
    estimate = [
        line.replace("IMAD.HI.U32 R7, R7, R2, RZ", "IMAD.HI.U32 R7, R7, R3, RZ")
        for line in _ESTIMATE
    ]
    before = (*_BEFORE, f"MOV R3, {copy}", "S2R R12, SR_CTAID.Y", "MOV R13, RZ")
    again = ("STG.E [R12.64], R4", "ISETP.NE.AND P3, PT, R13, R12, PT", "IADD3 R13, R13, 0x1, RZ")
    lines = [*before, ".L_x_0:", *estimate, *steps, *again, "@P3 BRA `(.L_x_0)", "EXIT"]
    written, _ = assembly(find_amd(), lifted(80, "gfx1100", *lines), "gfx1100")
    assert ("v_rcp_iflag_f32" in written) is is_division
    assert ("v_rcp_f32" in written) is not is_division


def test_of_a_power_of_two_it_is_a_mask() -> None:
    lines = ["S2R R2, SR_TID.X", "S2R R12, SR_CTAID.Y", "MOV R13, RZ", "MOV R5, 0x1", ".L_x_0:"]
    lines += [*_ESTIMATE, *_REMAINDER, "STG.E [R12.64], R4", "IADD3 R5, R5, R5, RZ"]
    lines += ["ISETP.GE.AND P3, PT, R12, R5, PT", "@P3 BRA `(.L_x_0)", "EXIT"]
    written, _ = assembly(find_amd(), lifted(80, "gfx1100", *lines), "gfx1100")
    assert "v_rcp" not in written


def test_one_correction_is_no_division() -> None:
    made = lifted(80, "gfx1100", *_BEFORE, *_ESTIMATE, *_REMAINDER[2:], *_AFTER)
    assert "urem i32" not in made


def _estimates_out_of_bounds(tmp_path: Path, *ranges: tuple[int, int]) -> int:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    source = Path(__file__).parents[1] / "proofs/reciprocals.c"
    program = tmp_path / "reciprocals"
    subprocess.run([compiler, "-O3", "-std=c11", source, "-o", program], check=True)
    command: list[list[str | Path]] = [[program, str(first), str(last)] for first, last in ranges]
    return sum(
        int(subprocess.run(each, check=True, capture_output=True).stdout) for each in command
    )


def test_the_estimate_is_close_enough(tmp_path: Path) -> None:
    around = [(max(1, (1 << n) - 20_000), min(1 << 32, (1 << n) + 20_000)) for n in range(33)]
    assert _estimates_out_of_bounds(tmp_path, *around) == 0


@pytest.mark.slow
def test_the_estimate_is_close_enough_for_each_divisor(tmp_path: Path) -> None:
    assert _estimates_out_of_bounds(tmp_path, (1, 1 << 32)) == 0


# nvcc 13.0, sm_90: threadIdx.x / warpSize, of which ptxas learns late that it is 32.
_BY_WARP_SIZE = (
    "I2F.U32.RP R0, 0x20",
    "HFMA2.MMA R2, -RZ, RZ, 0, 0",
    "MUFU.RCP R0, R0",
    "IADD3 R8, R0, 0xffffffe, RZ",
    "F2I.FTZ.U32.TRUNC.NTZ R3, R8",
    "LEA R5, -R3, RZ, 0x5",
    "IMAD.HI.U32 R2, R3, R5, R2",
    "IMAD.HI.U32 R11, R2, R10, RZ",
    "IMAD R9, R11, -0x20, R10",
    "ISETP.GE.U32.AND P0, PT, R9, 0x20, PT",
    "@P0 IADD3 R9, R9, -0x20, RZ",
    "@P0 IADD3 R11, R11, 0x1, RZ",
    "ISETP.GE.U32.AND P1, PT, R9, 0x20, PT",
)
_QUOTIENT_BY_WARP_SIZE = ("@P1 IADD3 R11, R11, 0x1, RZ", "MOV R4, R11")
_REMAINDER_BY_WARP_SIZE = ("@P1 IADD3 R9, R9, -0x20, RZ", "MOV R4, R9")


def by_warp_size(*changes: tuple[str, str], last: tuple[str, ...]) -> str:
    steps = [*_BY_WARP_SIZE, *last]
    for old, new in changes:
        assert any(old in line for line in steps)
        steps = [line.replace(old, new) for line in steps]
    return lifted(80, "gfx1100", "S2R R10, SR_TID.X", *steps, *_AFTER)


@pytest.mark.parametrize(
    ("last", "opcode"), [(_QUOTIENT_BY_WARP_SIZE, "udiv"), (_REMAINDER_BY_WARP_SIZE, "urem")]
)
def test_division_by_the_size_of_a_warp(last: tuple[str, ...], opcode: str) -> None:
    assert f"{opcode} i32 " in by_warp_size(last=last)


@pytest.mark.parametrize("last", [_QUOTIENT_BY_WARP_SIZE, _REMAINDER_BY_WARP_SIZE])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LEA R5, -R3, RZ, 0x5", "LEA R5, -R3, RZ, 0x4"),
        ("LEA R5, -R3, RZ, 0x5", "LEA R5, R3, RZ, 0x5"),
        ("I2F.U32.RP R0, 0x20", "I2F.U32.RP R0, 0x40"),
        ("R11, -0x20, R10", "R11, -0x40, R10"),
        ("R11, -0x20, R10", "R11, 0x20, R10"),
        ("@P0 IADD3 R9, R9, -0x20, RZ", "@P0 IADD3 R9, R9, -0x1f, RZ"),
        ("P1, PT, R9, 0x20, PT", "P1, PT, R9, 0x21, PT"),
    ],
)
def test_steps_of_different_numbers_are_no_division(
    old: str, new: str, last: tuple[str, ...]
) -> None:
    made = by_warp_size((old, new), last=last)
    assert "udiv i32" not in made and "urem i32" not in made


# nvcc 13.0, sm_80: how often a loop with a stride of R0 goes on, and whether that is below three.
_ROUNDS = (
    "I2F.U32.RP R6, R0",
    "IMAD.MOV R9, RZ, RZ, -R0",
    "ISETP.NE.U32.AND P2, PT, R0, RZ, PT",
    "MUFU.RCP R6, R6",
    "IADD3 R4, R6, 0xffffffe, RZ",
    "F2I.FTZ.U32.TRUNC.NTZ R5, R4",
    "HFMA2.MMA R4, -RZ, RZ, 0, 0",
    "IMAD R9, R9, R5, RZ",
    "IMAD.HI.U32 R2, R5, R9, R4",
    "IMAD.HI.U32 R2, R2, R7, RZ",
    "IMAD.MOV R4, RZ, RZ, -R2",
    "IMAD R7, R0, R4, R7",
    "ISETP.GE.U32.AND P0, PT, R7, R0, PT",
    "@P0 IADD3 R7, -R0, R7, RZ",
    "@P0 IADD3 R2, R2, 0x1, RZ",
    "ISETP.GE.U32.AND P1, PT, R7, R0, PT",
    "@P1 IADD3 R2, R2, 0x1, RZ",
    "@!P2 LOP3.LUT R2, RZ, R0, RZ, 0x33, !PT",
    "IADD3 R4, R2, 0x1, RZ",
    "ISETP.GE.U32.AND P1, PT, R2, 0x3, PT",
    "@P1 IADD3 R4, R4, 0x7, RZ",
)
_DIVIDED = "label %divided"


def rounds(*changes: tuple[str, str]) -> str:
    steps = list(_ROUNDS)
    for old, new in changes:
        assert any(old in line for line in steps)
        steps = [line.replace(old, new) for line in steps]
    return lifted(80, "gfx1100", "S2R R0, SR_TID.X", "S2R R7, SR_CTAID.X", *steps, *_AFTER)


def test_rounds_are_estimated_where_there_are_more_than_one_and_not_very_many() -> None:
    made = rounds()
    assert _DIVIDED in made
    written, _ = assembly(find_amd(), made, "gfx1100")
    once, some, large = re.split("s_cbranch_vcc", written)
    assert "v_rcp" not in once
    assert "v_mul_hi" not in some and "v_mul_hi" in large


@pytest.mark.parametrize(("processor", "lanes"), [("gfx1100", 32), ("gfx942", 64)])
def test_the_whole_wave_decides(processor: str, lanes: int) -> None:
    steps = ("S2R R0, SR_TID.X", "S2R R7, SR_CTAID.X", *_ROUNDS, *_AFTER)
    assert f"@llvm.amdgcn.ballot.i{lanes}" in lifted(80, processor, *steps)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("P1, PT, R2, 0x3, PT", "P1, PT, R2, 0x4, PT"),  # no loop of four rounds
        ("P1, PT, R2, 0x3, PT", "P1, PT, R5, 0x3, PT"),
        ("ISETP.GE.U32.AND P1, PT, R2,", "ISETP.GE.AND P1, PT, R2,"),
        ("IADD3 R4, R2, 0x1, RZ", "IADD3 R2, R2, 0x1, RZ"),
    ],
)
def test_other_quotients_are_divided(old: str, new: str) -> None:
    made = rounds((old, new))
    assert "udiv i32" in made and _DIVIDED not in made


def rounds_of(
    dividend: npt.NDArray[np.uint32], divisor: npt.NDArray[np.uint32], units: int
) -> npt.NDArray[np.uint32]:
    """As the lifter writes it, by a reciprocal that is ``units`` of its last place off."""
    reciprocal = np.float32(1) / divisor.astype(np.float32)
    less = (reciprocal.view(np.int32) + np.int32(units - 6)).view(np.float32)
    estimate = (dividend.astype(np.float32) * less).astype(np.uint32)
    return estimate + (dividend - estimate * divisor >= divisor)


@pytest.mark.parametrize("units", [-1, 0, 1])
def test_rounds_below_2_to_19_are_what_integers_divided_give(units: int) -> None:
    """Of the least and the greatest dividend of a quotient, where an estimate is off first."""
    draw = np.random.default_rng(3)
    rounds = np.concatenate([np.arange(4096), (1 << 19) - 1 - np.arange(4096)])
    bits = draw.integers(0, 32, (256, 1))
    divisors = draw.integers(1 << bits, 2 << bits, dtype=np.uint64)
    least = rounds.astype(np.uint64) * divisors
    for dividend in (least, least + divisors - 1):
        fits = dividend < 1 << 32
        words = np.broadcast_to(divisors, dividend.shape)[fits].astype(np.uint32)
        found = rounds_of(dividend[fits].astype(np.uint32), words, units)
        assert np.array_equal(found, np.broadcast_to(rounds, fits.shape)[fits])


def test_what_a_division_by_zero_gives_is_chosen_once() -> None:
    """ptxas' steps give 2, and then something else takes its place."""
    written, _ = assembly(find_amd(), rounds(("R2, 0x3, PT", "R2, 0x5, PT")), "gfx1100")
    chosen = [line for line in written.splitlines() if "v_cndmask" in line]
    assert any(", -1," in line for line in chosen)
    assert not any(", 2," in line for line in chosen)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@!P2 LOP3", "@P2 LOP3"),
        ("P2, PT, R0, RZ, PT", "P2, PT, R7, RZ, PT"),
        ("P2, PT, R0, RZ, PT", "P2, PT, R0, 0x1, PT"),
    ],
)
def test_other_choices_keep_what_the_steps_give(old: str, new: str) -> None:
    made = rounds((old, new))
    assert "udiv i32" in made and _DIVIDED not in made
    assert re.search(r"select i1 %v\d+, i32 2, i32 %v\d+", made)
