"""Barriers of clusters and of their blocks, where some lanes of a warp have ended.

PTX ISA, "barrier.cluster": it waits for all threads of the cluster that have not exited. Which of a
warp's lanes LLVM runs first, those that end or those that wait, is not known.
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

__device__ unsigned rank() { unsigned v; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(v)); return v; }
__device__ void arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
__device__ void meet() { arrive(); asm volatile("barrier.cluster.wait;" ::: "memory"); }

// Threads from `first` on and before `last` end, in one block or in both; whole warps of them may arrive before.
__global__ void __cluster_dims__(2, 1, 1)
left(bool both, bool arrives, unsigned first, unsigned last, unsigned *out) {
  __shared__ unsigned sum;
  const unsigned t = threadIdx.x;
  if (t == 0) sum = 0;
  meet();
  if ((rank() == 0 || both) && t >= first && t < last) {
    const unsigned start = t / 32 * 32, end = min(start + 32, blockDim.x);
    if (arrives && start >= first && end <= last) arrive();
    return;
  }
  meet();
  atomicAdd(&sum, t);
  __syncthreads();
  const unsigned found = sum;
  meet();
  out[rank() * blockDim.x + t] = 1000 * found + __syncthreads_count(t % 2);
}
// Of each warp every third lane arrives; then all lanes end at once.
__global__ void __cluster_dims__(2, 1, 1) thirds(unsigned *out) {
  out[rank() * blockDim.x + threadIdx.x] = threadIdx.x + 1;
  if (threadIdx.x % 3 == 0) arrive();
}

int main() {
  unsigned found[192], *out;
  cudaMalloc(&out, sizeof found);
  const auto show = [&](unsigned size) {
    if (cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost) != cudaSuccess) return;
    for (unsigned n = 0; n < 2 * size; ++n) std::printf("%u%c", found[n], n + 1 < 2 * size ? ' ' : '\n');
  };
  const unsigned cases[][3] = {CASES};
  for (const auto &[size, first, last] : cases)
    for (int how = 0; how < 4; ++how) {
      cudaMemset(out, 0, sizeof found);
      left<<<2, size>>>(how % 2, how / 2, first, last, out);
      show(size);
    }
  thirds<<<2, 96>>>(out);
  show(96);
}
"""  # noqa: E501

CASES = [(64, 0, 63), (64, 1, 64), (64, 0, 40), (33, 0, 32), (33, 5, 33), (96, 7, 90), (96, 32, 64)]
"""Threads of a block, and which of them end."""


def left(size: int, first: int, last: int, *, both: bool) -> str:
    found = []
    for rank in range(2):
        ends = range(first, last) if rank == 0 or both else range(0)
        there = [t for t in range(size) if t not in ends]
        result = 1000 * sum(there) + sum(t % 2 for t in there)
        found += [result if t in there else 0 for t in range(size)]
    return " ".join(map(str, found))


EXPECTED = [
    *(left(*case, both=both) for case in CASES for _ in range(2) for both in (False, True)),
    " ".join(str(n % 96 + 1) for n in range(192)),
]


@pytest.mark.parametrize(("architecture", "processor"), [*NEWER_TO_BOTH_WAVES])
def test_lanes_that_end_before_others_meet(
    lifter: ContainerLifter, build: Callable[..., Path], architecture: str, processor: str
) -> None:
    cases = ", ".join(f"{{{size}, {first}, {last}}}" for size, first, last in CASES)
    executable = build("cluster_ends.cu", PROGRAM.replace("CASES", cases), architecture)
    ported = port(
        read_executable(executable), ContainerLifter(lifter.nvidia, lifter.amd, processor)
    )
    assert not ported.failures
    options = RunOptions(seconds=20, devices=(processor,))
    done = execute(ported, [], runtime_library(), options)
    assert done.ok, done.stderr_text
    assert done.stdout_text.splitlines() == EXPECTED
