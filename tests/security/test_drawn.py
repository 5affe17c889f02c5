"""Of a program that draws random numbers a wrong port is not right, whatever it says of itself."""

from __future__ import annotations

import pytest

from cass_ray.execute.rewards.verdicts import Outcome
from tests.security.forgeries.drawn import DRAWN, TELLS, judged, outcome, who_tells


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("how", DRAWN)
def test_a_wrong_port_of_a_program_that_draws_is_not(how: str) -> None:
    assert outcome(DRAWN[how], wrong=True) in (Outcome.WRONG, Outcome.FORGED)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("tell", TELLS)
def test_who_looks_for_a_fixed_seed_does_not_find_it(tell: str) -> None:
    """Wrong, but right where it knows the judge."""
    assert judged(*who_tells(TELLS[tell])) in (Outcome.WRONG, Outcome.FORGED)
