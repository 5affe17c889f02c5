"""Arrays in registers: loops that count an index are unrolled, others are left as they are."""

from __future__ import annotations

import pytest

from cass_ray.lift.llvm.emit import assembly
from cass_ray.toolchain.locate import find_amd
from tests.lift.lowering.test_mbarrier import lifted

# An array of eight words in R8 to R15; R4 counts, R2 is the sum.
_BEFORE = (
    "S2R R2, SR_TID.X",
    "S2R R6, SR_CTAID.X",
    "S2R R7, SR_CTAID.Y",
    *(f"IMAD.MOV.U32 R{8 + n}, RZ, RZ, R2" for n in range(8)),
    "IMAD.MOV.U32 R4, RZ, RZ, RZ",
)
_COUNTED = ("IMAD.SHL.U32 R5, R4, 0x4, RZ", "LOP3.LUT R5, R5, 0x1c, RZ, 0xc0, !PT")
_LOADED = ("LDG.E R5, [R6.64]", "LOP3.LUT R5, R5, 0x1c, RZ, 0xc0, !PT")
_TAKEN = tuple(
    line
    for n in range(8)
    for line in (
        f"ISETP.EQ.AND P{n % 2}, PT, R5, {hex(4 * n)}, PT",
        f"@P{n % 2} IMAD.MOV.U32 R3, RZ, RZ, R{8 + n}",
    )
)
_NEXT = ("IMAD R2, R2, 0x3, R3", "IADD3 R4, R4, 0x1, RZ")
_MORE = "ISETP.NE.AND P2, PT, R4, 0x18, PT"
_AFTER = ("STG.E [R6.64], R2", "EXIT")


def loop(*body: str) -> str:
    lines = [*_BEFORE, ".L_x_0:", *body, "@P2 BRA `(.L_x_0)", *_AFTER]
    return lifted(80, "gfx1100", *lines)


def test_a_loop_that_counts_the_index_is_unrolled() -> None:
    made = loop(*_COUNTED, *_TAKEN, *_NEXT, _MORE)
    assert made.count("!llvm.loop !3") == 1
    written, _ = assembly(find_amd(), made, "gfx1100")
    assert "v_cndmask" not in written
    assert "s_cbranch" not in written


@pytest.mark.parametrize(
    "body",
    [
        (*_LOADED, *_TAKEN, *_NEXT, _MORE),
        (*_COUNTED, *_TAKEN[:14], *_NEXT, _MORE),  # seven words only
        (*_TAKEN, *_NEXT, _MORE),  # the same index in each round
        (*_COUNTED, *(each.replace("EQ", "GE") for each in _TAKEN), *_NEXT, _MORE),
        (*_COUNTED, *(each.replace("@P", "@!P") for each in _TAKEN), *_NEXT, _MORE),
        (*_COUNTED, *(each.replace("IMAD.MOV.U32", "IADD3") for each in _TAKEN), *_NEXT, _MORE),
    ],
)
def test_other_loops_are_left(body: tuple[str, ...]) -> None:
    made = loop(*body)
    assert "define" in made
    assert "!llvm.loop !3\n" not in made


def test_where_the_rounds_are_not_known_the_comparisons_stay() -> None:
    made = loop(*_COUNTED, *_TAKEN, *_NEXT, "ISETP.NE.AND P2, PT, R4, R6, PT")
    assert "!llvm.loop !3" in made
    written, _ = assembly(find_amd(), made, "gfx1100")
    assert "s_cbranch" in written


def test_a_loop_around_it_is_left() -> None:
    inner = [*_COUNTED, *_TAKEN, *_NEXT, _MORE]
    lines = [*_BEFORE, ".L_x_1:", "IMAD.MOV.U32 R4, RZ, RZ, RZ", ".L_x_0:", *inner]
    lines += ["@P2 BRA `(.L_x_0)", "ISETP.LT.AND P3, PT, R2, 0x100, PT", "@P3 BRA `(.L_x_1)"]
    made = lifted(80, "gfx1100", *lines, *_AFTER)
    (branch,) = (line for line in made.splitlines() if line.endswith("!llvm.loop !3"))
    assert branch.startswith("  br i1")
    assert assembly(find_amd(), made, "gfx1100")[0].count("s_cbranch_") == 1
