"""How far floats may differ: 10,000 changes that are seen, 10,000 sums that are equal."""

from __future__ import annotations

import numpy as np
import pytest

from cass_ray.execute.comparison.compare import BF16, F16, F32, F64, Tolerance, compare
from cass_ray.execute.comparison.tolerances import tolerance_for

NUMBER = 10_000
LEAST = 0.999
DIGITS = {"bf16": 6, "f16": 7, "f32": 9, "f64": 17}
"""Decimal digits, enough to tell all numbers of the type apart."""
BITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
"""Of the significand, the leading one included (IEEE 754; bfloat16: the upper half of a float)."""
TYPES = [BF16, F16, F32, F64]


def rounded(values: np.ndarray, bits: int) -> np.ndarray:
    """``values`` with so many bits, to nearest."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)


def text(values: np.ndarray, digits: int) -> bytes:
    return "\n".join(f"y {value:.{digits - 1}e}" for value in values).encode()


@pytest.mark.parametrize("tolerance", TYPES, ids=lambda each: each.name)
def test_single_changes_are_seen(tolerance: Tolerance) -> None:
    """Of one value of a vector, by three tolerances to a million, in what the type can tell."""
    chosen = np.random.default_rng(53)
    seen = planted = 0
    while planted < NUMBER // len(TYPES):
        length = int(chosen.integers(2, 24))
        values = chosen.normal(size=length) * 10.0 ** chosen.uniform(-6, 6)
        values *= 10.0 ** chosen.uniform(-1, 0, size=length)
        values = rounded(values, BITS[tolerance.name])
        place = int(chosen.integers(length))
        allowed = max(
            tolerance.relative * abs(values[place]), tolerance.absolute * np.abs(values).max()
        )
        step = allowed * 10.0 ** chosen.uniform(np.log10(3), 6) * chosen.choice([-1, 1])
        changed = values.copy()
        changed[place] = rounded(values[place] + step, BITS[tolerance.name])
        if abs(changed[place] - values[place]) <= 3 * allowed:
            continue
        planted += 1
        one, two = (text(each, DIGITS[tolerance.name]) for each in (values, changed))
        seen += not compare([one], two, tolerance).numeric
    assert seen >= LEAST * planted


@pytest.mark.parametrize("kind", ["integers", "hexadecimal", "integers of 64 bits"])
def test_any_change_of_an_integer_is_seen(kind: str) -> None:
    """Beside floats on the same lines, too."""
    chosen = np.random.default_rng(54)
    seen = 0
    number = 1000
    most = 1 << 62 if "64" in kind else 1 << 31
    for _ in range(number):
        values = [int(each) for each in chosen.integers(0, most, size=8)]
        changed = [*values]
        changed[int(chosen.integers(8))] ^= 1 << int(chosen.integers(most.bit_length() - 1))
        form = "n {:#x} of {:.3f}" if kind == "hexadecimal" else "n {} of {:.3f}"
        one, two = (
            "\n".join(form.format(each, index / 7) for index, each in enumerate(some)).encode()
            for some in (values, changed)
        )
        seen += not compare([one], two, F16).numeric
    assert seen == number


@pytest.mark.parametrize(
    ("tolerance", "terms"),
    [(BF16, 4), (F16, 8), (F32, 128), (F64, 128)],
    ids=lambda each: getattr(each, "name", each),
)
def test_sums_in_another_order_are_equal(tolerance: Tolerance, terms: int) -> None:
    """Vectors of sums, each rounded after each term, as kernels add; those that the order moves by
    no more than the tolerance."""
    chosen = np.random.default_rng(55)
    bits, rows = BITS[tolerance.name], 8
    equal = vectors = 0
    while vectors < NUMBER // len(TYPES) // rows + 1:
        scale = 10.0 ** chosen.uniform(-4, 4)
        values = rounded(chosen.normal(loc=1.0, size=(rows, terms)) * scale, bits)
        sums = []
        for order in (np.arange(terms), chosen.permutation(terms)):
            total = np.zeros(rows)
            for place in order:
                total = rounded(total + values[:, place], bits)
            sums.append(total)
        one, two = sums
        largest = np.abs(one).max()
        allowed = np.maximum(tolerance.relative * np.abs(one), tolerance.absolute * largest)
        if np.array_equal(one, two) or (np.abs(one - two) > allowed).any():
            continue
        vectors += 1
        digits = DIGITS[tolerance.name]
        equal += compare([text(one, digits)], text(two, digits), tolerance).numeric
    assert equal >= LEAST * vectors


def test_what_is_left_of_large_numbers_has_their_error() -> None:
    """1e6 + 0.3 - 1e6 in float is 0.3125, the nearest of numbers 1/16 apart."""
    values = np.array([1e6, 1e6, 0.3], np.float32)
    left = np.float32(values[0] + values[2]) - values[1]
    assert left == 0.3125
    one = f"y {values[0]:.9g}\ny {float(left):.9g}".encode()
    two = f"y {values[0]:.9g}\ny {0.3:.9g}".encode()
    assert compare([one], two, F32).numeric
    alone = [f"y {value:.9g}".encode() for value in (0.3125, 0.3)]
    assert not compare([alone[0]], alone[1], F32).numeric


SOURCES: list[tuple[str, Tolerance]] = [
    ("float host(float x) { return x; }\n__global__ void k(double* p) { p[0] = 1.0; }", F64),
    ("typedef float real;\nusing other = double;\n__global__ void k(real* p) {}", F32),
    ("#define REAL float\ndouble host();\n__global__ void k(REAL* p) {}", F32),
    ("struct P { float x; };\ndouble d;\n__global__ void k(P p, double* q) {}", F32),
    ("struct P { double x; };\nfloat f;\n__global__ void k(P p) {}", F64),
    ("__device__ float g();\n__global__ void k(double* p) { p[0] = 2.0; }", F32),
    ("template <typename T> __global__ void k(T* p) {}\nvoid f(float*); double d;", F32),
    ("__global__ void k(int* p) {}\ndouble host(double);", F64),
    ("__global__ void k(__nv_bfloat16* p, float* q) {}", BF16),
    ("__global__ void k(__half* p, float* q) {}\n__nv_bfloat16 host();", F16),
    ("__global__ void k(double* p) { p[0] *= 1.5f; }", F32),
]


@pytest.mark.parametrize(("source", "tolerance"), SOURCES, ids=range(len(SOURCES)))
def test_the_precision_is_of_what_computes(source: str, tolerance: Tolerance) -> None:
    assert tolerance_for([source]) is tolerance


def test_a_type_may_be_defined_in_another_file() -> None:
    header = "#pragma once\ntypedef double real;"
    assert tolerance_for(["__global__ void k(real* p) {}\nfloat host();", header]) is F64
