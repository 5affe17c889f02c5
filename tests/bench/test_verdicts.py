"""What passes the benchmark: right outputs that are shown to come from the device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.bench.judge import verdicts
from cass_ray.bench.results import BenchRun
from cass_ray.bench.task import load_task
from cass_ray.execute.verification import RunRecord
from cass_ray.toolchain.sandbox.executable import SandboxVerdict


def _run(exact: bool, numeric: bool, hidden: bool) -> BenchRun:
    record = RunRecord(
        arguments=[], verdict=SandboxVerdict.OK, status=0, exact=exact, numeric=numeric
    )
    return BenchRun(hidden=hidden, record=record)


@pytest.mark.parametrize(
    ("visible", "hidden", "clean", "shown", "passed"),
    [
        (True, True, True, True, True),
        (True, True, True, False, False),  # agrees, and nothing shows that kernels made it
        (True, True, False, False, False),  # a finding
        (True, False, True, True, False),  # right where it could have been looked up
        (False, True, True, True, False),
    ],
)
def test_what_passes(
    make_task: Callable[..., Path],
    visible: bool,
    hidden: bool,
    clean: bool,
    shown: bool,
    passed: bool,
) -> None:
    task = load_task(make_task())
    runs = [_run(visible, visible, False), _run(hidden, hidden, True)]
    made = verdicts(task, runs, clean=clean, shown=shown)
    assert made["passed"] is passed
    assert made["exact"] is (clean and visible)
    assert made["hidden_exact"] is (clean and hidden)
