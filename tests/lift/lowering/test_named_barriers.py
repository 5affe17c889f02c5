"""Barriers with numbers: which of them may be one, and what is refused.

PTX ISA, ``bar``: without a count all threads of the block take part; all who take part in one
completion have the same count.
"""

from __future__ import annotations

import pytest

from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import build

KERNEL = "_Z1kPf"
REASON = "an arrival at a barrier where others wait without a count"


def lifted(processor: str, *instructions: str) -> str:
    """LLVM IR of a kernel, or why there is none."""
    text = "\n".join([".target sm_80", "", f"Function : {KERNEL}", *instructions])
    made = build(cubin_of(text), text, target=lift_target(processor))
    return str(made.failures[KERNEL]) if made.failures else made.text


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
@pytest.mark.parametrize(
    "instructions",
    [
        ("BAR.ARV 0x1, 0x40", "BAR.SYNC.DEFER_BLOCKING 0x1"),
        ("BAR.ARV 0x2, 0x40", "BAR.RED.POPC.DEFER_BLOCKING 0x2, P0"),
        ("BAR.ARV 0x1, 0x40", "BAR.SYNC.DEFER_BLOCKING R4"),
        ("BAR.ARV R2, 0x40", "BAR.SYNC.DEFER_BLOCKING R4"),
    ],
)
def test_arrivals_are_refused_where_all_threads_wait(
    processor: str, instructions: tuple[str, ...]
) -> None:
    said = lifted(processor, *instructions, "EXIT")
    assert REASON in said
    assert instructions[0] in said


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
@pytest.mark.parametrize(
    ("instructions", "forbidden"),
    [
        (("BAR.ARV 0x1, 0x40", "BAR.SYNC.DEFER_BLOCKING 0x0"), 0),
        (("BAR.ARV 0x1, 0x40", "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40"), 0),
        (("BAR.ARV R2, 0x40", "BAR.SYNC.DEFER_BLOCKING R2, 0x40"), 0),
        (("BAR.ARV R2, 0x40", "BAR.SYNC.DEFER_BLOCKING 0x0"), 1 << 0),
        (
            (
                "BAR.ARV R2, 0x40",
                "BAR.SYNC.DEFER_BLOCKING 0x3",
                "BAR.RED.OR.DEFER_BLOCKING 0x5, P0",
            ),
            1 << 3 | 1 << 5,
        ),
    ],
)
def test_other_arrivals_know_what_number_is_an_error(
    processor: str, instructions: tuple[str, ...], forbidden: int
) -> None:
    calls = [
        line
        for line in lifted(processor, *instructions, "EXIT").splitlines()
        if "call" in line and ("@__cass_barrier(" in line or "@__cass_barrier_arrive(" in line)
    ]
    given = [int(line.rstrip(")").rsplit(" ", 1)[1]) for line in calls]
    assert sum(given) == forbidden
