"""Votes, reductions and matches of lanes that are together, each for the lanes of its own mask."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.port.lifting import ContainerLifter
from tests.port.test_barriers import run

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]


@pytest.mark.parametrize(
    ("architecture", "processor"),
    [
        ("sm_80", "gfx1100"),
        ("sm_90", "gfx942"),
        *(
            pytest.param(*others, marks=pytest.mark.slow)
            for others in [
                ("sm_75", "gfx1100"),
                ("sm_80", "gfx942"),
                ("sm_90", "gfx1100"),
                ("sm_120", "gfx1100"),
                ("sm_120", "gfx942"),
            ]
        ),
    ],
)
def test_lanes_exchange_with_those_of_their_mask(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    """The program knows what each lane gets."""
    done = run(lifter, build("mask_groups.cu", architecture=architecture), processor)
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)
