"""Functions of CUDA that generated programs call, with their values in NumPy.

Definitions are those of the CUDA Math API and the CUDA C++ Programming Guide. Functions whose last
bits differ between vendors (``APPROXIMATE``) are only used rounded to an integer, where the exact
result is not close to a half.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cass_ray.corpus.generate.expressions import Expression, Operation, literal
from cass_ray.corpus.generate.machine import LaunchState, Unpredictable
from cass_ray.corpus.generate.types import (
    DOUBLE,
    FLOAT,
    INT,
    UNSIGNED,
    UNSIGNED_LONG,
    Grid,
    Scalar,
    ValueRange,
    Values,
    full_span,
)


def _count_bits(values: Values) -> Values:
    return np.bitwise_count(values).astype(np.int32)


def _leading_zeros(values: Values) -> Values:
    smeared: Values = np.asarray(values)
    bits = smeared.dtype.itemsize * 8
    step = 1
    while step < bits:
        smeared = smeared | (smeared >> smeared.dtype.type(step))
        step *= 2
    return bits - _count_bits(smeared)


def _first_set(values: Values) -> Values:
    """1 + position of the lowest set bit; 0 for 0."""
    lowest = values & (~values + values.dtype.type(1))
    bits = values.dtype.itemsize * 8
    return np.where(values == 0, 0, bits - _leading_zeros(lowest)).astype(np.int32)


def _reversed(values: Values) -> Values:
    bits = values.dtype.itemsize * 8
    kind = values.dtype.type
    out = np.zeros_like(values)
    for position in range(bits):
        bit = (values >> kind(position)) & kind(1)
        out = out | (bit << kind(bits - 1 - position))
    return out


def _high_product(left: Values, right: Values) -> Values:
    wide: Values = left.astype(np.uint64) * right.astype(np.uint64)
    return (wide >> np.uint64(32)).astype(np.uint32)


def _high_product_signed(left: Values, right: Values) -> Values:
    return ((left.astype(np.int64) * right.astype(np.int64)) >> np.int64(32)).astype(np.int32)


def _funnel_left(low: Values, high: Values, amount: Values) -> Values:
    both = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    moved = both << (amount.astype(np.uint64) & np.uint64(31))
    return (moved >> np.uint64(32)).astype(np.uint32)


def _funnel_right(low: Values, high: Values, amount: Values) -> Values:
    both = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    return (both >> (amount.astype(np.uint64) & np.uint64(31))).astype(np.uint32)


def _permute_bytes(left: Values, right: Values, selector: Values) -> Values:
    source = (right.astype(np.uint64) << np.uint64(32)) | left.astype(np.uint64)
    out: Values = np.zeros_like(source)
    for place in range(4):
        chosen = (selector.astype(np.uint64) >> np.uint64(4 * place)) & np.uint64(7)
        byte = (source >> (chosen * np.uint64(8))) & np.uint64(255)
        out = out | (byte << np.uint64(8 * place))
    return out.astype(np.uint32)


def _difference_sum(left: Values, right: Values, addend: Values) -> Values:
    return np.where(left > right, left - right, right - left) + addend


_error_function = np.vectorize(math.erf, otypes=[np.float64])


def _low_product_24(left: Values, right: Values) -> Values:
    mask = np.uint32(0xFFFFFF)
    return (left & mask) * (right & mask)


@dataclass(frozen=True)
class Intrinsic:
    """An integer function of CUDA."""

    name: str
    operands: tuple[Scalar, ...]
    result: Scalar
    span: ValueRange
    function: Callable[..., Values]


def _bit_function(
    name: str, operand: Scalar, most: int, function: Callable[..., Values]
) -> Intrinsic:
    return Intrinsic(name, (operand,), INT, ValueRange(0, most), function)


_WORD = full_span(UNSIGNED)
_TWO, _THREE = (UNSIGNED,) * 2, (UNSIGNED,) * 3

INTEGER: tuple[Intrinsic, ...] = (
    _bit_function("__popc", UNSIGNED, 32, _count_bits),
    _bit_function("__popcll", UNSIGNED_LONG, 64, _count_bits),
    _bit_function("__clzll", UNSIGNED_LONG, 64, _leading_zeros),
    _bit_function("__clz", UNSIGNED, 32, _leading_zeros),
    _bit_function("__ffs", UNSIGNED, 32, _first_set),
    Intrinsic("__mulhi", (INT, INT), INT, full_span(INT), _high_product_signed),
    Intrinsic("__brev", (UNSIGNED,), UNSIGNED, _WORD, _reversed),
    Intrinsic("__brevll", (UNSIGNED_LONG,), UNSIGNED_LONG, full_span(UNSIGNED_LONG), _reversed),
    Intrinsic("__umulhi", _TWO, UNSIGNED, _WORD, _high_product),
    Intrinsic("__umul24", _TWO, UNSIGNED, _WORD, _low_product_24),
    Intrinsic("__funnelshift_l", _THREE, UNSIGNED, _WORD, _funnel_left),
    Intrinsic("__funnelshift_r", _THREE, UNSIGNED, _WORD, _funnel_right),
    Intrinsic("__byte_perm", _THREE, UNSIGNED, _WORD, _permute_bytes),
    Intrinsic("__usad", _THREE, UNSIGNED, _WORD, _difference_sum),
)

WHOLE: dict[str, Callable[..., Values]] = {
    "floorf": np.floor,
    "ceilf": np.ceil,
    "truncf": np.trunc,
    "rintf": np.rint,
}


@dataclass(frozen=True)
class Approximate:
    """A function with an error of a few units in the last place.

    Arguments are of magnitude at most ``2**exponent``, and at least ``positive`` where that is not
    0. Results, times ``scale``, are of magnitude at most ``most``.
    """

    name: str
    function: Callable[..., Values]
    exponent: int
    scale: int
    most: int
    positive: float = 0.0


APPROXIMATE: tuple[Approximate, ...] = (
    Approximate("sinf", np.sin, 4, 64, 65),
    Approximate("cosf", np.cos, 4, 64, 65),
    Approximate("tanhf", np.tanh, 3, 128, 129),
    Approximate("expf", np.exp, 2, 8, 440),
    Approximate("exp2f", np.exp2, 3, 4, 1030),
    Approximate("logf", np.log, 6, 32, 150, positive=1.0),
    Approximate("log2f", np.log2, 6, 16, 120, positive=1.0),
    Approximate("cbrtf", np.cbrt, 8, 16, 110, positive=1.0),
    Approximate("rsqrtf", lambda x: 1 / np.sqrt(x), 8, 256, 257, positive=1.0),
    Approximate("atanf", np.arctan, 6, 64, 105),
    Approximate("erff", _error_function, 2, 64, 65),
)

_CLOSE = {FLOAT.dtype: 2.0**-18, DOUBLE.dtype: 2.0**-40}
"""A scaled result this close to a half, in units of its size or of 1, is not used."""


@dataclass(frozen=True, eq=False)
class RoundedCall(Operation):
    """``rintf(f(x) * scale)``."""

    tolerance: float = 0.0

    def value(self, machine: LaunchState) -> Values:
        """The exact result, rounded. Raises :class:`Unpredictable` where it is close to a half."""
        (operand,) = self.operands
        exact = np.asarray(self.function(operand.value(machine).astype(np.float64)))
        from_half = np.abs(np.abs(exact - np.floor(exact)) - 0.5)
        close = from_half < self.tolerance * np.maximum(1.0, np.abs(exact))
        if (close & machine.mask).any():
            raise Unpredictable(self.text)
        rounded: Values = np.rint(exact)
        return rounded.astype(self.type.dtype)


def rounded_call(item: Approximate, operand: Expression) -> RoundedCall:
    """``item`` of ``operand``, scaled and rounded to an integer."""
    type_ = operand.type
    suffix = "f" if type_.same(FLOAT) else ""
    name = item.name.removesuffix("f") + suffix
    factor = literal(float(item.scale), type_)
    text = f"rint{suffix}({name}({operand.text}) * {factor.text})"

    def scaled(values: Values) -> Values:
        return np.asarray(item.function(values) * item.scale)

    return RoundedCall(
        text, type_, Grid(0, item.most), True, scaled, (operand,), _CLOSE[type_.dtype]
    )
