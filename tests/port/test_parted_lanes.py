"""Barriers to which lanes of a warp come by several ways, and those of all threads to which some
come with a count of them.

PTX ISA, "barrier": without ``.aligned`` lanes of a warp need not come by the same instruction.
A wave comes to AMD's barrier once, when all of its lanes wait for it; at a barrier of some warps a
warp counts once, and where its lanes come by several ways the program ends with an error.
"""

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

PROGRAM = r"""
#include <cstdio>
#include <cstdlib>

#define MEET(what) asm volatile("barrier.sync " what ";" ::: "memory")

// Each number is behind the barrier of the other branch.
__global__ void of_all(unsigned *out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  if (t % 2) { s[t] = t + 1; MEET("0"); out[t] = 2 * s[63 - t]; }
  else { s[t] = t + 1 + out[t]; MEET("0"); out[t] = 3 * s[63 - t]; }
}
__global__ void of_some(unsigned *out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  if (t % 2) { s[t] = t + 1; MEET("1, 64"); out[t] = 2 * s[63 - t]; }
  else { s[t] = t + 1 + out[t]; MEET("1, 64"); out[t] = 3 * s[63 - t]; }
}
// Whole warps by several ways.
__global__ void of_warps(unsigned *out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  if (t / 32) { s[t] = t + 1; MEET("1, 64"); out[t] = 2 * s[63 - t]; }
  else { s[t] = t + 1 + out[t]; MEET("1, 64"); out[t] = 3 * s[63 - t]; }
}
// Every third lane ends; the others meet again and again.
__global__ void ends(unsigned *out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  if (t % 3 == 0) return;
  for (unsigned k = 0; k < 3; ++k) {
    s[t] = 100 * k + t;
    MEET("0");
    out[t] += s[63 - t];
    MEET("0");
  }
}
// All threads meet at barrier 1, half of them without waiting there.
__global__ void arrives(unsigned *out, int number) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  s[t] = t;
  if (t < 32) asm volatile("bar.arrive %0, 64;" ::"r"(number) : "memory");
  else asm volatile("bar.sync 1;" ::: "memory");
  out[t] = s[63 - t];
}
// All threads meet at one barrier, some with a count of them and some without: warps, lanes of a
// warp, and warps of which the last is not whole.
__global__ void counted_by_warps(unsigned *out, int number) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  for (unsigned k = 0; k < 3; ++k) {
    s[t] = t + 1;
    if (t / 32) asm volatile("bar.sync %0, 64;" ::"r"(number) : "memory");
    else asm volatile("bar.sync 2;" ::: "memory");
    out[t] += s[blockDim.x - 1 - t];
    __syncthreads();
  }
}
__global__ void counted_by_lanes(unsigned *out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  if (t % 2) { s[t] = t + 1; MEET("3"); out[t] = 2 * s[63 - t]; }
  else { s[t] = t + 1 + out[t]; MEET("3, 64"); out[t] = 3 * s[63 - t]; }
}
__global__ void counted_and_reduced(unsigned *out) {
  const unsigned t = threadIdx.x;
  unsigned found;
  if (t / 32) {
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 40; bar.red.popc.u32 %0, 4, 64, p; }"
                 : "=r"(found) : "r"(t) : "memory");
    found += 100;
  } else {
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 30; bar.red.popc.u32 %0, 4, p; }"
                 : "=r"(found) : "r"(t) : "memory");
  }
  out[t] = found;
}
// Some threads, with the same number: after that all meet.
__global__ void counted_alone(unsigned *out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  s[t] = t;
  if (t < 32) {
    asm volatile("bar.sync 5, 32;" ::: "memory");
    out[t] = s[31 - t];
  }
  asm volatile("bar.sync 5;" ::: "memory");
  out[t] += s[63 - t];
}

int main(int, char **argv) {
  unsigned found[64], *out;
  cudaMalloc(&out, sizeof found);
  cudaMemset(out, 0, sizeof found);
  switch (std::atoi(argv[1])) {
    case 0: of_all<<<1, 64>>>(out); break;
    case 1: of_some<<<1, 64>>>(out); break;
    case 2: of_warps<<<1, 64>>>(out); break;
    case 3: ends<<<1, 64>>>(out); break;
    case 4: arrives<<<1, 64>>>(out, 1); break;
    case 5: counted_by_warps<<<1, 64>>>(out, 2); break;
    case 6: counted_by_warps<<<1, 50>>>(out, 2); break;
    case 7: counted_by_lanes<<<1, 64>>>(out); break;
    case 8: counted_and_reduced<<<1, 64>>>(out); break;
    case 9: counted_alone<<<1, 64>>>(out); break;
  }
  if (cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (unsigned n : found) std::printf("%u ", n);
}
"""

ERROR = None
TWICE_OR_THRICE = [(2 if t % 2 else 3) * (64 - t) for t in range(64)]
BY_WARPS = [(2 if t >= 32 else 3) * (64 - t) for t in range(64)]
THRICE = [3 * (64 - t) for t in range(64)]
THRICE_OF_50 = [3 * (50 - t) if t < 50 else 0 for t in range(64)]
COUNTED = [30 + 8 + (100 if t >= 32 else 0) for t in range(64)]
ALONE = [63 - t + (31 - t if t < 32 else 0) for t in range(64)]
ENDED = [0 if t % 3 == 0 else 300 + 3 * (63 - t) for t in range(64)]
RESULTS = (
    *(TWICE_OR_THRICE, ERROR, BY_WARPS, ENDED, ERROR),
    *(THRICE, THRICE_OF_50, TWICE_OR_THRICE, COUNTED, ALONE),
)


@pytest.mark.parametrize(
    ("architecture", "processor"), [*NEWER_TO_BOTH_WAVES, ("sm_80", "gfx1100")]
)
def test_lanes_meet_or_the_program_ends(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    executable = build("parted_lanes.cu", PROGRAM, architecture)
    ported = port(
        read_executable(executable), ContainerLifter(lifter.nvidia, lifter.amd, processor)
    )
    assert not ported.failures
    for number, expected in enumerate(RESULTS):
        options = RunOptions(seconds=20, devices=(processor,))
        done = execute(ported, [str(number)], runtime_library(), options)
        if expected is ERROR:
            assert "trap" in done.stderr_text
            assert not done.stdout_text
        else:
            assert list(map(int, done.stdout_text.split())) == expected
