"""What is kept of a command's output."""

from __future__ import annotations

from cass_ray.project.steps import shortened
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
    assert len(short) == len(ERROR) + 2500
    (error,) = diagnostics(short)
    assert (error.line, error.message) == (3, "no member named 'x'")


def test_short_output_stays_and_errors_leave_room() -> None:
    assert shortened(ERROR, 5000) == ERROR
    many = shortened(ERROR * 100 + WARNING * 1000, 5000)
    assert len(many) <= 5000
    assert many.count("error:") - 2500 // len(ERROR) in {0, 1}  # the last one in part
