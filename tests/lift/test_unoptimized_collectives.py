"""One exchange of lanes that come to it by several instructions, in code that ptxas has not
optimized: functions keep convergence barriers for their callers, and lanes leave regions early."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import compile_unit
from benchmarks.lift.generated import MODES
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit
from tests.lift.lifted_programs import assert_prints

UNIT = Unit(Path(__file__).parent / "programs", PurePosixPath("unoptimized_exchanges.cu"))
THREADS = range(64)


@cache
def cubins() -> dict[str, bytes]:
    architectures = ["sm_80", "sm_90", "sm_120"]
    found, message = compile_unit(find_nvidia(), UNIT, architectures, MODES["G"])
    assert not message
    return found


def exchanged(given: list[int], distance: int) -> list[int]:
    """By thread, where all lanes take part that are at such a distance from one that does."""
    for _ in range(2):
        brought = [value * 3 if value & 1 else value * 5 for value in given]
        given = [brought[t ^ distance] + (0 if given[t] & 1 else 1) for t in THREADS]
    return given


def quotients() -> list[int]:
    found = []
    for t, given in zip(THREADS, exchanged(list(THREADS), 3), strict=True):
        rest = 0.0 if t % 4 < 2 else float(given)
        for _ in range(t % 32 % 5 + 1):
            rest = math.fmod(rest / 3, 64)
        found.append(int(rest * 16) + sum(lane % 5 == 3 for lane in range(32)))
    return found


def called() -> list[int]:
    sums = list(THREADS)
    for k in (1, 2, 3):
        of_odd = exchanged([sums[t] + t % 32 // 2 for t in THREADS], 2 * k)
        sums = [sums[t] + (of_odd[t] if t & 1 else 7 if k == t % 8 // 2 else 0) for t in THREADS]
        sums = [sums[t] + sums[t ^ 5] for t in THREADS]
    return [each & 0xFFFFFFFF for each in sums]


def cases() -> list[int]:
    sums = list(THREADS)
    for k in range(4):
        given = exchanged(sums, 8)
        for t in THREADS:
            case = (t + k) % 4
            if case == 0:
                sums[t] += 100
            elif case == 3:
                sums[t] += sums[t] % 16
            else:
                sums[t] = (sums[t] + (given[t] if case == 1 else 0)) * 3 + 1
        sums = [sums[t] + sums[t ^ 1] % 8 for t in THREADS]
    return [each & 0xFFFFFFFF for each in sums]


EXPECTED = [
    f"{each.__name__} 0: {' '.join(map(str, each()))}" for each in (quotients, called, cases)
]


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "processor", ["gfx1100", "gfx942", pytest.param("gfx1201", marks=pytest.mark.slow)]
)
def test_lanes_of_several_branches_exchange_as_one(processor: str, tmp_path: Path) -> None:
    assert_prints(UNIT, processor, tmp_path, cubins(), EXPECTED)
