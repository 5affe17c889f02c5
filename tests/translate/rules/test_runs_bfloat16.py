"""Bits and roundings of bfloat16 and half numbers, in kernels and in host code.

Expected values: a bfloat16 number is the upper half of a float (IEEE 754), by Python's ``struct``,
and by hand. HIP's functions of these names convert the number in place of taking its bits, and
round to nearest or to zero whatever the name says.
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

__host__ __device__ void fill_rounded(int* out) {
  const __half half = __float2half(2.5f), quarter = __float2half(-2.25f);
  *out++ = __half2int_rn(half);
  *out++ = __half2short_ru(half);
  *out++ = (int)__half2ll_rd(quarter);
  *out++ = __half2int_rz(quarter);
  *out++ = (int)__half2float(__float2half_rz(2051.0f));
  *out++ = (int)__half2float(__float2half_ru(2049.0f));
  *out++ = (int)__half2float(__float2half_rd(-2049.0f));
  *out++ = (int)__half2float(__int2half_rd(2051));
  *out++ = __half2float(__uint2half_ru(100000u)) > 65504.0f;
  *out++ = __bfloat16_as_ushort(__double2bfloat16(1.0 + 1.0 / 256 + 1.0 / (1ll << 40)));
  *out++ = __bfloat16_as_ushort(__ll2bfloat16_rn((1ll << 40) + (1ll << 32) + 1));
  *out++ = __bfloat162int_rn(__float2bfloat16(-3.5f));
  const __nv_bfloat16 nan = CUDART_NAN_BF16, one = CUDART_ONE_BF16;
  *out++ = __half_as_ushort(CUDART_MAX_NORMAL_FP16);
  *out++ = (int)(1000 * __half2float(__ushort_as_half((unsigned short)__half_as_short(half))));
  *out++ = __hne(nan, one) + 2 * __hneu(nan, one) + 4 * __hneu(one, one);
}

__global__ void rounded(int* out) { fill_rounded(out); }

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
    if (*side == 'd') rounded<<<1, 1>>>((int*)out); else fill_rounded((int*)out);
    cudaDeviceSynchronize();
    printf("\nrounded on %s:", side);
    for (int i = 0; i < 15; ++i) printf(" %d", (int)out[i]);
    printf("\n");
  }
  printf("roots: %g %g\n", rsqrtf(16.0f), rcbrt(8.0));
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


@pytest.mark.amd
def test_roots_in_host_code(lines: dict[str, str]) -> None:
    assert lines["roots"] == "0.25 0.5"


@pytest.mark.amd
@pytest.mark.parametrize("side", ["device", "host"])
def test_roundings(lines: dict[str, str], side: str) -> None:
    """2.5 to even, up; -2.25 down, to zero. Halves above 2048 are even: 2051 down, 2049 up, -2049
    down, 2051 down; more than 65504 up is infinite. Just more than half way between 1 and 0x3f81,
    which is 1 + 1/128, and between 2^40, 0x5380, and the next; -3.5 to even;
    65504; the bits of 2.5 and back; NaN is not ordered."""
    expected = [2, 3, -3, -2, 2050, 2050, -2050, 2050, 1, 0x3F81, 0x5381, -4, 0x7BFF, 2500, 2]
    assert [int(word) for word in lines[f"rounded on {side}"].split()] == expected
