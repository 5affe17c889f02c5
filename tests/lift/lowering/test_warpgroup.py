"""Matrix products of warpgroups: what is refused, and what one costs beside its function."""

from __future__ import annotations

import re

import pytest

from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import build

KERNEL = "_Z1kPf"


def lifted(*instructions: str) -> str:
    """LLVM IR of a kernel, or why there is none."""
    text = "\n".join([".target sm_90", "", f"Function : {KERNEL}", *instructions, "EXIT"])
    made = build(cubin_of(text), text, target=lift_target("gfx1100"))
    return str(made.failures[KERNEL]) if made.failures else made.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("HGMMA.64x8x16.F32 R24, gdesc[UR4].sparse, R24", "matrices"),
        ("HGMMA.64x12x16.F32 R24, gdesc[UR4], R24", "not in the table"),
        ("HGMMA.SP.64x8x16.F32 R24, gdesc[UR4], R24, R28, 0x0", "not in the table"),
        ("HGMMA.SP.64x8x32.F32 R24, gdesc[UR4], R24", "without metadata"),
        ("HGMMA.SP.64x8x32.F32 R24, gdesc[UR4], R24, R28, 0x2, gsb0", "a sparsity selector"),
        ("HGMMA.SP.64x8x32.F32 R24, gdesc[UR4], R24, R28, gsb0", "a sparsity selector"),
        ("QGMMA.SP.64x8x64.F32.E4M3.E4M3 R24, gdesc[UR4], R24, R28, 0x1", "an operand after"),
        ("HGMMA.64x8x8.F32.TF32 R24, gdesc[UR4].tnspB, R24", "matrices"),
        ("HGMMA.64x8x16.F32 R24, R28, gdesc[UR4].tnspA, R24", "matrices"),
        ("HGMMA.64x8x16.F32 R24, gdesc[UR4].negA.negA, R24", "matrices"),
        ("HGMMA.64x8x16.F32 R24, gdesc[UR4], -R24", "negated"),
        ("HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, UP0, 0x1", "an operand after the sums"),
        ("HGMMA.64x8x16.F32 R24, [UR4], R24", "without their descriptors"),
        ("IGMMA.64x8x32.S8.S8 R24, -R28, gdesc[UR4], R24", "negated"),
        ("IGMMA.64x40x32.S8.S8 R24, gdesc[UR4], R24", "not in the table"),
    ],
)
def test_what_is_not_known_is_refused(text: str, reason: str) -> None:
    said = lifted(text)
    assert text in said
    assert reason in said


def call(text: str) -> str:
    """The call of the device function that an instruction becomes."""
    return next(line for line in lifted(text).splitlines() if "call void @__cass_warp" in line)


@pytest.mark.parametrize(
    ("text", "function", "flags"),
    [
        ("HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0", "f32_f16_f16", 16),
        ("HGMMA.64x8x16.F32 R24, gdesc[UR4], RZ, !UPT", "f32_f16_f16", 0),
        ("HGMMA.64x8x16.F32.BF16 R24, -R28, gdesc[UR4].tnspB, R24", "f32_bf16_bf16", 27),
        ("HGMMA.64x8x16.F16 R24, gdesc[UR4].negA.negB.tnspA, R24", "f16_f16_f16", 20),
        ("QGMMA.64x8x32.F16.E5M2.E4M3 R24, gdesc[UR4].negB, R24", "f16_e5m2_e4m3", 18),
        ("IGMMA.64x8x32.U8.S8.SAT R24, R28, gdesc[UR4], R24", "s32_u8_s8", 49),
    ],
)
def test_flags(text: str, function: str, flags: int) -> None:
    found = call(text)
    assert f"@__cass_warpgroup_{function}(" in found
    assert found.endswith(f"i32 1, i32 {flags})")


@pytest.mark.parametrize(
    ("text", "function", "flags", "selector"),
    [
        ("IGMMA.SP.64x8x64.U8.S8.SAT R24, gdesc[UR4], R24, !UPT, R28", "s32_u8_s8", 32, 0),
        ("HGMMA.SP.64x8x32.F32 R24, R28, gdesc[UR4], R24, R32, 0x1", "f32_f16_f16", 17, 1),
        ("HGMMA.SP.64x8x32.F32 R24, gdesc[UR4], R24, !UPT, R28, 0x0, gsb0", "f32_f16_f16", 0, 0),
    ],
)
def test_sparse_matrices(text: str, function: str, flags: int, selector: int) -> None:
    found = call(text)
    assert f"@__cass_warpgroup_sparse_{function}(" in found
    assert re.search(rf"i32 1, i32 {flags}, i32 %\w+, i32 {selector}\)$", found)


def test_descriptors_are_in_two_pairs_of_registers() -> None:
    """B's is in the second pair also where A is in registers."""
    for text in ("R24, gdesc[UR4], R24", "R24, R28, gdesc[UR4], R24"):
        body = lifted(f"HGMMA.64x8x16.F32 {text}")
        assert "%UR6" in body
        assert "%UR7" in body
        assert ("%UR4" in body) == ("R28" not in text)


def test_a_wait_is_a_barrier_of_four_warps() -> None:
    line = next(
        x for x in lifted("WARPGROUP.DEPBAR.LE gsb0, 0x1").splitlines() if "cass_barrier(" in x
    )
    assert line.endswith("i32 128, i32 1, i32 0)")
