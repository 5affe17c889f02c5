"""Tensor memory and products there: what is refused, and what a product is told."""

from __future__ import annotations

import re

import pytest

from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import build

KERNEL = "_Z1kPf"


def lifted(*instructions: str) -> str:
    """LLVM IR of a kernel, or why there is none."""
    text = "\n".join([".target sm_100a", "", f"Function : {KERNEL}", *instructions, "EXIT"])
    made = build(cubin_of(text), text, target=lift_target("gfx1100"))
    return str(made.failures[KERNEL]) if made.failures else made.text


SUMS = "tmem[UR6], tmem[UR4], idesc[UR5]"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"UTCHMMA.WS gdesc[UR8], gdesc[UR10], {SUMS}, UR12, UP0", "factors are zero"),
        (f"UTCHMMA gdesc[UR8], gdesc[UR10], {SUMS}, tmem[UR12], UP0", "such factors"),
        (f"UTCQMMA.2CTA gdesc[UR8], gdesc[UR10], {SUMS}, tmem[UR12], UP0", "two blocks"),
        (f"UTCOMMA gdesc[UR8], gdesc[UR10], {SUMS}, UP0", "no scales"),
        (f"UTCHMMA.ASHIFT tmem[UR8], gdesc[UR10], {SUMS}, UP0", "not in the table"),
        (f"UTCOMMA.2CTA.4X gdesc[UR8], gdesc[UR10], {SUMS}, tmem[UR12], UP0", "not in the table"),
        (f"UTCHMMA gdesc[UR8].tnspA, gdesc[UR10], {SUMS}, UP0", "another shape"),
        (f"UTCHMMA tmem[UR8], tmem[UR10], {SUMS}, UP0", "another shape"),
        (f"UTCHMMA gdesc[UR8], gdesc[UR10], {SUMS}, UP0, 0x3, 0x1", "behind the predicate"),
        ("UTCSHIFT.DOWN tmem[UR4]", "not in the table"),
        ("UTCCP.T.S.4dp256bit tmem[UR4], gdesc[UR6]", "not in the table"),
        ("UTCCP.T.S.U4x16P64 tmem[UR4], gdesc[UR6]", "not in the table"),
        ("UTCATOMSWS.AND UR4, UR6", "units that were in use"),
        ("UTCBAR [UR4], UR6", "a register that is not known"),
        ("STTM tmem[UR4], -R2", "no plain register"),
        ("LDTM.x2 R4, [UR4]", "no place in tensor memory"),
    ],
)
def test_what_is_not_known_is_refused(text: str, reason: str) -> None:
    said = lifted(text)
    assert text in said
    assert reason in said


def test_a_sparse_matrix_is_refused_where_its_descriptor_is_known() -> None:
    text = f"UTCHMMA gdesc[UR8], gdesc[UR10], {SUMS}, UPT"
    assert "a sparse matrix" in lifted("UMOV UR5, 0x8200494", text)
    assert "a sparse matrix" not in lifted("UMOV UR5, 0x8200490", text)


def arguments(text: str) -> list[str]:
    """Of the call of the device function that an instruction becomes."""
    found = re.search(r"call void @__cass_tensor_multiply_(\w+)\((.*)\)", lifted(text))
    assert found
    return [found[1], *(each.split()[1] for each in found[2].split(", "))]


@pytest.mark.parametrize(
    ("text", "function", "flags", "scale"),
    [
        (f"UTCHMMA gdesc[UR8], gdesc[UR10], {SUMS}, !UPT", "halves", "0", "0"),
        (f"UTCHMMA tmem[UR8].A_REUSE.A_KEEP, gdesc[UR10], {SUMS}, UPT, 0x3", "halves", "3", "3"),
        (f"UTCQMMA gdesc[UR8].A_KEEP, gdesc[UR10], {SUMS}, UPT", "bytes", "2", "0"),
        (f"UTCIMMA.WS gdesc[UR8], gdesc[UR10].B_KEEP.BUFFER1, {SUMS}, UPT", "integers", "10", "0"),
    ],
)
def test_what_a_product_is_told(text: str, function: str, flags: str, scale: str) -> None:
    found = arguments(text)
    assert (found[0], found[2], found[5]) == (function, flags, scale)


def test_shared_memory_that_allocations_have_stays() -> None:
    """The kilobyte that sm_100 reserves is in LDS; what the lifter needs lies behind 0x60."""
    text = lifted("LDTM R4, tmem[UR4]", "BAR.SYNC 0x1, 0x40")
    assert '"amdgpu-lds-size"="1024,1024"' in text
    assert (
        "call void @__cass_barriers_begin(i32 112, i32 192)" in text
    )  # 0x60, and 16 before barriers
    assert "call void @__cass_tensor_begin(i32 848, i32 64, i32 0, " in text
