"""Checking mode and counters, on whole programs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

pytestmark = pytest.mark.amd

_SOURCE = """
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdlib>
__global__ void exchange(int *a) {
  a[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  a[gridDim.x - 1 - blockIdx.x] += 1;
}
__global__ void write_at(int *a, int n) { a[threadIdx.x + n] = 1; }
__global__ void race(int *o) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  o[threadIdx.x] = s[63 - threadIdx.x];
}
template <bool Barrier> __global__ void count(int *o) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  if (Barrier) __syncthreads();
  atomicAdd(&n, threadIdx.x);
  __syncthreads();
  o[threadIdx.x] = n;
}
__global__ void copy(const int *a, int *o) { o[threadIdx.x] = a[threadIdx.x]; }
__global__ void turn(int *a) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  a[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void add_alone(int *a) { if (threadIdx.x == 0) a[0] += blockIdx.x + 1; }
__global__ void add_among_atomics(int *a) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 2) a[0] += 3;
  else atomicAdd(a, blockIdx.x + 1);
}
__global__ void set_flag(int *a) { if (threadIdx.x == 0) a[0] = 7; }
__global__ void add_under_lock(int *a) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(a + 1, 0, 1) != 0) { }
  __threadfence();
  a[0] += blockIdx.x + 1;
  __threadfence();
  atomicExch(a + 1, 0);
}
__global__ void last_one_sums(int *a) {
  if (threadIdx.x != 0) return;
  a[2 + blockIdx.x] = blockIdx.x + 1;
  __threadfence();
  if (atomicAdd(a + 1, 1) == gridDim.x - 1) {
    for (int i = 0; i < gridDim.x; ++i) a[0] += a[2 + i];
  }
}
__global__ void spin(volatile int *a) { while (a[0] == 0) { } }
int main(int, char **v) {
  int *a, *b;
  hipMalloc(&a, 1024);
  hipMalloc(&b, 1024);
  switch (atoi(v[1])) {
    case 0: write_at<<<1, 64>>>(a, 250); break;
    case 1: race<<<1, 64>>>(a); break;
    case 2: copy<<<1, 64>>>(a, b); break;
    case 3: hipFree(a); write_at<<<1, 64>>>(a, 0); break;
    case 4: turn<<<1, 256>>>(a); break;
    case 5: hipMemset(a, 0, 1024); spin<<<1, 64>>>(a); break;
    case 6: write_at<<<1, 64>>>(nullptr, 0); break;
    case 7: hipMemset(a, 0, 1024); add_alone<<<4, 64>>>(a); break;
    case 11: {
      void *arguments[] = {&a};
      hipLaunchCooperativeKernel((void *)exchange, 4, 32, arguments, 0, 0);
      break;
    }
    case 8: set_flag<<<4, 64>>>(a); break;
    case 9: hipMemset(a, 0, 1024); add_under_lock<<<4, 64>>>(a); break;
    case 14: hipMemset(a, 0, 1024); add_among_atomics<<<4, 64>>>(a); break;
    case 12: count<false><<<1, 64>>>(a); break;
    case 13: count<true><<<1, 64>>>(a); break;
    case 10: hipMemset(a, 0, 1024); last_one_sums<<<4, 64>>>(a); break;
  }
  return hipDeviceSynchronize() != hipSuccess;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "main.hip").write_text(_SOURCE)
    unit = Unit(folder, PurePosixPath("main.hip"))
    return find_amd().build_executable(unit, folder / "program", runtime_library=runtime_library())


def _run(program: Path, case: int, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, str(case)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("case", "kind", "where"),
    [
        (0, "out-of-bounds access: write of 4 bytes, 0 bytes past the end", "work-item 6"),
        (1, "data race", "of LDS byte"),
        (2, "read of uninitialised memory", "an allocation of 1024"),
        (3, "use after free", "work-item 0"),
        (12, "data race", "of LDS byte"),
    ],
)
def test_errors_are_reported_with_their_place(
    program: Path, case: int, kind: str, where: str
) -> None:
    done = _run(program, case, CASS_EMULATOR_CHECK="1")
    assert done.returncode != 0
    assert kind in done.stderr
    assert where in done.stderr
    assert "kernel _Z" in done.stderr


@pytest.mark.parametrize(("case", "before"), [(7, 0), (14, 1)])
def test_writes_that_chance_orders_are_a_warning(program: Path, case: int, before: int) -> None:
    done = _run(program, case, CASS_EMULATOR_CHECK="1")
    assert done.returncode == 0
    assert "unordered writes" in done.stderr
    assert f"that workgroup {before} has written in this launch" in done.stderr


@pytest.mark.parametrize("case", [4, 8, 9, 10, 11, 13])
def test_a_correct_program_passes_the_checks(program: Path, case: int) -> None:
    done = _run(program, case, CASS_EMULATOR_CHECK="1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("prefix", ["CASS_EMULATOR_", "CASS_RDNA3_"])
def test_endless_loop_ends_at_the_time_limit(program: Path, prefix: str) -> None:
    """By the variable's present name, and by the one that it had before."""
    done = _run(program, 5, **{f"{prefix}TIME_LIMIT": "0.2"})
    assert done.returncode != 0
    assert "time limit" in done.stderr


def test_null_pointer_ends_in_an_error(program: Path) -> None:
    done = _run(program, 6)
    assert done.returncode == 1
    assert "invalid memory access" in done.stderr


def test_counters(program: Path, tmp_path: Path) -> None:
    output = tmp_path / "counters.json"
    assert _run(program, 4, CASS_EMULATOR_COUNTERS=str(output)).returncode == 0
    (kernel,) = json.loads(output.read_text())["kernels"]
    assert kernel["kernel"] == "_Z4turnPi"
    # One workgroup of eight waves, each of which crosses one barrier.
    assert (kernel["workgroups"], kernel["waves"], kernel["work_items"]) == (1, 8, 256)
    assert kernel["by_class"]["barrier"] == 8
    assert kernel["bytes"]["lds_stored"] == kernel["bytes"]["lds_loaded"] == 1024
    assert kernel["bytes"]["global_stored"] == 1024
    assert kernel["lds_conflict_cycles"] == 0
    assert kernel["divergence"]["with_inactive_lanes"] == 0
    assert kernel["instruction_coverage"]["reached"] == kernel["instruction_coverage"]["of"]
