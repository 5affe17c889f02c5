"""A port that the clock ends under a change, on a busy machine, is no port that differs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.execute.backends.base import Backend, BuiltProgram, Execution, Inputs, RunMode
from cass_ray.execute.differential import Agreement, PerturbedRun, agreement
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxRun, SandboxVerdict

ENDED = SandboxRun(SandboxVerdict.EXIT, 1, b"3 wrong\n", b"", 20.0, 11.0, 0)
PORT = BuiltProgram(Path("port"), "cut", "")


@dataclass
class Cut:
    """A backend on which a run under a change has no end."""

    verdict: SandboxVerdict

    def run(self, program: BuiltProgram, inputs: Inputs, mode: RunMode) -> Execution:
        del program, inputs
        seconds = mode.bounds.wall_seconds
        return Execution(replace(ENDED, verdict=self.verdict, status=137, wall_seconds=seconds))


@pytest.mark.parametrize(
    ("verdict", "usual", "most", "stands"),
    [
        (SandboxVerdict.TIME_LIMIT, 20.0, 30.0, Agreement.CUT),  # 30 s, where it usually needs 20
        (SandboxVerdict.TIME_LIMIT, 8.0, 30.0, Agreement.CUT),
        (SandboxVerdict.TIME_LIMIT, 7.0, 30.0, Agreement.DIFFERS),  # four times as long
        (SandboxVerdict.TIME_LIMIT, 0.1, 30.0, Agreement.DIFFERS),
        (SandboxVerdict.TIME_LIMIT, 20.0, 600.0, Agreement.DIFFERS),
        (SandboxVerdict.MEMORY_LIMIT, 20.0, 30.0, Agreement.DIFFERS),
        (SandboxVerdict.SIGNAL, 20.0, 30.0, Agreement.DIFFERS),
    ],
)
def test_a_limit_of_time_tells_where_there_was_time(
    verdict: SandboxVerdict, usual: float, most: float, stands: Agreement
) -> None:
    run = PerturbedRun(Perturbation(Where.IN, 1), (b"3 wrong\n", b"3 wrong\n"), 1, True)
    normal = replace(ENDED, verdict=SandboxVerdict.OK, status=0, wall_seconds=usual)
    mode = RunMode(Bounds(wall_seconds=most))
    backend = cast(Backend, Cut(verdict))
    assert agreement(run, backend, PORT, Inputs(), mode, normal, {})[0] is stands
