"""``__internal_half2float`` of CUDA's header, which TensorRT's plugins call on the host."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__global__ void k() {}
int main() {
  const unsigned short bits[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x3555};
  for (unsigned short each : bits) printf("%04x: %.9g\n", each, __internal_half2float(each));
}
"""


@pytest.mark.amd
def test_bits_of_a_half_as_a_float() -> None:
    """IEEE 754: 1, -2, 2 to the power of -24, the largest, the nearest to a third."""
    assert output_of(SOURCE) == {
        "3c00": "1",
        "c000": "-2",
        "0001": "5.96046448e-08",
        "7bff": "65504",
        "3555": "0.333251953",
    }
