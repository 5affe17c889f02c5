"""Macros that ``__CUDA_ARCH__`` chooses for nvcc's passes, run on the CPU backend."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator
from tests.translate.programs import output_of

ENGINE = RulesTranslator()
BOTH = "#define SIDES __host__ __device__\n"


@pytest.mark.parametrize(
    ("source", "both"),
    [
        ("#ifdef __CUDA_ARCH__\n#ifndef SIDES\n#define SIDES __device__\n#endif\n#endif\n", True),
        (
            "#if defined(__CUDA_ARCH__)\n\n# ifndef SIDES\n# define SIDES __device__\n# endif\n"
            "#define ON 1\n#endif\n",
            True,
        ),
        ("#ifndef __CUDA_ARCH__\n#ifndef SIDES\n#define SIDES __device__\n#endif\n#endif\n", False),
        ("#ifdef __CUDA_ARCH__\n#ifndef SIDES\n#define SIDES inline\n#endif\n#endif\n", False),
        ("#ifdef __CUDA_ARCH__\n#ifndef OTHER\n#define SIDES __device__\n#endif\n#endif\n", False),
        ("#ifdef __CUDACC__\n#ifndef SIDES\n#define SIDES __device__\n#endif\n#endif\n", False),
    ],
)
def test_attributes_of_the_devices_pass(source: str, both: bool) -> None:
    assert (BOTH in ENGINE.translate(source, filename="a.h").source) == both


PROGRAM = """
#include <cstdio>
#ifdef __CUDA_ARCH__
#ifndef SIDES
#define SIDES __device__
#endif
#define PLACE 2
#endif
#ifndef SIDES
#define SIDES
#endif
#ifndef PLACE
#define PLACE 1
#endif
SIDES static inline int twice(int x) { return 2 * x * PLACE; }
__global__ void k(int* out) { *out = twice(5); }
int main() {
  int *device, host;
  cudaMalloc(&device, sizeof host);
  k<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("twice: %d %d\\n", host, twice(5));
}
"""


@pytest.mark.amd
def test_both_sides_call_what_each_pass_declares() -> None:
    assert output_of(PROGRAM) == {"twice": "20 10"}
