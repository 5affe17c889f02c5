"""Bulk copies: what does not change them."""

from __future__ import annotations

import pytest

from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.module import LlvmModule, build

KERNEL = "_Z1kPi"


def lifted(*instructions: str) -> LlvmModule:
    text = "\n".join([".target sm_90", "", f"Function : {KERNEL}", *instructions, "EXIT"])
    return build(cubin_of(text), text)


@pytest.mark.parametrize(
    "copy",
    [
        "UTMALDG.2D [UR8], [UR6]",
        "UTMASTG.2D [UR12], [UR6]",
        "UBLKCP.S.G [UR8], [UR6], UR10",
    ],
)
def test_a_policy_of_caches_changes_nothing(copy: str) -> None:
    """ptxas writes a 64-bit register so for ``.L2::cache_hint``; any other operand is refused."""
    plain = lifted(copy)
    assert not plain.failures
    assert lifted(f"{copy}, desc[UR4]").text == plain.text
    assert KERNEL in lifted(f"{copy}, UR4").failures
