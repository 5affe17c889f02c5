"""What LLVM takes for granted of threads and arguments: rounds are counted, loads are moved."""

from __future__ import annotations

import re

import pytest

from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.llvm.emit import assembly
from cass_ray.lift.module import build
from cass_ray.toolchain.locate import find_amd
from tests.lift.lowering.test_mbarrier import lifted

# Nine bytes from the one whose number is eight times that of the thread: nvcc's code for
# for (int i = tid * 8; i <= (tid + 1) * 8; ++i) bytes[i] = tid;
_BYTES = (
    "S2R R0, {number}",
    "IMAD.SHL.U32 R5, R0, 0x8, RZ",
    "IADD3 R4, R5, 0x8, RZ",
    ".L_x_0:",
    "STS.U8 [R5], R0",
    "ISETP.GE.AND P0, PT, R5, R4, PT",
    "IADD3 R5, R5, 0x1, RZ",
    "@!P0 BRA `(.L_x_0)",
    "EXIT",
)


@pytest.mark.parametrize(
    ("number", "loops"),
    [("SR_TID.X", False), ("SR_TID.Z", False), ("SR_LANEID", False), ("SR_CTAID.X", True)],
)
@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_rounds_are_known_where_a_number_is_of_a_thread(
    number: str, loops: bool, processor: str
) -> None:
    """Eight times a block's number may be 2^31 - 8, where such a loop ends after one round."""
    made = lifted(80, processor, *(line.format(number=number) for line in _BYTES))
    written, _ = assembly(find_amd(), made, processor)
    assert ("\ts_cbranch" in written) == loops
    assert len(re.findall(r"\tds_(?:store|write)_b8", written)) == (1 if loops else 9)


def test_an_argument_is_loaded_in_front_of_a_loop() -> None:
    """Though only some rounds need it: where arguments are there is something to load."""
    body = (
        "S2R R0, SR_TID.X",
        "IMAD.MOV.U32 R5, RZ, RZ, R0",
        ".L_x_0:",
        "LDS R6, [R5]",
        "ISETP.EQ.AND P0, PT, R6, RZ, PT",
        "@P0 STS [R0], R6",
        "@P0 STG.E [R2.64], R6",
        "@P0 IADD3 R5, R5, c[0x0][0x160], RZ",
        "IADD3 R5, R5, 0x4, RZ",
        "ISETP.LT.U32.AND P1, PT, R5, R6, PT",
        "@P1 BRA `(.L_x_0)",
        "EXIT",
    )
    text = "\n".join([".target sm_80", "", "Function : _Z1ki", *body])
    written, _ = assembly(find_amd(), build(cubin_of(text), text).text, "gfx1100")
    loop = written.partition("sass_0_20")[2]
    assert "\ts_load" in written and "\ts_cbranch" in loop
    assert "\ts_load" not in loop
