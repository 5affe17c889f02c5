"""Times that the host prints vary and are no kernel's; what a kernel draws and prints is."""

from __future__ import annotations

import pytest

from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.emulator.transcript import Transcript
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.chance import drawn_again, varies
from cass_ray.execute.comparison.compare import F32
from cass_ray.execute.differential import PerturbedRun
from cass_ray.execute.references import ReferenceRun

# The device process flips the last bit of each letter and digit that a kernel prints.
OUTPUTS = [
    # two runs, the first one with changed results; whether numbers vary, and are a kernel's
    (b"x = 0.25\n", b"x = 0.75\n", b"y = 1.34\n", True, True),
    (b"took 0.25 ms\n", b"took 0.75 ms\n", b"took 0.31 ms\nError: 3\n", True, False),
    (b"took 5 ms\nx = 0.5\n", b"took 7 ms\nx = 0.5\n", b"took 6 ms\ny = 1.4\n", True, False),
    (b"took 5 ms\nx = 0.5\n", b"took 7 ms\nx = 0.6\n", b"took 6 ms\ny = 1.4\n", True, True),
    # of another machine's card the name differs, and no line of a kernel
    (b"card A 1\nx = 0.5\n", b"card B 1\nx = 0.5\n", b"card A 1\ny = 1.4\n", True, False),
    (b"A\nx = 0.5\n", b"no such card\nB\nx = 0.5\n", b"A\ny = 1.4\n", True, False),
    (b"x = 0.25\n", b"x = 0.25\n", b"y = 1.34\n", False, False),
    (b"0.25\n", b"0.75\n", b"1.34\n", True, False),  # no letter tells; nothing moves
]


@pytest.mark.parametrize(("one", "other", "changed", "vary", "chance"), OUTPUTS)
def test_whose_numbers_vary(
    one: bytes, other: bytes, changed: bytes, vary: bool, chance: bool
) -> None:
    change = PerturbedRun(Perturbation(Where.OUT, 1), (changed, changed), 0, True)
    run = ReferenceRun(
        Inputs(),
        (one, other),
        0,
        None,
        perturbed=(change,),
        transcripts=(Transcript((), ("kernel",)),) * 2,
        same_draws=53,
    )
    assert varies(run, F32) is vary
    assert bool(drawn_again(run, F32)) is chance
