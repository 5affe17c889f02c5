"""Values and bounds of single expressions; expected values by hand or from C's definitions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.corpus.generate import expressions as ex
from cass_ray.corpus.generate.expressions import Expression, VariableExpression, literal
from cass_ray.corpus.generate.intrinsics import APPROXIMATE, INTEGER, rounded_call
from cass_ray.corpus.generate.machine import LaunchShape, LaunchState, Unpredictable
from cass_ray.corpus.generate.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    UNSIGNED,
    UNSIGNED_LONG,
    Grid,
    Scalar,
    ValueRange,
    full_span,
    holds,
)

SHAPE = LaunchShape((1, 1), (32, 1))


def evaluate(made: Expression, **variables: float) -> float:
    machine = LaunchState(SHAPE, {}, checked=True)
    for name, value in variables.items():
        machine.variables[name] = np.asarray(value)
    with np.errstate(all="ignore"):
        return np.ravel(made.value(machine))[0].item()


def name(text: str, type_: Scalar, bounds: ValueRange | Grid | None = None) -> VariableExpression:
    return VariableExpression(text, type_, bounds or full_span(type_))


INTS = st.integers(-(2**31), 2**31 - 1)


@given(INTS, INTS, st.sampled_from("+-*"))
def test_signed_arithmetic_wraps_as_unsigned_does(a: int, b: int, symbol: str) -> None:
    made = ex.integer_arithmetic(symbol, name("a", INT), name("b", INT))
    exact = {"+": a + b, "-": a - b, "*": a * b}[symbol]
    assert evaluate(made, a=np.int32(a), b=np.int32(b)) == ctypes.c_int32(exact).value
    assert "unsigned int" in made.text


def test_arithmetic_is_plain_where_it_cannot_overflow() -> None:
    a, b = name("a", INT, ValueRange(-1000, 1000)), name("b", INT, ValueRange(0, 1000))
    made = ex.integer_arithmetic("*", a, b)
    assert (made.text, made.bounds) == ("a * b", ValueRange(-1_000_000, 1_000_000))


@given(INTS, st.integers(1, 1000))
def test_division_and_remainder_truncate(a: int, b: int) -> None:
    left, right = name("a", INT), name("b", INT, ValueRange(1, 1000))
    values = {"a": np.int32(a), "b": np.int32(b)}
    quotient = evaluate(ex.quotient(left, right), **values)
    assert quotient == int(abs(a) // b) * (1 if a >= 0 else -1)
    assert evaluate(ex.remainder(left, right), **values) == a - quotient * b


def test_what_is_not_defined_is_refused() -> None:
    a = name("a", INT)
    with pytest.raises(ValueError, match="zero"):
        ex.quotient(a, a)
    with pytest.raises(ValueError, match="range"):
        ex.shift(">>", a, name("b", INT))
    with pytest.raises(ValueError, match="signed"):
        ex.shift("<<", a, literal(3, INT))
    with pytest.raises(ValueError, match="fit"):
        ex.convert(name("x", FLOAT, Grid(0, 1 << 40)), INT)


@given(st.integers(-4000, 4000), st.integers(-4000, 4000), st.sampled_from("+-*"))
def test_bounds_of_floats_hold(a: int, b: int, symbol: str) -> None:
    left, right = name("a", FLOAT, Grid(-3, 4000)), name("b", FLOAT, Grid(-2, 4000))
    values = {"a": np.float32(a / 8), "b": np.float32(b / 4)}
    if symbol == "*":
        made = ex.float_product(left, right)
        exact = a / 8 * b / 4
    else:
        made = ex.float_sum(symbol, left, right)
        exact = a / 8 + b / 4 if symbol == "+" else a / 8 - b / 4
    assert evaluate(made, **values) == exact
    assert holds(made.bounds, np.asarray(exact))


def test_a_product_that_may_round_is_refused() -> None:
    wide = name("a", FLOAT, Grid(-12, 1 << 20))
    with pytest.raises(ValueError, match="round"):
        ex.float_product(wide, wide)
    # A power of two only moves the exponent.
    assert ex.float_product(wide, literal(0.5, FLOAT)).text == "a * 0.5f"


def test_a_fused_multiply_add_rounds_once() -> None:
    # (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24; rounding the product first would give 0.
    grid = Grid(-12, 1 << 13)
    a, c = name("a", FLOAT, grid), name("c", FLOAT, grid)
    made = ex.fused(a, a, c)
    assert made.text == "__fmaf_rn(a, a, c)"
    values = {"a": np.float32(1 + 2**-12), "c": np.float32(-(1 + 2**-11))}
    assert evaluate(made, **values) == 2.0**-24


def test_halfs_cannot_overflow() -> None:
    big = name("a", HALF, Grid(0, 2000))
    with pytest.raises(ValueError, match="overflow"):
        ex.fused(big, big, big)


def test_bits_do_not_tell_the_zeros_apart() -> None:
    made = ex.bits_of(name("a", FLOAT, Grid(0, 1)))
    assert evaluate(made, a=np.float32(-0.0)) == 0
    assert evaluate(made, a=np.float32(1.0)) == 0x3F800000


# From the CUDA Math API's definitions, by hand.
INTRINSICS = [
    ("__popc", [0xF0F0], 8),
    ("__popcll", [0xFF00FF00FF00FF00], 32),
    ("__clz", [1], 31),
    ("__clz", [0], 32),
    ("__clzll", [0x10], 59),
    ("__ffs", [0x18], 4),
    ("__ffs", [0], 0),
    ("__brev", [0b1011], 0xD0000000),
    ("__brevll", [1], 1 << 63),
    ("__umulhi", [0x80000000, 6], 3),
    ("__mulhi", [-(2**31), 2], -1),
    ("__umul24", [0xFF000003, 0x01000005], 15),
    ("__funnelshift_l", [0x80000000, 0x1, 1], 3),
    ("__funnelshift_r", [0x80000000, 0x1, 31], 3),
    ("__funnelshift_l", [0x5, 0x6, 32], 6),
    ("__byte_perm", [0x33221100, 0x77665544, 0x7610], 0x77661100),
    ("__usad", [3, 10, 100], 107),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), INTRINSICS)
def test_intrinsics(function: str, arguments: list[int], expected: int) -> None:
    item = next(item for item in INTEGER if item.name == function)
    operands = [
        np.asarray(value, type_.dtype)
        for value, type_ in zip(arguments, item.operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        assert int(np.asarray(item.function(*operands))) == expected


def test_every_intrinsic_is_tested() -> None:
    assert {item.name for item in INTEGER} == {name for name, _, _ in INTRINSICS}


def test_a_result_near_a_half_is_not_used() -> None:
    sine = next(item for item in APPROXIMATE if item.name == "sinf")
    made = rounded_call(sine, name("x", FLOAT, Grid(-30, 1 << 34)))
    assert made.text == "rintf(sinf(x) * 64.0f)"
    assert evaluate(made, x=np.float32(0.5)) == round(np.sin(0.5) * 64)
    with pytest.raises(Unpredictable):
        evaluate(made, x=np.float32(np.arcsin(10.5 / 64)))


@pytest.mark.parametrize(
    ("source", "value", "type_", "expected"),
    [
        (UNSIGNED, 2**32 - 1, FLOAT, 2.0**32),
        (LONG, 2**53 + 1, DOUBLE, 2.0**53),
        (UNSIGNED_LONG, 2**63 + 5, UNSIGNED, 5),
        (INT, -1, UNSIGNED_LONG, 2**64 - 1),
        (INT, -1, UNSIGNED, 2**32 - 1),
    ],
)
def test_conversions(source: Scalar, value: int, type_: Scalar, expected: float) -> None:
    made = ex.convert(name("a", source), type_)
    assert evaluate(made, a=np.asarray(value, source.dtype)) == expected
