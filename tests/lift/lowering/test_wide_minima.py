"""Minima and maxima of 64 bits (sm_120): PTX min and max of the type that the form names."""

from __future__ import annotations

import pytest

from tests.lift.lowering.test_mbarrier import lifted


@pytest.mark.parametrize(
    ("text", "function"),
    [
        # CUB's radix sort for sm_120: min(number - offset, most) of two uniform values.
        ("UIMNMX.U64 UPT, UPT, UR4, UR4, UR6, UPT, !UPT", "umin"),
        ("UIMNMX.S64 UPT, UPT, UR4, UR4, UR6, !UPT, !UPT", "smax"),
        ("IMNMX.S64 PT, PT, R2, R2, R4, PT, !PT", "smin"),
        ("IMNMX.U64 PT, PT, R2, R2, UR8, !PT, !PT", "umax"),
    ],
)
def test_the_function_of_the_forms_type(text: str, function: str) -> None:
    uniform = text.startswith("U")
    source = "MOV R6, UR4" if uniform else "MOV R6, R2"
    made = lifted(
        120, "gfx1100", text, source, "MOV R8, UR5" if uniform else "MOV R8, R3",
        "STG.E.64 desc[UR6][R6.64], R8", "EXIT",
    )  # fmt: skip
    assert f"@llvm.{function}.i64(" in made
