"""Two warps in one wave of 64 lanes: what each does is what it does alone."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.lift import LiftedModule, lift_cubin
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit
from tests.lift.lifted_programs import ProgramOnAmd, kernels_with

PROGRAMS = Path(__file__).parent / "programs"
THREADS = 96
MASK = 0xFFFFFFFF


@cache
def cubins() -> dict[str, bytes]:
    unit = Unit(PROGRAMS, PurePosixPath("paired_warps.cu"))
    return find_nvidia().compile(unit, ("sm_80", "sm_90")).cubins


def ballot(warp: int, condition: list[bool]) -> int:
    return sum(1 << lane for lane in range(32) if condition[32 * warp + lane])


def votes() -> list[int]:
    found = []
    count = sum(t % 7 == 0 for t in range(THREADS))
    for t in range(THREADS):
        warp, lane = divmod(t, 32)
        value = ballot(warp, [n % 32 % (n // 32 + 2) == 0 for n in range(THREADS)])
        if lane < 8 * (warp + 1):
            value ^= ((1 << 8 * (warp + 1)) - 1) << 1 & MASK
        down = t + 3 if lane + 3 < 32 else t
        value += (32 * warp + (lane ^ 31)) + down + warp
        value ^= ballot(warp, [n // 5 == t // 5 for n in range(THREADS)]) * 3 & MASK
        value += sum(range(32 * warp, 32 * warp + 32)) + count
        found.append(value & MASK)
    return found


def loops() -> list[int]:
    sums = [0] * THREADS
    for warp in range(THREADS // 32):
        lanes = range(32 * warp, 32 * warp + 32)
        for turn in range(3 + 2 * warp):
            more = sum((t + turn) % 3 == 0 for t in lanes) << turn
            given = sums[32 * warp + turn] + more
            for t in lanes:
                sums[t] = given + (t & 1) & MASK
    return sums


def parted() -> list[int]:
    mine = list(range(THREADS))
    for _ in range(3):
        words = [m * 3 if t // 32 % 2 == 0 else m + 7 for t, m in enumerate(mine)]
        mine = [
            m + words[(t + 32) % THREADS] & MASK
            if t // 32 % 2 == 0
            else m ^ words[(t + 40) % THREADS] & MASK
            for t, m in enumerate(mine)
        ]
    return mine


def line(name: str, values: list[int]) -> str:
    total = 0
    for value in values:
        total = total * 1000003 + value & (1 << 64) - 1
    return f"{name}: {values[0]} {values[45]} {values[95]} {total}"


EXPECTED = [
    line("votes", votes()),
    line("loops", loops()),
    line("parted", parted()),
    "locked: 0 25",
]
"""Worked out here, lane by lane; 5 blocks of 5 warps took the lock."""


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "processor",
    [
        "gfx1100",
        "gfx942",
        pytest.param("gfx1201", marks=pytest.mark.slow),
        pytest.param("gfx90a", marks=pytest.mark.slow),
    ],
)
def test_warps_do_what_they_do_alone(processor: str, tmp_path: Path) -> None:
    unit = Unit(PROGRAMS, PurePosixPath("paired_warps.cu"))
    program = ProgramOnAmd(unit, processor, tmp_path)
    for architecture, cubin in cubins().items():
        assert program.printed(cubin).splitlines() == EXPECTED, architecture


def kernels_with_warp_scheduler(lifted: LiftedModule) -> set[str]:
    mangled = kernels_with(lifted, "\nturn:\n")
    return {re.sub(r"^_Z\d+([a-z]+)P.*", r"\1", name) for name in mangled}


@pytest.mark.nvidia
@pytest.mark.amd
def test_turns_are_taken_where_warps_may_part_or_wait() -> None:
    for cubin in cubins().values():
        assert kernels_with_warp_scheduler(lift_cubin(cubin, "gfx942")) == {"locked", "parted"}
        assert kernels_with_warp_scheduler(lift_cubin(cubin, "gfx1100")) == set()
