"""Single-precision results of constants, computed while code is lifted.

LLVM does not look into instructions whose mode is switched, nor into those of the special function
unit, and ptxas leaves both with constant operands: of ``expf(2)`` five instructions and a MUFU.

Numbers are bits of IEEE 754's binary32. Only what does not hang on how denormal numbers, zeros and
infinities are treated is computed: operands that are normal numbers or zeros, results that are
normal numbers.
"""

from __future__ import annotations

import decimal
from fractions import Fraction

from cass_ray.assembly.wave_mode import Rounding

_FRACTION_BITS = 23
_LEAST_EXPONENT, _MOST_EXPONENT = -126, 127
_DIGITS = 60
"""Decimal ones, of which single precision has nine: that a result lies so near to the middle of
two numbers that these do not tell is not to be expected."""
_POWERS_FROM, _POWERS_TO = Fraction(-126), Fraction(128)


def number_of(bits: int) -> Fraction | None:
    """The number; None for denormal numbers, infinities and NaN."""
    exponent, fraction = bits >> _FRACTION_BITS & 0xFF, bits & (1 << _FRACTION_BITS) - 1
    if exponent == 0 and fraction == 0:
        return Fraction(0)
    if exponent in (0, 0xFF):
        return None
    size = Fraction(fraction | 1 << _FRACTION_BITS) * Fraction(2) ** (exponent - 150)
    return -size if bits >> 31 else size


def rounded(number: Fraction, rounding: Rounding) -> int | None:
    """The bits of ``number`` in single precision; None for zero, and beyond normal numbers."""
    if number == 0:
        return None
    size = abs(number)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    if exponent < _LEAST_EXPONENT:  # whether it is flushed hangs on when that is looked at
        return None
    whole, rest = divmod(size / Fraction(2) ** (exponent - _FRACTION_BITS), 1)
    if rounding is Rounding.NEAREST_EVEN:
        away = (rest, whole % 2) > (Fraction(1, 2), 0)
    else:
        outwards = Rounding.DOWN if number < 0 else Rounding.UP
        away = rounding is outwards and rest > 0
    whole += away
    if whole == 1 << _FRACTION_BITS + 1:
        whole, exponent = whole >> 1, exponent + 1
    if exponent > _MOST_EXPONENT:
        return None
    sign = 1 << 31 if number < 0 else 0
    return sign | (exponent + 126 << _FRACTION_BITS) + whole


def arithmetic(operation: str, operands: list[int], rounding: Rounding) -> int | None:
    """``fadd``, ``fmul`` or ``llvm.fma.f32``; None for what is not computed here."""
    numbers = [number_of(each) for each in operands]
    constants = [each for each in numbers if each is not None]
    if len(constants) < len(numbers):
        return None
    if operation == "fadd":
        return rounded(constants[0] + constants[1], rounding)
    if operation == "fmul":
        return rounded(constants[0] * constants[1], rounding)
    if operation == "llvm.fma.f32":
        return rounded(constants[0] * constants[1] + constants[2], rounding)
    return None


def saturated(bits: int) -> int | None:
    """Clamped to [0, 1]; None for denormal numbers, infinities and NaN."""
    number = number_of(bits)
    if number is None:
        return None
    return 0 if number <= 0 else min(bits, 0x3F800000)


def power_of_two(bits: int) -> int | None:
    """2 to the power of the number, rounded to nearest: MUFU.EX2 is within two units of that."""
    number = number_of(bits)
    if number is None or not _POWERS_FROM <= number < _POWERS_TO:
        return None
    with decimal.localcontext(prec=_DIGITS):
        exponent = decimal.Decimal(number.numerator) / number.denominator
        power = Fraction((exponent * decimal.Decimal(2).ln()).exp())
    if number.denominator == 1:
        power = Fraction(2) ** int(number)
    return rounded(power, Rounding.NEAREST_EVEN)
