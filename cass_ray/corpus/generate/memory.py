"""Arrays of a generated program: what the host fills them with, and how it prints them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from cass_ray.corpus.generate.machine import KernelArray
from cass_ray.corpus.generate.types import (
    BYTE,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UNSIGNED,
    UNSIGNED_LONG,
    Bounds,
    Grid,
    Scalar,
    ScalarKind,
    ValueRange,
    Values,
)

INPUT_TYPES = (INT, UNSIGNED, FLOAT, DOUBLE, HALF, LONG, UNSIGNED_LONG, SHORT, BYTE)

FORMATS = {
    BYTE.dtype: "%d",
    SHORT.dtype: "%d",
    INT.dtype: "%d",
    UNSIGNED.dtype: "%u",
    LONG.dtype: "%lld",
    UNSIGNED_LONG.dtype: "%llu",
    FLOAT.dtype: "%.9g",
    HALF.dtype: "%.9g",
    DOUBLE.dtype: "%.17g",
}
"""Floats print with the digits that tell any two of them apart."""


@dataclass(frozen=True)
class Fill:
    """``(i * factor + start) % modulus - offset``, in floats times ``2**-halvings``."""

    factor: int
    start: int
    modulus: int
    offset: int
    halvings: int = 0

    def expression(self, type_: Scalar) -> str:
        """In C++, of an ``unsigned int`` called ``i``."""
        whole = f"(i * {self.factor}u + {self.start}u) % {self.modulus}u"
        if type_.kind is ScalarKind.UNSIGNED:
            return f"({type_.name})({whole})"
        signed = f"(int)({whole})" + (f" - {self.offset}" if self.offset else "")
        if type_.kind is ScalarKind.SIGNED:
            return f"({type_.name})({signed})"
        scale = f"{2.0**-self.halvings!r}{'f' if type_ is not DOUBLE else ''}"
        value = f"({'double' if type_ is DOUBLE else 'float'})({signed}) * {scale}"
        return f"__float2half({value})" if type_ is HALF else value

    def values(self, type_: Scalar, size: int) -> Values:
        i = np.arange(size, dtype=np.uint32)
        whole = (i * np.uint32(self.factor) + np.uint32(self.start)) % np.uint32(self.modulus)
        shifted = whole.astype(np.int64) - self.offset
        if type_.kind is ScalarKind.FLOAT:
            return (shifted * 2.0**-self.halvings).astype(type_.dtype)
        return shifted.astype(type_.dtype)

    def bounds(self, type_: Scalar) -> Bounds:
        low, high = -self.offset, self.modulus - 1 - self.offset
        if type_.kind is ScalarKind.FLOAT:
            return Grid(-self.halvings, max(abs(low), abs(high)))
        return ValueRange(low, high)


def random_fill(type_: Scalar, rng: random.Random) -> Fill:
    """A formula whose values fit the type; of floats exactly."""
    most = {BYTE.dtype: 251, SHORT.dtype: 9973, HALF.dtype: 127}.get(type_.dtype, 65_521)
    modulus = rng.choice([m for m in (17, 61, 97, 127, 251, 997, 4093, 9973, 65_521) if m <= most])
    offset = 0
    if type_.kind is not ScalarKind.UNSIGNED and rng.random() < 0.6:
        offset = modulus // 2
    halvings = rng.randint(0, 4) if type_.kind is ScalarKind.FLOAT else 0
    return Fill(rng.randrange(3, 9999, 2), rng.randrange(0, 500), modulus, offset, halvings)


@dataclass(frozen=True)
class Array:
    """An array in global or constant memory. Without ``fill`` it starts as ``start`` throughout."""

    place: KernelArray
    fill: Fill | None = None
    start: int = 0
    printed: bool = False

    def initial(self) -> Values:
        if self.fill is not None:
            return self.fill.values(self.place.type, self.place.size)
        return np.full(self.place.size, self.start, dtype=self.place.type.dtype)


def as_words(values: Values) -> Values:
    """Each value as 64 unsigned bits: integers converted, floats by their bits, -0 as 0."""
    if values.dtype.kind != "f":
        return values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else (
            values.astype(np.uint64))  # fmt: skip
    positive = np.asarray(values.astype(np.float64) + 0.0)
    if values.dtype == np.float64:
        return positive.view(np.uint64)
    return positive.astype(np.float32).view(np.uint32).astype(np.uint64)


def polynomial(words: Values, base: int, start: int) -> int:
    """``h = h * base + word`` over all words, from ``start``, modulo ``2**64``."""
    powers = np.full(words.size + 1, base, dtype=np.uint64)
    powers[0] = 1
    powers = np.multiply.accumulate(powers)
    total = (words * powers[:-1][::-1]).sum(dtype=np.uint64)
    return (int(total) + start * int(powers[-1])) % 2**64


def fowler(words: Values) -> int:
    """FNV-1a over whole words."""
    state = 0xCBF29CE484222325
    for word in words.tolist():
        state = (state ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def weighted(words: Values) -> int:
    """The sum of ``word * (2 i + 1)``, modulo ``2**64``."""
    odd = np.arange(words.size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return int((words * odd).sum(dtype=np.uint64))


def shown(value: float, type_: Scalar) -> str:
    """One value, as ``printf`` prints it."""
    if type_.kind is ScalarKind.FLOAT:
        text: str = FORMATS[type_.dtype] % (float(value) + 0.0)
        return text
    return str(int(value))
