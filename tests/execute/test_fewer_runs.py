"""Runs that would tell nothing are left out, and no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.execute.backends.base import Backend, BuiltProgram, Execution, Inputs, RunMode
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.differential import PerturbedRun, perturbed_runs
from cass_ray.execute.limits import UNKNOWN
from cass_ray.execute.references import ReferenceRun, measure
from cass_ray.toolchain.sandbox.executable import SandboxRun, SandboxVerdict

PROGRAM = BuiltProgram(Path("/bin/true"), "printer", "")


def ended(stdout: str) -> Execution:
    return Execution(SandboxRun(SandboxVerdict.OK, 0, stdout.encode(), b"", 0.1, 0.1, 0))


@dataclass
class Printer:
    """A backend on which each program prints what ``text`` makes of the mode."""

    text: Callable[[RunMode], str]
    modes: list[RunMode] = field(default_factory=list)

    name, perturbs, real_gpu, reference_kind = "printer", True, False, "emulator"

    def identity(self) -> str:
        return "printer"

    def run(self, program: BuiltProgram, inputs: Inputs, mode: RunMode) -> Execution:
        del program, inputs
        self.modes.append(mode)
        return ended(self.text(mode))


def under_a_change(
    text: Callable[[RunMode], str], normal: tuple[bytes, ...], elsewhere: bool
) -> tuple[PerturbedRun, list[bool]]:
    """The run under a change, and of each run that was made whether it was on another machine."""
    printer = Printer(text)
    changes = [Perturbation(Where.OUT, 1)]
    where = cast(Backend, printer), PROGRAM, Inputs(), RunMode(), normal
    [made] = perturbed_runs(*where, changes, UNKNOWN, elsewhere)
    return made, [each.varied for each in printer.modes]


@pytest.mark.parametrize(
    ("changed", "normal", "elsewhere", "runs"),
    [
        ("sum 7", (b"sum 3", b"sum 3"), True, [False]),
        ("sum 7", (b"sum 3", b"sum 3"), False, [False, True]),
        ("sum 7", (b"sum 3", b"sum 4"), True, [False, True]),  # what varies by itself
        (
            "wrong after 7 ms",
            (b"sum 3", b"sum 3"),
            True,
            [False, True],
        ),  # words of the change alone
        ("sum nan", (b"sum 3", b"sum 3"), True, [False, True]),
    ],
)
def test_another_machine_is_asked_where_it_may_say_something_else(
    changed: str, normal: tuple[bytes, ...], elsewhere: bool, runs: list[bool]
) -> None:
    made, machines = under_a_change(lambda mode: changed, normal, elsewhere)
    assert machines == runs
    assert made.outputs[:2] == (changed.encode(),) * 2


@pytest.mark.parametrize(("ending", "changed_ending"), [("", ""), (" [OK]", " [FAIL]")])
def test_what_varies_without_a_change_is_free_under_one_too(
    ending: str, changed_ending: str
) -> None:
    """A time that by chance was the same in both runs under the change."""
    normal = f"sum 3 in 0.1 ms{ending}".encode(), f"sum 3 in 5.6 ms{ending}".encode()
    changed = f"sum 7 in 0.1 ms{changed_ending}"
    made, _ = under_a_change(lambda _: changed, normal, elsewhere=True)
    for numbers, agrees in (("sum 7 in 0.3", True), ("sum 3 in 0.1", False)):
        port = f"{numbers} ms{changed_ending}".encode()
        assert compare(made.outputs, port, varied=True).numeric == agrees


def test_what_varies_under_a_change_alone_is_measured() -> None:
    made, _ = under_a_change(
        lambda mode: f"wrong after {9 if mode.varied else 7} ms", (b"right",) * 2, True
    )
    assert made.outputs == (b"wrong after 7 ms", b"wrong after 9 ms")


def measured(text: Callable[[RunMode], str], checked: str) -> tuple[ReferenceRun, int]:
    """The runs of a program that prints ``checked`` in checking mode, and how many more there
    were."""
    printer = Printer(text)
    clean = {Inputs(): ended(checked)}
    runs = measure(cast(Backend, printer), PROGRAM, [Inputs()], differential=False, clean=clean)
    return runs.runs[0], len(printer.modes)


def test_a_clean_run_in_checking_mode_is_one_of_the_runs_where_they_say_the_same() -> None:
    run, more = measured(lambda mode: "3", "3")
    assert (run.outputs, run.varied, more) == ((b"3", b"3"), True, 1)


def test_it_is_none_where_checking_mode_prints_something_else() -> None:
    run, _ = measured(lambda mode: "3", "0")
    assert run.outputs == (b"3", b"3")
    run, _ = measured(lambda mode: "4" if mode.varied else "3", "3")
    assert run.outputs == (b"3", b"4")
