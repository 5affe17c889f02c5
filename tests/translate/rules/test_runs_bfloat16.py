"""The bits of bfloat16 numbers, in kernels and in host code.

Expected values: a bfloat16 number is the upper half of a float (IEEE 754), by Python's ``struct``.
HIP's functions of these names convert the number in place of taking its bits.
"""

from __future__ import annotations

import struct

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__host__ __device__ void fill(unsigned* out, const float* in, int n) {
  for (int i = 0; i < n; ++i) {
    __nv_bfloat16 value = __float2bfloat16(in[i]);
    __nv_bfloat162 pair;
    pair.x = value;
    pair.y = __float2bfloat16(7.0f);
    *out++ = __bfloat16_as_ushort(value);
    *out++ = (unsigned)(int)__bfloat16_as_short(value);
    const unsigned short bits = __bfloat16_as_ushort(value);
    *out++ = __bfloat16_as_ushort(__low2bfloat16(pair));
    pair = __low2bfloat162(pair);
    *out++ = __bfloat16_as_ushort(pair.x) | (unsigned)__bfloat16_as_ushort(pair.y) << 16;
    const float back[2] = {__bfloat162float(__ushort_as_bfloat16(bits)),
                           __bfloat162float(__short_as_bfloat16((short)bits))};
    for (float each : back) {
      unsigned word;
      memcpy(&word, &each, 4);
      *out++ = word;
    }
  }
  *out++ = __bfloat16_as_ushort(CUDART_INF_BF16);
  *out++ = __bfloat16_as_ushort(CUDART_MAX_NORMAL_BF16);
  *out++ = __bfloat16_as_ushort(CUDART_MIN_DENORM_BF16);
  *out++ = __bfloat16_as_ushort(CUDART_NEG_ZERO_BF16);
  *out++ = __bfloat16_as_ushort(CUDART_ONE_BF16);
}

__global__ void kernel(unsigned* out, const float* in, int n) { fill(out, in, n); }

int main() {
  const float values[] = {1.0f, -2.5f, 0.0f, -0.0f, 3.0e38f, 1.0e-40f};
  const int n = sizeof values / sizeof *values, words = 6 * n + 5;
  float* in;
  unsigned* out;
  cudaMallocManaged(&in, sizeof values);
  cudaMallocManaged(&out, words * sizeof *out);
  memcpy(in, values, sizeof values);
  for (const char* side : {"device", "host"}) {
    memset(out, 0, words * sizeof *out);
    if (*side == 'd') kernel<<<1, 1>>>(out, in, n); else fill(out, in, n);
    cudaDeviceSynchronize();
    printf("%s:", side);
    for (int i = 0; i < words; ++i) printf(" %x", out[i]);
    printf("\n");
  }
}
"""
VALUES = [1.0, -2.5, 0.0, -0.0, 3.0e38, 1.0e-40]


def rounded(value: float) -> int:
    """The bits of the bfloat16 number nearest to ``value``, which none of the values ties."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return (bits + 0x8000) >> 16


@pytest.fixture(scope="module")
def lines() -> dict[str, str]:
    return output_of(SOURCE)


@pytest.mark.amd
@pytest.mark.parametrize("side", ["device", "host"])
def test_bits_of_bfloat16(lines: dict[str, str], side: str) -> None:
    """The infinity, the largest number, the smallest one, minus zero and one are IEEE 754's."""
    expected: list[int] = []
    for bits in map(rounded, VALUES):
        sign_extended = bits | 0xFFFF0000 * (bits >> 15)
        expected += [bits, sign_extended, bits, bits | bits << 16, bits << 16, bits << 16]
    expected += [0x7F80, 0x7F7F, 1, 0x8000, 0x3F80]
    assert lines[side].split() == [f"{word:x}" for word in expected]
