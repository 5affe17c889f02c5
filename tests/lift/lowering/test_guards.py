"""What a false guard keeps from happening, in ptxas' own code."""

from __future__ import annotations

import re

import pytest

from tests.lift.lowering.test_mbarrier import lifted

_CONDITIONS = (
    "S2R R0, SR_TID.X",
    "ISETP.NE.AND P0, PT, R0, 0x4, PT",
    "ISETP.NE.AND P1, PT, R0, 0x5, PT",
)
_AFTER = ("STG.E desc[UR4][R2.64], R4", "EXIT")


@pytest.mark.parametrize("opcode", ["LDC", "LDC.U8"])
@pytest.mark.parametrize(("offset", "distance"), [(0x210, 0), (0x214, 4)])
def test_no_constant_is_read_where_a_register_may_say_anything(
    opcode: str, offset: int, distance: int
) -> None:
    """sm_90, -O3: ``@!P0 IMAD.SHL R0``, ``@!P0 LDC.64 R4, c[0x3][R0]``; parameters are at 0x210."""
    guarded = f"@!P0 {opcode} R4, c[0x0][R0+{offset:#x}]"
    made = lifted(90, "gfx1100", *_CONDITIONS, guarded, *_AFTER)
    index = re.search(rf"(%v\d+) = select i1 %v\d+, i32 %v1, i32 {-distance & 0xFFFFFFFF}\n", made)
    assert index
    if distance:
        added = distance & 0xFFFFFFFF
        index = re.search(rf"(%v\d+) = add i32 {index[1]}, {added}\n", made)
    assert index
    assert re.search(rf"zext i32 {index[1]} to i64\n\s+%v\d+ = getelementptr i8", made)


def test_a_constant_at_a_fixed_place_is_read_anyway() -> None:
    made = lifted(90, "gfx1100", *_CONDITIONS, "@!P0 LDC R4, c[0x0][0x210]", *_AFTER)
    assert "skip" not in made


def test_a_return_has_a_condition_beside_its_guard() -> None:
    """sm_80 and sm_120, -O3, in the slow path of a division: where neither P0 nor P1 holds."""
    code = "@!P0 RET.REL.NODEC !P1, R6 `(_Z1kPf)"
    made = lifted(120, "gfx1100", *_CONDITIONS, code, *_AFTER)
    found = re.search(
        r"(%v\d+) = icmp ne i32 %v1, 4\n\s+(%v\d+) = icmp ne i32 %v1, 5\n"
        r"\s+(%v\d+) = xor i1 \1, true\n\s+(%v\d+) = xor i1 \2, true\n"
        r"\s+(%v\d+) = and i1 \3, \4\n(?:.*\n)*?\s+br i1 \5, label %leave",
        made,
    )
    assert found
