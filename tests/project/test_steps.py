"""What is kept of a command's output."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.project.steps import Step, StepOutcome, first_error, limits_of, run_step, shortened
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.translate.repair.loop import diagnostics

ERROR = """a.cu:3:5: error: no member named 'x'
    3 | a.x;
      |   ^
a.cu:1:8: note: declared here
    1 | struct a;
"""
WARNING = "a.cu:9:1: warning: unused\n    9 | int b;\n"


def test_errors_before_the_end_stay() -> None:
    text = WARNING * 10 + ERROR + WARNING * 1000 + "make: *** Error 1\n"
    short = shortened(text, 5000)
    assert short.startswith(ERROR)
    assert short.endswith("make: *** Error 1\n")
    assert len(ERROR) + 2500 - len(WARNING) < len(short) <= len(ERROR) + 2500
    assert short.removeprefix(ERROR).startswith(("a.cu", "    9"))  # whole lines
    (error,) = diagnostics(short)
    assert (error.line, error.message) == (3, "no member named 'x'")


def test_what_is_told_of_a_step_begins_with_its_errors() -> None:
    error = 'kernel.cu(7): error: identifier "x" is undefined\n    x = 1;\n    ^\n'
    warned = 'kernel.cu(9): warning #177-D: variable "b" was declared but never referenced\n'
    step = Step("make", StepOutcome.FAILED, log=warned * 9 + error + warned * 90 + "gave up\n")
    told = step.told(1000)
    assert told.startswith(error)
    assert told.endswith("gave up")
    assert len(told) <= len(error) + 500


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (f"-- Check errors: ON\n{WARNING}{ERROR}make: *** [all] Error 1\n", ERROR.split("\n")[0]),
        ("ld: cannot find -lx\ncollect2: error: ld returned 1\n", "ld: cannot find -lx"),
        ("working\nended by signal 9 (Killed)\n", "ended by signal 9 (Killed)"),
    ],
)  # fmt: skip
def test_the_first_error_of_a_log(log: str, line: str) -> None:
    assert first_error(log) == [line]


def test_short_output_stays_and_errors_leave_room() -> None:
    assert shortened(ERROR, 5000) == ERROR
    many = shortened(ERROR * 100 + WARNING * 1000, 5000)
    assert len(many) <= 5000
    assert many.count("error:") - 2500 // len(ERROR) in {0, 1}  # the last one in part


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exec sh -c 'kill -SEGV $$'", "ended by signal 11 (Segmentation fault)\n"),
        ("printf begun; kill -ABRT $$", "begun\nended by signal 6 (Aborted)\n"),
        ("yes | head -c 80000000", "ended: it printed more than 64 MiB\n"),
        ("echo no >&2; exit 3", "no\n"),
    ],
)
def test_how_a_command_ended_is_said(command: str, said: str, tmp_path: Path) -> None:
    step = run_step(command, tmp_path, limits_of(60, 1 << 30), View(writable=(tmp_path,)), {})
    assert step.outcome is StepOutcome.FAILED
    assert step.log.endswith(said)
