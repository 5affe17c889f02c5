"""Scalar types of generated programs, and what is known of a value before the program runs.

Bounds are what keeps programs well defined: a signed operation is written plainly only where its
result cannot overflow, a product of floats only where it is exact (so that contracting it into a
fused multiply-add changes nothing), and no value can become infinite, NaN or subnormal.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
"""One value for each thread, or one for all of them (no dimensions)."""


class ScalarKind(Enum):
    """Families of scalar types."""

    BOOLEAN = auto()
    SIGNED = auto()
    UNSIGNED = auto()
    FLOAT = auto()


@dataclass(frozen=True)
class Scalar:
    """A scalar type: its spelling in CUDA, its NumPy type, and its bits.

    ``precision`` counts the significant bits of a float, the implicit one included.
    """

    name: str
    dtype: np.dtype[np.generic]
    kind: ScalarKind
    bits: int
    precision: int = 0
    suffix: str = ""
    """Of literals."""

    @property
    def is_integer(self) -> bool:
        return self.kind in (ScalarKind.SIGNED, ScalarKind.UNSIGNED)

    def same(self, other: Scalar) -> bool:
        """Whether both are one type. A template's ``T`` is only itself, whatever it stands for."""
        return self.dtype == other.dtype and (self.name == "T") == (other.name == "T")


def _integer(name: str, dtype: str, suffix: str = "") -> Scalar:
    made = np.dtype(dtype)
    kind = ScalarKind.SIGNED if made.kind == "i" else ScalarKind.UNSIGNED
    return Scalar(name, made, kind, made.itemsize * 8, suffix=suffix)


BOOL = Scalar("bool", np.dtype(np.bool_), ScalarKind.BOOLEAN, 1)
BYTE = _integer("unsigned char", "u1")
SHORT = _integer("short", "i2")
INT = _integer("int", "i4")
UNSIGNED = _integer("unsigned int", "u4", "u")
LONG = _integer("long long", "i8", "ll")
UNSIGNED_LONG = _integer("unsigned long long", "u8", "ull")
HALF = Scalar("__half", np.dtype(np.float16), ScalarKind.FLOAT, 16, 11)
FLOAT = Scalar("float", np.dtype(np.float32), ScalarKind.FLOAT, 32, 24, "f")
DOUBLE = Scalar("double", np.dtype(np.float64), ScalarKind.FLOAT, 64, 53)

COMPUTED = (INT, UNSIGNED, LONG, UNSIGNED_LONG, FLOAT, DOUBLE, HALF)
"""Types of variables; ``BYTE`` and ``SHORT`` are only stored, so promotion never decides."""


@dataclass(frozen=True)
class ValueRange:
    """Integers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def within(self, other: ValueRange) -> bool:
        """Whether every value is one of ``other``'s."""
        return other.low <= self.low and self.high <= other.high

    def union(self, other: ValueRange) -> ValueRange:
        """The smallest span of both."""
        return ValueRange(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class Grid:
    """Floats that are multiples of ``2**grain``, of magnitude at most ``most * 2**grain``."""

    grain: int
    most: int

    def at(self, grain: int) -> int:
        """``most`` in units of ``2**grain``, which must not be coarser; rounded up where it is."""
        shift = self.grain - grain
        return self.most << shift if shift >= 0 else -(-self.most >> -shift)

    def union(self, other: Grid) -> Grid:
        """The smallest grid of both."""
        grain = min(self.grain, other.grain)
        return Grid(grain, max(self.at(grain), other.at(grain)))

    def within(self, other: Grid) -> bool:
        return self.grain >= other.grain and self.at(other.grain) <= other.most

    def exact(self, precision: int) -> bool:
        """Whether a float of ``precision`` bits holds every value."""
        return self.most <= 1 << precision

    def rounded(self, precision: int) -> Grid:
        """After rounding to ``precision`` bits: only magnitudes can grow, to a power of two."""
        return self if self.exact(precision) else Grid(self.grain, 1 << self.most.bit_length())

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return float(self.most) * 2.0**self.grain

    @property
    def exponent(self) -> int:
        """The smallest ``e`` with every magnitude at most ``2**e``."""
        return (self.most - 1).bit_length() + self.grain if self.most > 0 else self.grain


Bounds = ValueRange | Grid


def full_span(type_: Scalar) -> ValueRange:
    """Every value of an integer type."""
    if type_.kind is ScalarKind.SIGNED:
        return ValueRange(-(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1)
    return ValueRange(0, (1 << type_.bits) - 1)


WORKING_GRIDS = {
    HALF.dtype: Grid(-10, 1 << 21),
    FLOAT.dtype: Grid(-70, 1 << 150),
    DOUBLE.dtype: Grid(-400, 1 << 800),
}
"""The widest bounds that an expression may have. Within them nothing overflows or is subnormal:
halfs stay below 2**12 and above 2**-14, floats below 2**81 and above 2**-126."""

VARIABLE_GRIDS = {
    HALF.dtype: Grid(-3, 1 << 9),
    FLOAT.dtype: Grid(-6, 1 << 16),
    DOUBLE.dtype: Grid(-12, 1 << 32),
}
"""Bounds that variables keep, whatever is assigned to them."""


_EXPONENTS = {HALF.dtype: (-14, 15), FLOAT.dtype: (-126, 127), DOUBLE.dtype: (-1000, 1000)}


def normal(type_: Scalar, grid: Grid) -> Grid:
    """``grid``, if every nonzero value on it is a normal, finite number of ``type_``.

    Raises:
        ValueError: one may overflow or be subnormal.
    """
    least, most = _EXPONENTS[type_.dtype]
    if grid.grain < least or grid.exponent > most:
        raise ValueError(f"a {type_.name} may overflow or be subnormal")
    return grid


def holds(bounds: Bounds, values: Values) -> bool:
    """Whether every one of ``values`` keeps ``bounds``: what the checked evaluation asserts."""
    if not values.size:
        return True
    if isinstance(bounds, ValueRange):
        return bounds.low <= int(values.min()) and int(values.max()) <= bounds.high
    scaled = np.ldexp(values.astype(np.float64), -bounds.grain)
    finite = bool(np.isfinite(scaled).all())
    return finite and bool((scaled == np.rint(scaled)).all() and (abs(scaled) <= bounds.most).all())
