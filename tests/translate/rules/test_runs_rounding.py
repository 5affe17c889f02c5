"""Quotients and square roots with a direction of rounding, against exact rational arithmetic."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

import pytest

from tests.translate.programs import output_of

pytestmark = pytest.mark.amd

FLOATS = (
    *(1.0, 3.0, -3.0, 10.0, 0.1, 2.0, 7.5, -1e-3, 1e30, 1e-30, 4.0),
    # The smallest subnormal and normal, the largest: results that vanish and that overflow.
    *(2.0**-149, 2.0**-126, -(2.0**-130), float.fromhex("0x1.fffffep127"), 2.0**-147 * 5),
    *(0.0, -0.0, math.inf),
)
DOUBLES = (
    *(1.0, 3.0, -3.0, 10.0, 0.1, 2.0, 7.5, -1e-3, 1e300, 1e-300, 4.0),
    *(5e-324, 2.0**-1022, -(2.0**-1030), float.fromhex("0x1.fffffffffffffp1023"), 5e-323),
    *(0.0, -0.0, math.inf),
)

PROGRAM = r"""
#include <cstdio>
__global__ void floats(const float* x, float* out, int n) {
  const int i = threadIdx.x;
  float* o = out + i * (3 * n + 6);
  for (int j = 0; j < n; ++j) {
    *o++ = __fdiv_rd(x[i], x[j]);
    *o++ = __fdiv_ru(x[i], x[j]);
    *o++ = __fdiv_rz(x[i], x[j]);
  }
  *o++ = __fsqrt_rd(x[i]), *o++ = __fsqrt_ru(x[i]), *o++ = __fsqrt_rz(x[i]);
  *o++ = __frcp_rd(x[i]), *o++ = __frcp_ru(x[i]), *o++ = __frcp_rz(x[i]);
}
__global__ void doubles(const double* x, double* out, int n) {
  const int i = threadIdx.x;
  double* o = out + i * (3 * n + 6);
  for (int j = 0; j < n; ++j) {
    *o++ = __ddiv_rd(x[i], x[j]);
    *o++ = __ddiv_ru(x[i], x[j]);
    *o++ = __ddiv_rz(x[i], x[j]);
  }
  *o++ = __dsqrt_rd(x[i]), *o++ = __dsqrt_ru(x[i]), *o++ = __dsqrt_rz(x[i]);
  *o++ = __drcp_rd(x[i]), *o++ = __drcp_ru(x[i]), *o++ = __drcp_rz(x[i]);
}
template <typename T, typename K> void run(const T* values, int n, K kernel) {
  T *x, *out;
  const int results = n * (3 * n + 6);
  cudaMallocManaged(&x, n * sizeof(T));
  cudaMallocManaged(&out, results * sizeof(T));
  for (int i = 0; i < n; ++i) x[i] = values[i];
  kernel<<<1, n>>>(x, out, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < results; ++i) printf(" %a", double(out[i]));
}
int main() {
  const float f[] = {FLOATS};
  const double d[] = {DOUBLES};
  printf("results:");
  run(f, sizeof f / sizeof *f, floats);
  run(d, sizeof d / sizeof *d, doubles);
  printf("\n");
}
"""


def single(value: float) -> float:
    """``value``, which is a float's, through its bits."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def literal(value: float) -> str:
    return "INFINITY" if math.isinf(value) else value.hex()


def value_of(pattern: int, bits: int) -> float:
    size, code = ("I", "f") if bits == 32 else ("Q", "d")
    return float(struct.unpack(code, struct.pack(size, pattern))[0])


def around(below: Callable[[float], bool], bits: int) -> tuple[float, float]:
    """The largest value for which ``below``, and the next: neighbours of a positive number.

    ``below`` says whether a finite value is not above the number. Positive values are in the
    order of their bits: a search by halves, from zero to infinity.
    """
    low, high = 0, 0xFF << 23 if bits == 32 else 0x7FF << 52
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(value_of(middle, bits)) else (low, middle)
    return value_of(low, bits), value_of(high, bits)


def directed(
    negative: bool, below: Callable[[float], bool], exact: Callable[[float], bool], bits: int
) -> list[float]:
    """Down, up and towards zero."""
    low, high = around(below, bits)
    if exact(low):
        high = low
    if negative:
        return [-high, -low, -low]
    return [low, high, low]


def quotient(a: float, b: float, bits: int) -> list[float]:
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if (a == 0 and b == 0) or (math.isinf(a) and math.isinf(b)):
        return [math.nan] * 3
    if math.isinf(a) or b == 0:
        return [sign * math.inf] * 3
    if a == 0 or math.isinf(b):
        return [sign * 0.0] * 3
    true = abs(Fraction(a) / Fraction(b))
    return directed(sign < 0, lambda q: Fraction(q) <= true, lambda q: Fraction(q) == true, bits)


def square_root(a: float, bits: int) -> list[float]:
    if a == 0 or math.isinf(a):
        return [a] * 3
    if a < 0:
        return [math.nan] * 3
    true = Fraction(a)
    square: Callable[[float], Fraction] = lambda q: Fraction(q) ** 2  # noqa: E731
    return directed(False, lambda q: square(q) <= true, lambda q: square(q) == true, bits)


def expected(values: tuple[float, ...], bits: int) -> list[float]:
    found = []
    for a in values:
        for b in values:
            found += quotient(a, b, bits)
        found += square_root(a, bits)
        found += quotient(1.0, a, bits)
    return found


def same(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1.0, one) == math.copysign(1.0, other)


def test_quotients_and_roots() -> None:
    floats = tuple(single(value) for value in FLOATS)
    source = PROGRAM.replace("FLOATS", ", ".join(literal(value) for value in floats))
    source = source.replace("DOUBLES", ", ".join(literal(value) for value in DOUBLES))
    printed = [float.fromhex(item) for item in output_of(source)["results"].split()]
    wanted = expected(floats, 32) + expected(DOUBLES, 64)
    assert len(printed) == len(wanted)
    wrong = [
        (at, one, other)
        for at, (one, other) in enumerate(zip(printed, wanted, strict=True))
        if not same(one, other)
    ]
    assert not wrong
