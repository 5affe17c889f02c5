"""A program prints results, or no more than what its own check says."""

from __future__ import annotations

import pytest

from cass_ray.emulator.launches import Launch
from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.differential import PerturbedRun
from cass_ray.execute.references import ReferenceRun

_LAUNCHES = (Launch("check", (4, 1, 1), (128, 1, 1), 0, 1),)


@pytest.mark.parametrize(
    ("normal", "other_machine", "changed", "results"),
    [
        ("0 wrong", "0 wrong", "317 wrong", False),
        ("500 of 512 right", "500 of 512 right", "11 of 512 right", False),
        ("largest error 1.2e-07", "largest error 1.2e-07", "largest error 3e+18", False),
        ("PASSED", "PASSED", "FAILED", False),
        ("sum 131328", "sum 131328", "sum 9", True),
        ("pi = 3.1425", "pi = 3.1425", "pi = 2.5", True),
        ("1 4 9", "1 4 9", "2 5 7", True),
        ("took 731.25 ms, 0 wrong", "took 912.5 ms, 0 wrong", "took 640.5 ms, 3 wrong", False),
        ("5000 numbers: 3 large", "5000 numbers: 3 large", "5000 numbers: 1 large", False),
        ("sum 131328", "sum 131328", "sum 131328 at 0", False),
    ],
)
def test_results(normal: str, other_machine: str, changed: str, results: bool) -> None:
    seen = normal.encode(), other_machine.encode()
    change = PerturbedRun(Perturbation(Where.IN, 1), (changed.encode(),), 0, True)
    run = ReferenceRun(Inputs(), seen, 0, _LAUNCHES, perturbed=(change,))
    assert run.prints_results is results
    assert not ReferenceRun(Inputs(), seen, 0, _LAUNCHES).prints_results
