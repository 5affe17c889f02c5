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
    ("changed", "results"),
    [("sum 9\nwrong 3", True), ("sum 131328\nwrong 317", False), ("4 is not 5 at 6", False)],
)
def test_results_of_a_program_that_fails_by_its_own_check(changed: str, results: bool) -> None:
    change = PerturbedRun(Perturbation(Where.IN, 1), (changed.encode(),), 1, True)
    seen = (b"sum 131328\nwrong 0",) * 2
    assert ReferenceRun(Inputs(), seen, 0, _LAUNCHES, perturbed=(change,)).prints_results is results


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
        ("sum 131328\npath 3 1", "sum 131328\npath 3 1", "sum 9\npath 3 2 1", True),
        ("0 wrong", "0 wrong", "131328 is 9 at 300\n317 wrong", False),
    ],
)
def test_results(normal: str, other_machine: str, changed: str, results: bool) -> None:
    seen = normal.encode(), other_machine.encode()
    change = PerturbedRun(Perturbation(Where.IN, 1), (changed.encode(),), 0, True)
    run = ReferenceRun(Inputs(), seen, 0, _LAUNCHES, perturbed=(change,))
    assert run.prints_results is results
    assert not ReferenceRun(Inputs(), seen, 0, _LAUNCHES).prints_results
