"""Textures and surfaces: what an instruction leaves out, and what of a register is stored."""

from __future__ import annotations

import re

import pytest

from tests.lift.lowering.test_mbarrier import lifted


@pytest.mark.parametrize("text", ["TEX R2, R4, R6, 0x0, 0x58, 2D", "TEX R2, R4, R4, UR4, 0x0, 2D"])
def test_no_level_of_detail_is_sm_120s_base_level_alone(text: str) -> None:
    """ptxas 13.0 for ``tex.2d``: ``TEX.LL`` with level -32 up to sm_100, ``TEX`` for sm_120."""
    said = lifted(90, "gfx1100", text, "EXIT")
    assert text in said
    assert "a level of detail" in said


@pytest.mark.parametrize(
    ("size", "mask"), [(".U8", 0xFF), (".U16", 0xFFFF), ("", None), (".64", None)]
)
def test_a_small_texel_is_the_low_bytes_of_a_register(size: str, mask: int | None) -> None:
    """An image instruction stores the greatest number of a format in place of a greater one."""
    store = f"SUST.D.BA.2D{size}.STRONG.SM.TRAP [R2], R4, UR4, 0x0"
    handle = "ULDC.64 UR4, c[0x0][0x210]"
    made = lifted(90, "gfx1100", "S2R R4, SR_TID.X", handle, store, "EXIT")
    stored = re.search(r"bitcast i32 (%v\d+) to float", made)
    assert stored
    masked = re.search(rf"{stored[1]} = and i32 %v\d+, (\d+)\n", made)
    assert (int(masked[1]) if masked else None) == mask


@pytest.mark.parametrize("scope", ["SM", "CTA"])
def test_a_surface_is_written_alike_in_both_scopes(scope: str) -> None:
    """ptxas 13.0 for ``sust.b.2d``: STRONG.CTA for sm_75, STRONG.SM for the others."""
    store = f"SUST.D.BA.2D.STRONG.{scope}.TRAP [R2], R4, 0x0, 0x58"
    made = lifted(80, "gfx1100", "S2R R4, SR_TID.X", store, "EXIT")
    assert "call void @llvm.amdgcn.image.store.2d" in made


@pytest.mark.parametrize(
    ("architecture", "text"),
    [
        (75, "TEX.SCR.LL RZ, R14, R12, R20, 0x0, 0x5c, CUBE, 0x1"),
        (90, "TEX.LL RZ, R10, R8, R27, UR4, 0x0, CUBE, 0x1"),
        (100, "TEX.LL RZ, R6, R4, R27, UR4, CUBE, 0x1"),
        (120, "TEX RZ, R26, R24, UR4, CUBE, 0x1"),
        (90, "TEX.LL RZ, R5, R8, R6, UR4, 0x0, ARRAY_CUBE, 0x1"),
        (120, "TEX RZ, R5, R8, UR4, ARRAY_CUBE, 0x1"),
    ],
)
def test_a_cube_map_is_an_array_of_faces(architecture: int, text: str) -> None:
    """As ptxas 13.0 writes ``texCubemap`` and ``texCubemapLayered``."""
    handle = "LDCU.64 UR4, c[0x0][0x380]" if architecture >= 100 else "ULDC.64 UR4, c[0x0][0x210]"
    before = [] if architecture == 75 else [handle]
    made = lifted(architecture, "gfx1100", *before, text, "EXIT")
    assert re.search(r"image\.sample\.lz?\.2darray\.v4f32\.f32\(i32 15, float", made)
    assert "@llvm.amdgcn.cubeid(" in made
    assert ("llvm.umin.i32" in made) == ("ARRAY_CUBE" in text)


@pytest.mark.parametrize(
    ("architecture", "text"),
    [
        (75, "TXD RZ, R5, R4, R8, 0x0, 0x58, 2D, 0x1"),
        (90, "TXD RZ, R5, R4, R8, UR4, 0x0, 2D, 0x1"),
        (120, "TXD RZ, R5, R4, R8, UR4, 2D, 0x1"),
    ],
)
def test_changes_of_coordinates_are_in_pairs(architecture: int, text: str) -> None:
    """ptxas 13.0 for ``tex2DGrad(t, x, y, {a, b}, {c, d})``: R4 has x, y, and R8 a, c, b, d.

    LLVM's instruction takes a, b, c, d, x, y.
    """
    handle = "LDCU.64 UR4, c[0x0][0x380]" if architecture >= 100 else "ULDC.64 UR4, c[0x0][0x210]"
    before = [] if architecture == 75 else [handle]
    loads = [f"LDS R{n}, [R2+{hex(0x40 + n)}]" for n in (4, 5, 8, 9, 10, 11)]
    made = lifted(architecture, "gfx1100", "S2R R2, SR_TID.X", *loads, *before, text, "EXIT")
    assert re.search(r"image\.sample\.d\.2d\.v4f32\.f32\.f32\(i32 15(, float [^,]+){6}, <8", made)


def test_a_surface_with_no_mode_is_clamped() -> None:
    """PTX's ``.clamp``; ``.zero`` is IGN, and neither it nor TRAP asks for sizes."""
    handle = "ULDC.64 UR4, c[0x0][0x210]"
    for mode in ("", ".IGN", ".TRAP"):
        load = f"SULD.D.BA.2D.STRONG.SM{mode} R4, [R2], UR4, 0x0"
        made = lifted(90, "gfx1100", "S2R R2, SR_TID.X", handle, load, "EXIT")
        assert ("image.getresinfo.2d" in made) == (mode == "")
