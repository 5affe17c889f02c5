"""Barriers in shared memory: what is refused, and where warps of one wave wait by them."""

from __future__ import annotations

import pytest

from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import build

KERNEL = "_Z1kPf"


def lifted(architecture: int, processor: str, *instructions: str) -> str:
    """LLVM IR of a kernel, or why there is none."""
    text = "\n".join([f".target sm_{architecture}", "", f"Function : {KERNEL}", *instructions])
    made = build(cubin_of(text), text, target=lift_target(processor))
    return str(made.failures[KERNEL]) if made.failures else made.text


@pytest.mark.parametrize(
    ("architecture", "text", "reason"),
    [
        (90, "ATOMS.ARRIVE.64 R2, [R4]", "a barrier of sm_80"),
        (90, "ARRIVES.LDGSTSBAR.64 [R4]", "a barrier of sm_80"),
        (90, "SYNCS.EXCH.64 UR4, [UR8], UR6", "old contents"),
        (90, "SYNCS.ARRIVE.TRANS64.A1T1 R2, [R4], RZ", "not in the table"),
        (90, "UBLKCP.S.G [UR8+0x10], [UR4], UR10", "no register"),
        (90, "UBLKRED.G.S.MIN.F32.RN [UR8], [UR4], UR10", "not in the table"),
        (90, "UTMALDG.3D.IM2COL.W [UR8], [UR4], UR6", "not in the table"),
        (90, "RPCMOV.32 Rpc.MID, R4", "no half of Rpc"),
        (100, "LDC R2, c[0x0][0x20c]", "the size of dynamic shared memory"),
        (120, "IADD.64 R2, R2, 0x80000000", "extension is not known"),
        (120, "IADD.64.X R2, R2, -R4, P0", "a negated term"),
        (120, "IMNMX.U64 P0, PT, R2, R4, R6, PT, !PT", "part of a longer comparison"),
        (100, "VIMNMX.U32 R2, P0, PT, R4, R6, PT", "which operand was taken"),
    ],
)
def test_what_is_not_modelled_is_refused(architecture: int, text: str, reason: str) -> None:
    said = lifted(architecture, "gfx1100", text, "EXIT")
    assert text in said
    assert reason in said


def test_turns_are_taken_alike_by_both_names_of_the_move() -> None:
    """ptxas 13.0 for ``cp.async.bulk`` by several lanes: R2UR for sm_90, R2UR.BROADCAST later."""
    one, other = (
        lifted(100, "gfx1100", "ELECT P1, URZ, PT", f"@P1 {move} UR6, R4", "STS [UR6], R4", "EXIT")
        for move in ("R2UR", "R2UR.BROADCAST")
    )
    assert "llvm.amdgcn.ballot" in one
    assert one == other


WAITS_BY_WORDS = (
    "/*0000*/ ATOMS.ARRIVE.64 R2, [URZ] ;",
    ".L_1:",
    "/*0010*/ LDS R4, [0x4] ;",
    "/*0020*/ LOP3.LUT P0, RZ, R4, 0x80000000, R3, 0x48, !PT ;",
    "/*0030*/ @!P0 BRA `(.L_1) ;",
    "/*0040*/ EXIT ;",
)
WAITS_BY_PHASE = (
    "/*0000*/ SYNCS.ARRIVE.TRANS64.A1T0 R2, [UR4], RZ ;",
    ".L_1:",
    "/*0010*/ SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3 ;",
    "/*0020*/ @!P0 BRA `(.L_1) ;",
    "/*0030*/ EXIT ;",
)


@pytest.mark.parametrize(("architecture", "code"), [(80, WAITS_BY_WORDS), (90, WAITS_BY_PHASE)])
def test_a_loop_that_waits_for_a_phase_gives_the_turn_to_the_other_warp(
    architecture: int, code: tuple[str, ...]
) -> None:
    paired = lifted(architecture, "gfx942", *code)
    assert "\nturn:\n" in paired
    assert "\npoll" in paired
    alone = lifted(architecture, "gfx1100", *code)
    assert "turn" not in alone
    assert "\npoll" not in alone


def test_a_load_that_polls_stays_where_it_is() -> None:
    """Without the fence LLVM would load once, before the loop, and end it."""
    loop = (
        ".L_1:",
        "/*0000*/ LDS R4, [R2] ;",
        "/*0010*/ ISETP.NE.AND P0, PT, R4, RZ, PT ;",
        "/*0020*/ @!P0 BRA `(.L_1) ;",
        "/*0030*/ EXIT ;",
    )
    fence = 'fence syncscope("workgroup") acquire'
    assert fence in lifted(80, "gfx1100", *loop)
    moving = (*loop[:1], loop[1].replace("R4, [R2]", "R2, [R2]"), *loop[2:])
    assert fence not in lifted(80, "gfx1100", *moving)
