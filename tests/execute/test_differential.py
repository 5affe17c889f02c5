"""How long a port may take follows from its original: the machine's load decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.execute.backends.base import Backend, BuiltProgram, Execution, Inputs, RunMode
from cass_ray.execute.differential import Agreement, PerturbedRun, agreement
from cass_ray.execute.grades import Grade
from cass_ray.execute.limits import UNKNOWN, Needed
from cass_ray.execute.references import ReferenceRun, ReferenceRuns, measure
from cass_ray.execute.verification import PortVerification
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxRun, SandboxVerdict

ENDED = SandboxRun(SandboxVerdict.OK, 0, b"3 right\n", b"", 20.0, 11.0, 0)
RUN = RunMode()
PORT = BuiltProgram(Path("/bin/true"), "clock", "")


@dataclass
class Clock:
    """A backend on which each program takes ``seconds`` of both kinds, more under a change."""

    seconds: float
    changed: float = 0.0
    bounds: list[Bounds] = field(default_factory=list)

    name, perturbs, real_gpu, evidence, reference_kind = "clock", False, False, "", "emulator"

    def identity(self) -> str:
        return "clock"

    def run(
        self, program: BuiltProgram, inputs: Inputs | None = None, mode: RunMode = RUN
    ) -> Execution:
        del program, inputs
        self.bounds.append(mode.bounds)
        needs = self.changed if mode.perturb else self.seconds
        most = min(mode.bounds.wall_seconds, mode.bounds.cpu_seconds)
        took = replace(ENDED, wall_seconds=min(needs, most), cpu_seconds=min(needs, most))
        if needs > most:
            took = replace(took, verdict=SandboxVerdict.TIME_LIMIT, status=137, stdout=b"")
        return Execution(took)


def judged(original: float, port: float, most: float) -> PortVerification:
    """The verdict on a port that takes ``port`` seconds, where a run has ``most``."""
    bounds = Bounds(wall_seconds=most, cpu_seconds=most)
    reference = measure(cast(Backend, Clock(original)), PORT, [Inputs()], RunMode(bounds))
    return verify(reference, PORT, cast(Backend, Clock(port)), Policy(bounds=bounds))


@pytest.mark.parametrize(
    ("original", "port", "ran"),
    [
        (29.0, 31.0, True),  # 30 s were enough for the one, by chance
        (29.0, 110.0, True),
        (29.0, 200.0, False),
        (0.1, 29.0, True),
        (0.1, 31.0, False),
    ],
)
def test_a_port_has_several_times_what_its_original_needed(
    original: float, port: float, ran: bool
) -> None:
    result = judged(original, port, most=30.0)
    assert result.ran is ran
    assert result.grade is (Grade.CANNOT_TELL if ran else Grade.DIFFERS)
    assert ran or "does not end within" in result.reason


def test_an_original_that_is_too_slow_tells_nothing_of_its_port() -> None:
    result = judged(31.0, 1.0, most=30.0)
    assert result.grade is Grade.CANNOT_TELL
    assert "too slow here" in result.reason and "smaller size" in result.reason


def test_what_a_gpu_needed_bounds_no_run_elsewhere() -> None:
    run = ReferenceRun(Inputs(), (b"3 right\n",), 0, None, seconds=0.001)
    reference = ReferenceRuns("nvidia", "", (run,))
    clock = Clock(20.0)
    assert verify(reference, PORT, cast(Backend, clock), Policy(bounds=Bounds(30.0))).ran
    assert clock.bounds[0].wall_seconds == 30.0


@pytest.mark.parametrize(
    ("usual", "original", "changed", "stands"),
    [
        (20.0, UNKNOWN, 60.0, Agreement.AGREES),
        (0.1, UNKNOWN, 60.0, Agreement.DIFFERS),
        (0.1, Needed(20.0, 20.0), 60.0, Agreement.AGREES),  # so it was for the original
        (0.1, Needed(20.0, 0.1), 60.0, Agreement.DIFFERS),
    ],
)
def test_a_limit_of_time_tells_where_there_was_time(
    usual: float, original: Needed, changed: float, stands: Agreement
) -> None:
    run = PerturbedRun(Perturbation(Where.IN, 1), (b"3 right\n",) * 2, 0, True, original)
    normal = replace(ENDED, wall_seconds=usual, cpu_seconds=usual)
    backend = cast(Backend, Clock(usual, changed))
    mode = RunMode(Bounds(wall_seconds=1.0))
    assert agreement(run, backend, PORT, Inputs(), mode, normal, UNKNOWN, {})[0] is stands


@pytest.mark.parametrize(("moved", "stands"), [(False, "agrees"), (True, "unmoved")])
def test_a_port_that_stays_as_it_was_agrees_where_the_original_stays(
    moved: bool, stands: str
) -> None:
    """What it prints was compared without the change, where errors may differ by their rounding."""
    run = PerturbedRun(Perturbation(Where.OUT, 1), (b"4 right\n",) * 2, 0, moved, UNKNOWN)
    backend = cast(Backend, Clock(1.0))
    made = agreement(run, backend, PORT, Inputs(), RUN, ENDED, UNKNOWN, {})
    assert made[0] is Agreement(stands)
