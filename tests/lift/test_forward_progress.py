"""Lanes of a warp that wait for other lanes of it: each goes on in the end, as since Volta."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.lift import LiftedModule, lift_cubin
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit
from tests.lift.lifted_programs import assert_prints, kernels_with_lane_scheduler
from tests.port.run_on_gpu import recorded

UNIT = Unit(Path(__file__).parent / "programs", PurePosixPath("own_pace.cu"))
THREADS, ROUNDS, WORDS = range(64), range(3), 16
SUM = sum(THREADS)


@cache
def cubins() -> dict[str, bytes]:
    return find_nvidia().compile(UNIT, ("sm_80", "sm_90", "sm_120")).cubins


def ladder() -> list[int]:
    found = [7] * len(THREADS)
    words = [7 + t for t in THREADS]
    for t in reversed(THREADS):
        if t % 32 != 31:
            found[t] = words[t + 1]
            words[t] = found[t] + t
    return found


def nested_locks() -> list[int]:
    """A pair of locks, and the sum of the threads that had both, four times."""
    state = [0] * WORDS
    for t in THREADS:
        for k in ROUNDS:
            state[4 * ((t + k) % 4) + 2] += t
    return state


def votes() -> list[int]:
    """How many lanes of the own number are left after each vote, as long as one takes part."""
    found = []
    for t in THREADS:
        group = [n for n in THREADS if n // 32 == t // 32 and n % 32 // 4 % 3 == t % 32 // 4 % 3]
        total = 0
        for k in range(4):
            group = [n for n in group if n % 4 != k % 2]
            total += len(group)
            if t not in group:
                break
        found.append(total)
    return found


def called() -> list[int]:
    """Three locks, each with a sum behind it."""
    sums = [0, 0, 0]
    for t in THREADS:
        for k in ROUNDS:
            number = t if (t + k) % 3 == 0 else t + 1
            sums[(t + k) % 3 != 0] += number if number % 2 == 0 else number % 8
            sums[2] += 2
    return [word for each in sums for word in (0, each)]


def flags(maker: int) -> list[int]:
    return [7 if t % 32 == maker else 1000 * (t // 32 + 1) + t for t in THREADS]


NAMES = {
    "lower_waits": [(t ^ 16) * 3 + 1 if t % 32 < 16 else t for t in THREADS],
    "upper_waits": [t if t % 32 < 16 else (t ^ 16) * 3 + 1 for t in THREADS],
    "ladder": ladder(),
    "latches": [t - 1 + 100 if t & 1 else 1 for t in THREADS],
    "semaphores": list(THREADS),
    "unlock_behind": [
        (t ^ 3) * 5 + sum(n % 3 == 0 for n in THREADS if n // 32 == t // 32) for t in THREADS
    ],
    "unlock_inside": [t if t % 32 == 31 else t + 1 for t in THREADS],
    "unlock_and_break": [t if t % 32 == 0 else t - 1 for t in THREADS],
    "nested_locks": [sum((t ^ 1) + k for k in ROUNDS) for t in THREADS],
    "first_makes": flags(0),
    "last_makes": flags(31),
    "counted": [t // 32 * 32 + 9 for t in THREADS],
    "queue": [sum(64 * k + 63 - t for k in ROUNDS) for t in THREADS],
    "votes": votes(),
    "called": [
        sum(((t + k) % 3 != 0) + (t ^ 1) * k for k in ROUNDS)
        + sum(n % 5 == 0 for n in THREADS if n // 32 == t // 32)
        for t in THREADS
    ],
    "leaves": [t + 2 if t % 32 < 30 else t for t in THREADS],
    "ring": [123] * len(THREADS),
    "branches": [
        sum((t ^ 33) * 5 + k if t & 1 else (t ^ 35) * 5 + k + 1 for k in ROUNDS) for t in THREADS
    ],
    "first_warp_waits": [90 + t if t < 32 else 2 for t in THREADS],
    "second_warp_waits": [90 + t if t >= 32 else 2 for t in THREADS],
}
"""What each kernel gives, by thread: worked out here."""
STATES = {
    "semaphores": [0, SUM],
    "unlock_behind": [0, SUM],
    "unlock_inside": [0, SUM + 64],
    "unlock_and_break": [0, SUM + 2 * 64],
    "nested_locks": nested_locks(),
    "counted": [9, 32 + 9],
    "queue": [3 * 64],
    "votes": [4] * 3,
    "called": called(),
    "leaves": [32, 32],
}
"""What it leaves in global memory; nothing where it is not named."""


def line(name: str) -> str:
    state = STATES.get(name, [])
    words = [*NAMES[name], "/", *state, *[0] * (WORDS - len(state))]
    return f"{name} 0: {' '.join(map(str, words))}"


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "processor", ["gfx1100", "gfx942", pytest.param("gfx1201", marks=pytest.mark.slow)]
)
def test_each_lane_goes_on_in_the_end(processor: str, tmp_path: Path) -> None:
    assert_prints(UNIT, processor, tmp_path, cubins(), [line(name) for name in NAMES])


def test_what_was_worked_out_here_is_what_a_gpu_said() -> None:
    said = recorded()["own_pace"]["output"].splitlines()
    assert said == [line(name) for name in NAMES]


def with_lane_scheduler(lifted: LiftedModule) -> set[str]:
    """Names of the kernels whose lanes are."""
    mangled = kernels_with_lane_scheduler(lifted)
    return {re.sub(r"^_Z\d+([a-z_]+).*", r"\1", name) for name in mangled}


OTHERS = """
#include <cooperative_groups.h>
using word = unsigned;

__global__ void retries(float *most, const float *in) {
  int *const place = reinterpret_cast<int *>(most), before = *place;
  for (int assumed = before + 1; assumed != before;) {
    assumed = before;
    before = atomicCAS(place, assumed, __float_as_int(__int_as_float(assumed) * in[threadIdx.x]));
  }
  most[1 + threadIdx.x] = 1;
}
__global__ void inserts(word *table, word *count, const word *in) {
  const word key = in[threadIdx.x];
  for (word slot = key * 7 % 64;; slot = (slot + 1) % 64) {
    const word before = atomicCAS(&table[slot], 0u, key);
    if (before == 0 || before == key) break;
  }
  atomicAdd(count, 1u);
}
__global__ void takes(word *next, word *out, word end) {
  for (word k; (k = atomicAdd(next, 1u)) < end;) out[k] = threadIdx.x;
  out[end + threadIdx.x] = 1;
}
__global__ void counts(volatile word *in, word *out) {
  word sum = 0;
  for (word k = 0; k < in[threadIdx.x]; ++k) sum += out[k];
  out[threadIdx.x] = sum;
}
__global__ void alone(word *lock, volatile word *count) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0u, 1u) != 0u) {
    }
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0u);
  }
}
__global__ void looks_back(volatile word *state, word *out) {
  if (threadIdx.x == 0) {
    word sum = 1;
    for (int block = blockIdx.x - 1; block >= 0;) {
      const word found = state[block];
      if (found == 0) continue;
      sum += found;
      if (found & 1) break;
      --block;
    }
    state[blockIdx.x] = sum;
    out[blockIdx.x] = sum;
  }
}
__global__ void grid(word *out) {
  out[threadIdx.x] = 3;
  cooperative_groups::this_grid().sync();
  out[threadIdx.x] += 4;
}
__global__ void inside(word *lock, volatile word *count) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0u, 1u) == 0u) {
      *count = *count + 1;
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  }
}
__global__ void waits(word *lock, volatile word *count) {
  while (atomicCAS(lock, 0u, 1u) != 0u) {
  }
  *count = *count + 1;
  __threadfence();
  atomicExch(lock, 0u);
}
"""
"""All but the last end on AMD as they stand."""


@pytest.mark.nvidia
@pytest.mark.amd
def test_kernels_that_wait_for_nobody_in_their_warp_pay_nothing(tmp_path: Path) -> None:
    (tmp_path / "others.cu").write_text(OTHERS)
    unit = Unit(tmp_path, PurePosixPath("others.cu"))
    for architecture, cubin in find_nvidia().compile(unit, ("sm_80", "sm_90")).cubins.items():
        assert with_lane_scheduler(lift_cubin(cubin)) == {"waits"}, architecture
