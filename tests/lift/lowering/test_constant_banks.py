"""Words that the driver puts in front of the parameters: addresses, and what is refused by name."""

from __future__ import annotations

import pytest

from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.module import LlvmModule, build

KERNEL = "_Z1kPi"


def lifted(architecture: str, *instructions: str) -> LlvmModule:
    text = "\n".join([f".target {architecture}", "", f"Function : {KERNEL}", *instructions, "EXIT"])
    return build(cubin_of(text), text)


@pytest.mark.parametrize(
    ("architecture", "offset", "distance"), [("sm_80", 0x40, 0x160), ("sm_90", 0x198, 0)]
)
def test_the_address_of_the_parameters(architecture: str, offset: int, distance: int) -> None:
    """What ptxas adds to the word for ``cvta.param`` of the first parameter is ``distance``."""
    made = lifted(architecture, f"MOV R4, c[0x0][{offset:#x}]", "STS [RZ], R4")
    assert not made.failures
    assert ("sub i64" in made.text) == bool(distance)
    if distance:
        assert f", {distance}\n" in made.text.partition("sub i64")[2]


@pytest.mark.parametrize(
    ("architecture", "offset", "reason"),
    [
        ("sm_80", 0x12C, "the end of the kernel's parameters"),
        ("sm_90", 0x1A0, "the end of the kernel's parameters"),
        ("sm_90", 0x114, "the size of reserved shared memory"),
        ("sm_80", 0x2C, "the size of dynamic shared memory"),
        ("sm_90", 0x50, "a driver constant of unknown meaning"),
        ("sm_80", 0xD0, "a driver constant of unknown meaning"),
    ],
)
def test_words_that_are_not_provided_are_named(architecture: str, offset: int, reason: str) -> None:
    error = lifted(architecture, f"MOV R4, c[0x0][{offset:#x}]").failures[KERNEL]
    assert reason in str(error)
    assert f"c[0x0][{offset:#x}]" in str(error)
