"""Constants of the device that host code reads: nvcc's host has their values if they are const."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator
from tests.translate.programs import output_of

SOURCE = r"""
#include <algorithm>
#include <cstdio>

#define TABLE __device__ __constant__ const
extern TABLE float halves[2];
TABLE float halves[2] = {0.5f, 1.5f};
__constant__ const int small[3] = {1, 2, 3};
__constant__ const int symbol[2] = {4, 5};
static constexpr __device__ int odd[2] = {7, 8};
namespace n { alignas(16) __constant__ const unsigned long long large = 9; }

__host__ __device__ int both(int i) { return small[i] + odd[i]; }
__global__ void run(float* out) { out[0] = both(1) + halves[threadIdx.x] + symbol[1]; }

int main(int argc, char**) {
  float *there, here;
  int copied[2];
  cudaMalloc(&there, 4);
  run<<<1, 1>>>(there);
  cudaMemcpy(&here, there, 4, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(copied, symbol, 8);
  printf("device: %g %d %d\n", here, copied[0], copied[1]);
  printf("host: %d %g %llu\n", both(argc), halves[argc], std::max(n::large, 1ull));
}
"""


@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_both_sides_read_their_values(target: str) -> None:
    expected = {"device": "15.5 4 5", "host": "10 1.5 9"}
    assert output_of(SOURCE, architecture=target) == expected


READ = "__host__ __device__ int f(int i) { return t[i]; }\n"


@pytest.mark.parametrize(
    ("source", "filename"),
    [
        ("__constant__ const int t[2] = {1, 2};\n" + READ, "a.cu"),
        ("__constant__ const int t[2] = {1, 2};\n", "a.cuh"),
        ("extern __constant__ const int t[2];\n", "a.cuh"),
        ("int f();\n__device__ static const int t[2]{1, 2};\nint g() { return t[f()]; }\n", "a.cu"),
    ],
)
def test_what_the_host_may_read_has_a_value_there(source: str, filename: str) -> None:
    assert "CASS_ON_DEVICE(__" in RulesTranslator().translate(source, filename=filename).source


@pytest.mark.parametrize(
    "source",
    [
        "__constant__ const int t[2] = {1, 2};\n__device__ int f(int i) { return t[i]; }\n",
        "__constant__ const int t[2] = {1, 2};\n__global__ void f(int* p) { *p = t[*p]; }\n",
        "__constant__ int t[2] = {1, 2};\n" + READ,
        "__constant__ const int* t = nullptr;\n" + READ,
        "__device__ const int t(int i) { return i; }\nint f() { return 0; }\n",
        "__constant__ const int t[2] = {1, 2};\n"
        "void f(int* p) { cudaMemcpyFromSymbol(p, t, 8); }\n",
    ],
    ids=["device", "kernel", "variable", "pointer", "function", "symbol"],
)
def test_what_the_device_alone_has_stays(source: str) -> None:
    assert "CASS_ON_DEVICE" not in RulesTranslator().translate(source, filename="a.cu").source
