"""Loops that wait for global memory let other waves go on; what is loaded once does not pause."""

from __future__ import annotations

import pytest

from tests.lift.lowering.test_mbarrier import lifted

PAUSE = "call void @llvm.amdgcn.s.sleep(i32 1)"
# nvcc 13.0, sm_80: the wait of `grid.sync()`.
LOOK = "LD.E.STRONG.GPU R15, [R12.64+0x4]"
COMPARED = "ISETP.GT.AND P0, PT, R15, -0x1, PT"
BACK = "@P0 BRA `(.L_x_0)"


def made_of(*lines: str) -> str:
    return lifted(80, "gfx1100", *lines, "EXIT")


def test_a_wait_at_a_barrier_of_the_grid_pauses() -> None:
    made = made_of(".L_x_0:", LOOK, COMPARED, BACK)
    assert made.count(PAUSE) == 1
    assert made.index(PAUSE) < made.index("load atomic")


@pytest.mark.parametrize(
    ("lines", "pauses"),
    [
        ([LOOK, COMPARED], 0),  # no loop
        ([".L_x_0:", LOOK, COMPARED, "NANOSLEEP 0x14", BACK], 1),  # one of its own
        ([".L_x_0:", "LD.E R15, [R12.64+0x4]", COMPARED, BACK], 0),  # nobody else writes there
        ([".L_x_0:", LOOK, COMPARED, "IADD3 R12, R12, 0x4, RZ", BACK], 0),  # on and on
    ],
)
def test_other_loads_do_not(lines: list[str], pauses: int) -> None:
    made = made_of(*lines)
    assert "load" in made and made.count(PAUSE) == pauses
