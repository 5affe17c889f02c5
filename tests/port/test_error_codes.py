"""Codes of launches that fail, as CUDA has them, and kernels that were left out.

An H200 with CUDA 13.0 (driver 580.159.04) gave 1 for each launch that no card can do, 720 for a
cooperative grid that is too large, 710 after a failed assertion, 719 after a trap, 700 after a null
pointer; an error of those three stays for the rest of the process.
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
from cass_ray.toolchain.sandbox.process import Completed

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

FAULTS = """
#include <cassert>
#include <cstdio>
#include <cstdlib>
__global__ void nothing() {}
__global__ void asserts(int n) { assert((int)threadIdx.x < n); }
__device__ __noinline__ void check(int n) { assert(n % 3); assert(n < 40); }
__global__ void deep(int n) { for (int i = 1; i < n; i += 3) check(i); }
__global__ void traps() { asm("trap;"); }
__global__ void aborts(int n) { if (n) __trap(); }
__global__ void null(int* p) { *p = 1; }
int main(int, char** arguments) {
  switch (atoi(arguments[1])) {
    case 0: asserts<<<2, 64>>>(63); break;
    case 1: deep<<<1, 1>>>(50); break;
    case 2: traps<<<1, 1>>>(); break;
    case 3: aborts<<<1, 32>>>(1); break;
    case 4: null<<<1, 1>>>(nullptr); break;
    case 5: deep<<<1, 1>>>(40); break;
  }
  int first = cudaDeviceSynchronize(), last = cudaGetLastError(), *memory;
  printf("%d %d %d\\n", first, last, cudaMalloc(&memory, 4));
  return 7;
}
"""

IMPOSSIBLE = """
#include <cstdio>
__global__ void nothing() {}
static void say() { printf("%d ", cudaGetLastError()); }
int main() {
  nothing<<<1, 2000>>>(), say();
  nothing<<<0, 1>>>(), say();
  nothing<<<1, 0>>>(), say();
  nothing<<<dim3(1, 70000), 1>>>(), say();
  nothing<<<1, dim3(1, 1, 100)>>>(), say();
  nothing<<<dim3(1u << 31), 1>>>(), say();
  nothing<<<1, 1, 1 << 20>>>(), say();
  void* none[1];
  cudaLaunchCooperativeKernel((void*)nothing, dim3(1 << 20), dim3(64), none), say();
  cudaLaunchCooperativeKernel((void*)nothing, dim3(1), dim3(2000), none), say();
  printf("%d\\n", cudaDeviceSynchronize());
}
"""

LEFT_OUT = """
#include <cstdio>
__global__ void fine(long long* p) { *p = 5; }
__global__ void odd(long long* p) {
  asm volatile("{ .reg .b128 a, b; mov.b128 b, {%1, %1}; atom.global.exch.b128 a, [%0], b; }"
               :: "l"(p), "l"(7LL) : "memory");
}
int main(int count, char**) {
  long long *memory, value = 0;
  cudaMalloc(&memory, 16);
  fine<<<1, 1>>>(memory);
  if (count > 1) odd<<<1, 1>>>(memory);
  cudaMemcpy(&value, memory, 8, cudaMemcpyDeviceToHost);
  printf("%lld\\n", value);
}
"""
"""nvcc's code for the second has an instruction that is not lifted (``tests/lift/gaps.json``)."""


def run(lifter: ContainerLifter, executable: Path, processor: str, *arguments: str) -> Completed:
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(executable), chosen)
    options = RunOptions(seconds=60, devices=(processor,))
    return execute(ported, arguments, runtime_library(), options)


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
@pytest.mark.parametrize(
    ("case", "code"), [(0, 710), (1, 710), (2, 719), (3, 719), (4, 700), (5, 0)]
)
def test_faults_have_the_codes_of_a_card(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str, case: int, code: int
) -> None:
    done = run(lifter, build("faults.cu", FAULTS, "sm_90"), processor, str(case))
    assert done.stdout_text == f"{code} {code} {code}\n", done.stderr_text
    assert done.returncode == 7


def test_launches_that_no_card_can_do(lifter: ContainerLifter, build: Callable[..., Path]) -> None:
    done = run(lifter, build("impossible.cu", IMPOSSIBLE, "sm_90"), "gfx1100")
    assert done.stdout_text == "1 1 1 1 1 1 1 720 1 0\n", done.stderr_text


def test_a_kernel_that_is_left_out_and_not_launched_does_no_harm(
    lifter: ContainerLifter, build: Callable[..., Path]
) -> None:
    done = run(lifter, build("left_out.cu", LEFT_OUT, "sm_90"), "gfx1100")
    assert (done.stdout_text, done.returncode) == ("5\n", 0)


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_a_kernel_that_is_left_out_and_launched_is_a_failure_with_its_reason(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    done = run(lifter, build("left_out.cu", LEFT_OUT, "sm_90"), processor, "odd")
    assert done.returncode == 1
    assert "launched that is left out: _Z3oddPx: " in done.stderr_text
    assert "ATOM" in done.stderr_text
