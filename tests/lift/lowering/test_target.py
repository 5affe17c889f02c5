"""What lifted code depends on of each AMD processor."""

from __future__ import annotations

import re

import pytest

from cass_ray.architectures import amd_target
from cass_ray.lift.errors import LiftError
from cass_ray.lift.lowering.target import LIFT_TARGETS, lift_target
from tests.lift.lowering.test_mbarrier import lifted


def test_waves_are_as_wide_as_hip_makes_them() -> None:
    widths = {name: amd_target(name).wave_widths[0] for name in LIFT_TARGETS}
    assert {name: target.wave_lanes for name, target in LIFT_TARGETS.items()} == widths
    assert [name for name, target in LIFT_TARGETS.items() if target.pairs_warps] == [
        "gfx90a",
        "gfx942",
    ]


def test_where_the_format_of_texels_is() -> None:
    """RDNA3 ISA, 10.5; ROCR's image/resource_gfx12.h; CDNA has no texture units."""
    places = {name: lift_target(name).image_format_shift for name in LIFT_TARGETS}
    assert places["gfx1100"] == places["gfx1151"] == 20
    assert places["gfx1200"] == places["gfx1201"] == 17
    assert places["gfx942"] is places["gfx90a"] is None


@pytest.mark.parametrize(
    ("processor", "counter"),
    [
        ("gfx1100", "readsteadycounter"),
        ("gfx1151", "readsteadycounter"),
        ("gfx1201", "readcyclecounter"),
        ("gfx942", "readcyclecounter"),
    ],
)
def test_cycles_are_counted_in_more_bits_than_20(processor: str, counter: str) -> None:
    """RDNA3 ISA, hardware registers: SHADER_CYCLES has 20; RDNA4 has two, S_MEMTIME 64 bits."""
    for text in ("CS2R R2, SR_CLOCKLO", "CS2R.32 R2, SR_CLOCKLO", "S2UR UR4, SR_CLOCKHI"):
        made = lifted(90, processor, text, "EXIT")
        assert re.findall(r"call i64 @llvm\.(\w+)", made) == [counter]


def test_another_processor_is_refused_with_the_nearest() -> None:
    with pytest.raises(LiftError, match="nothing is lifted to gfx94: did you mean `gfx942`"):
        lift_target("gfx94")
