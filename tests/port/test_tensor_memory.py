"""Tensor memory and products whose sums are there: programs that work each number out on the host.

No machine of sm_100 has run them: what they expect is by the texts (PTX ISA; cuTe's layouts).
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

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

SCALED = "scaled products: 0 of 6 wrong\n"
PRODUCTS = "products: 0 of 47 wrong\n"


@pytest.mark.parametrize(
    ("program", "wanted", "processor"),
    [
        pytest.param("tensor_memory.cu", "", "gfx1100", marks=pytest.mark.slow),
        ("tensor_memory.cu", "", "gfx942"),
        ("tensor_scales.cu", SCALED, "gfx1100"),
        pytest.param("tensor_scales.cu", SCALED, "gfx942", marks=pytest.mark.slow),
        pytest.param("tensor_products.cu", PRODUCTS, "gfx1100", marks=pytest.mark.slow),
        pytest.param("tensor_products.cu", PRODUCTS, "gfx942", marks=pytest.mark.slow),
    ],
)
def test_programs_of_tensor_memory(
    lifter: ContainerLifter, build: Callable[..., Path], program: str, wanted: str, processor: str
) -> None:
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build(program, architecture="sm_100a")), chosen)
    assert not ported.failures
    options = RunOptions(seconds=300, devices=(processor,))
    done = execute(ported, [], runtime_library(), options)
    assert (done.stdout_text, done.stderr_text, done.returncode) == (wanted, "", 0)


EIGHT_WORDS = r"""
#include <cstdio>
__global__ void turn(const unsigned *from, unsigned *to) {
  unsigned a, b, c, d, e, f, g, h;
  asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e), "=r"(f), "=r"(g), "=r"(h)
               : "l"(from + 8 * threadIdx.x));
  asm volatile("st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
               ::"l"(to + 8 * threadIdx.x), "r"(h), "r"(a), "r"(c), "r"(b), "r"(d), "r"(e),
               "r"(g), "r"(f) : "memory");
}
int main() {
  unsigned words[512], found[512], *from, *to;
  for (unsigned n = 0; n < 512; ++n) words[n] = n * 2654435761u;
  cudaMalloc(&from, sizeof words);
  cudaMalloc(&to, sizeof words);
  cudaMemcpy(from, words, sizeof words, cudaMemcpyHostToDevice);
  turn<<<1, 64>>>(from, to);
  if (cudaMemcpy(found, to, sizeof words, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  const unsigned order[] = {7, 0, 2, 1, 3, 4, 6, 5};
  for (unsigned n = 0; n < 512; ++n)
    if (found[n] != words[n / 8 * 8 + order[n % 8]]) return std::printf("%u: %u\n", n, found[n]), 1;
}
"""


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_eight_words_at_once(
    lifter: ContainerLifter, build: Callable[..., Path], processor: str
) -> None:
    """Loads and stores of 256 bits, which sm_100 has."""
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build("eight_words.cu", EIGHT_WORDS, "sm_100")), chosen)
    assert not ported.failures
    done = execute(ported, [], runtime_library(), RunOptions(seconds=60, devices=(processor,)))
    assert (done.stdout_text, done.stderr_text, done.returncode) == ("", "", 0)
