"""Reductions over some of the warps of a block: what each thread gets is worked out here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from tests.port.pairs import NEWER_TO_BOTH_WAVES

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

THREADS, ROUNDS, MASK = 192, 5, 0xFFFFFFFF


def groups() -> list[int]:
    mine = list(range(THREADS))
    for group in range(2):
        members = [t for t in range(THREADS) if t // 32 % 2 == group]
        for number in range(ROUNDS + group):
            count = sum((mine[t] + number) % 3 == 0 for t in members)
            for t in members:
                mine[t] = mine[t] * 5 + count & MASK
            every = all(mine[t] % 97 != 4 * group for t in members)
            for t in members:
                mine[t] = mine[t] * 2 + every & MASK
            some = any(mine[t] % 101 == 7 for t in members)
            for t in members:
                mine[t] = mine[t] * 2 + some & MASK
    return mine


def repeated() -> list[int]:
    mine = [0] * THREADS
    for number in range(20):
        for first in range(0, THREADS, 64):
            count = sum(t % (number + 1) == 0 for t in range(first, first + 64))
            for t in range(first, first + 64):
                mine[t] = mine[t] * 3 + count & MASK
    return mine


def nested() -> list[int]:
    count = sum(t % 5 == 0 for t in range(THREADS))
    part = sum(t % count == 1 for t in range(96))
    mine = [count * 3 + part if t < 96 else count for t in range(THREADS)]
    even = sum(m % 2 == 0 for m in mine)
    mine = [m + 1000 * even + 7 * all(n > 3 for n in mine) for m in mine]
    return [m + 11 * (mine[100] % 2 == 1) for m in mine]


def ended(first: int) -> list[int]:
    """Threads that have ended are waited for by no barrier, and count as nothing."""
    there = range(first, THREADS)
    thirds, odd = sum(t % 3 == 0 for t in there), sum(t % 2 == 1 for t in there)
    part = sum(t % 5 == 0 for t in range(96, THREADS))
    mine = [((thirds + (7 * part if t >= 96 else 0)) * 1000 + odd) * 4 + 2 for t in there]
    return [0] * first + mine


def line(name: str, values: list[int]) -> str:
    total = 0
    for value in values:
        total = total * 1000003 + value & (1 << 64) - 1
    return f"{name}: {values[0]} {values[45]} {values[95]} {values[191]} {total}"


EXPECTED = [
    line("groups", groups()),
    line("repeated", repeated()),
    line("nested", nested()),
    *(line("ended", ended(first)) for first in (1, 40, 70)),
]


@pytest.mark.parametrize(
    ("architecture", "processor"),
    [
        *NEWER_TO_BOTH_WAVES,
        ("sm_80", "gfx1100"),
        pytest.param("sm_80", "gfx942", marks=pytest.mark.slow),
    ],
)
def test_each_group_counts_its_own(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    executable = read_executable(build("block_reductions.cu", architecture=architecture))
    ported = port(executable, ContainerLifter(lifter.nvidia, lifter.amd, processor))
    assert not ported.failures
    options = RunOptions(seconds=60, devices=(processor,))
    done = execute(ported, [], runtime_library(), options)
    assert done.ok, done.stderr_text
    assert done.stdout_text.splitlines() == EXPECTED
