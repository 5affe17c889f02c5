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


@pytest.mark.parametrize(
    ("filename", "source", "expected"),
    [
        ("a.h", "#ifdef CUDART_VERSION\n", "#if defined(HIP_VERSION) /* CUDART_VERSION */\n"),
        ("a.hpp", "#ifndef CUDA_VERSION\n", "#if !defined(HIP_VERSION) /* CUDA_VERSION */\n"),
        (
            "a.hpp",
            "#if !defined(CUDART_VERSION) || CUDART_VERSION < 5000\n",
            "#if !defined(HIP_VERSION) /* CUDART_VERSION */ || 11080 /* CUDART_VERSION */ < 5000\n",
        ),
        # The runtime is there, or the file is nvcc's.
        ("a.cu", "#ifdef CUDART_VERSION\n", "#if 1 /* CUDART_VERSION */\n"),
        ("a.h", "#include <cuda_runtime.h>\n#ifdef CUDA_VERSION\n", "#if 1 /* CUDA_VERSION */\n"),
        ("a.h", "#ifdef __CUDACC_VER_MAJOR__\n", "#if 1 /* __CUDACC_VER_MAJOR__ */\n"),
    ],
)
def test_headers_that_a_hosts_compiler_reads(filename: str, source: str, expected: str) -> None:
    """Without CUDA's headers it has no version of CUDA's (Random123 as GOMC has it)."""
    made = ENGINE.translate(f"{source}int a;\n#endif\n", filename=filename).source
    assert made.endswith(f"{expected}int a;\n#endif\n")


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
