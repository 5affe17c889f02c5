"""A program that draws random numbers draws the same ones beside its port, or shows nothing."""

from __future__ import annotations

import pytest

from cass_ray.execute.rewards.verdicts import Outcome
from tests.security.forgeries.drawn import ADDRESS_SENT, BY_DEVICE_CLOCK, DRAWN, outcome


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("how", DRAWN)
def test_a_right_port_of_a_program_that_draws_is_right(how: str) -> None:
    assert outcome(DRAWN[how], wrong=False) is Outcome.RIGHT


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("wrong", [False, True])
def test_what_no_seed_decides_shows_nothing(wrong: bool) -> None:
    assert outcome(BY_DEVICE_CLOCK, wrong=wrong) is Outcome.UNDECIDED


@pytest.mark.nvidia
@pytest.mark.amd
def test_an_address_is_no_random_number() -> None:
    assert outcome(ADDRESS_SENT, wrong=False) is Outcome.RIGHT
