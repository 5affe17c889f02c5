"""Processors that runs side by side do not share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.folders import REPOSITORY

_CLAIM = """
import os, sys
from pathlib import Path
from benchmarks.project.processors import claim
claims = claim(int(sys.argv[1]), Path(sys.argv[2]))
print(*sorted(os.sched_getaffinity(0)), flush=True)
sys.stdin.read()
"""


def claimed(count: int, folder: Path) -> tuple[subprocess.Popen[str], set[int]]:
    """A process that holds its claim until its input ends, and its processors."""
    command = [sys.executable, "-c", _CLAIM, str(count), str(folder)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    )
    assert process.stdout is not None
    return process, set(map(int, process.stdout.readline().split()))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="wants two processors")
def test_two_runs_have_processors_of_their_own(tmp_path: Path) -> None:
    one, first = claimed(1, tmp_path)
    two, second = claimed(1, tmp_path)
    assert len(first) == len(second) == 1 and not first & second
    one.communicate()
    again, third = claimed(1, tmp_path)
    assert third == first
    for process in (two, again):
        process.communicate()


def test_where_too_few_are_free_the_rest_is_shared(tmp_path: Path) -> None:
    usable = os.sched_getaffinity(0)
    one, first = claimed(len(usable), tmp_path)
    two, second = claimed(1, tmp_path)
    assert first == usable and len(second) == 1
    for process in (one, two):
        process.communicate()
