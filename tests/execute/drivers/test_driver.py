"""Drivers: which kernels can be driven, and that a driven kernel's faults show."""

from __future__ import annotations

import pytest

from cass_ray.execute.backends.base import Inputs, Language
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.drivers.driver import (
    ARGUMENT_LISTS,
    DriverParameter,
    drivable_kernels,
    driver_inputs,
    with_driver,
)
from tests.execute.conftest import hip

KERNELS = r"""
#include <hip/hip_runtime.h>
__global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" {
__global__ __launch_bounds__(256) void transpose(double* out, const double* in, unsigned int w) {
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < w) out[x * w + y] = in[y * w + x];
}
}
__global__ void rotate(unsigned char* p, size_t n) {
  extern __shared__ unsigned char tile[];
  const size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t base = (size_t)blockIdx.x * blockDim.x; base < n; base += step) {
    const size_t i = base + threadIdx.x;
    if (i < n) tile[threadIdx.x] = p[i];
    __syncthreads();
    if (i < n) p[i] = tile[threadIdx.x] * 3;
    __syncthreads();
  }
}
template <typename T> __global__ void generic(T* p) {}
struct S { int x; };
__global__ void with_struct(S s, int* p) {}
__global__ void reads_only(const int* p) {}
__global__ void declared(int* p);
namespace inner { __global__ void hidden(int* p) {} }
"""


def test_what_can_be_driven() -> None:
    saxpy, transpose, rotate = drivable_kernels(KERNELS)
    assert saxpy.name == "saxpy"
    assert saxpy.parameters == (
        DriverParameter("int", False, False),
        DriverParameter("float", False, False),
        DriverParameter("float", True, False),
        DriverParameter("float", True, True),
    )
    assert (transpose.name, transpose.two_dimensional) == ("transpose", True)
    assert (rotate.name, rotate.dynamic_shared) == ("rotate", True)


def test_configurations_cover_the_range() -> None:
    blocks = {int(arguments[1]) for arguments in ARGUMENT_LISTS}
    grids = {int(arguments[2]) for arguments in ARGUMENT_LISTS}
    assert {32, 1024} <= blocks
    assert {1, 1 << 20} <= grids
    assert any(int(a[0]) % int(a[1]) for a in ARGUMENT_LISTS)


def _saxpy_of_first_element(seed: int) -> float:
    """0.75 x[0] + y[0], with the driver's generator for arguments 2 and 3."""

    def first(number: int) -> float:
        state = (seed * 2654435761 + number * 40503 + 1) & 0xFFFFFFFF
        return ((state * 1664525 + 1013904223 & 0xFFFFFFFF) >> 8) / 16777216

    return 0.75 * first(2) + first(3)


@pytest.mark.amd
def test_a_driven_kernel_runs_and_its_faults_show(backend: Rdna3Backend) -> None:
    kernels = drivable_kernels(KERNELS)

    def outputs(source: str, inputs: list[Inputs]) -> list[bytes]:
        built = backend.build(with_driver(hip(source), kernels, Language.HIP))
        done = [backend.run(built, each) for each in inputs]
        assert [run.ended.status for run in done] == [0] * len(inputs), done[0].ended.stderr
        assert all(run.launch_count == 3 for run in done)
        return [run.ended.stdout for run in done]

    right = outputs(KERNELS, driver_inputs()[:5])
    assert len(set(right)) == 5  # every list drives it differently
    lines = right[0].decode().splitlines()
    assert lines[0] == "kernel saxpy"
    assert float(lines[1].split()[2]) == pytest.approx(_saxpy_of_first_element(seed=1), rel=1e-6)
    for fault in (
        "i < n) y[i] = a|i < n - 1) y[i] = a",
        "* 3;|* 5;",
        "in[y * w + x]|in[x * w + y]",
    ):
        old, new = fault.split("|")
        assert old in KERNELS
        wrong = outputs(KERNELS.replace(old, new), driver_inputs()[:1])
        assert not compare(right[:1], wrong[0]).numeric
