"""Types of arguments and results, and the values that functions are asked about."""

from __future__ import annotations

import functools
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """Numbers of one size and format: ``exponent`` bits of a floating-point number, else 0."""

    bits: int
    exponent: int = 0
    is_signed: bool = False
    top: int | None = None
    """The greatest bits of one that does not use all of them: a truth value, an enumerator."""

    @property
    def mantissa(self) -> int:
        return self.bits - 1 - self.exponent

    def is_nan(self, word: int) -> bool:
        """Whether ``word`` is the pattern of no number, in a format of IEEE 754."""
        infinity = ((1 << self.exponent) - 1) << self.mantissa
        return bool(self.exponent) and word & ~(1 << (self.bits - 1)) > infinity

    def place(self, word: int) -> int:
        """The number ``word`` counted from zero in the order of the numbers of this kind."""
        size = word & ~(1 << (self.bits - 1))
        return -size if word >> (self.bits - 1) else size


F16, BF16 = Kind(16, 5), Kind(16, 8)
F32, F64 = Kind(32, 8), Kind(64, 11)
_SIGNED = {bits: Kind(bits, is_signed=True) for bits in (8, 16, 32, 64)}
_UNSIGNED = {bits: Kind(bits) for bits in (8, 16, 32, 64)}
_TRUTH, _CHOICE = Kind(8, top=1), Kind(32, top=1)
ORDER = Kind(32, top=7)
"""The order of a Bessel function, which takes as many steps."""

_SCALARS = {
    "bool": _TRUTH,
    "char": _SIGNED[8],
    "signed char": _SIGNED[8],
    "unsigned char": _UNSIGNED[8],
    "short": _SIGNED[16],
    "short int": _SIGNED[16],
    "unsigned short": _UNSIGNED[16],
    "unsigned short int": _UNSIGNED[16],
    "int": _SIGNED[32],
    "unsigned int": _UNSIGNED[32],
    "unsigned": _UNSIGNED[32],
    "long": _SIGNED[64],
    "long int": _SIGNED[64],
    "unsigned long": _UNSIGNED[64],
    "unsigned long int": _UNSIGNED[64],
    "long long": _SIGNED[64],
    "long long int": _SIGNED[64],
    "unsigned long long": _UNSIGNED[64],
    "unsigned long long int": _UNSIGNED[64],
    "float": F32,
    "double": F64,
    "__half": F16,
    "half": F16,
    "__half_raw": F16,
    "__nv_bfloat16": BF16,
    "__nv_bfloat16_raw": BF16,
    "__nv_fp8_storage_t": _UNSIGNED[8],
    "__nv_fp8x2_storage_t": _UNSIGNED[16],
    "__nv_fp8x4_storage_t": _UNSIGNED[32],
    "__nv_saturation_t": _CHOICE,
    "__nv_fp8_interpretation_t": _CHOICE,
}
_PAIRS = {
    "__half2": F16,
    "__half2_raw": F16,
    "__nv_bfloat162": BF16,
    "__nv_bfloat162_raw": BF16,
    "float2": F32,
    "double2": F64,
    "short2": _SIGNED[16],
    "ushort2": _UNSIGNED[16],
    "int2": _SIGNED[32],
    "uint2": _UNSIGNED[32],
}
_FOURS = {"float4": F32, "char4": _SIGNED[8], "uchar4": _UNSIGNED[8]}
TYPES: dict[str, tuple[Kind, ...]] = {
    **{name: (kind,) for name, kind in _SCALARS.items()},
    **{name: (kind, kind) for name, kind in _PAIRS.items()},
    **{name: (kind,) * 4 for name, kind in _FOURS.items()},
}
"""Type -> what it consists of, from its lowest byte on."""

ROWS = 512
"""How many tuples of arguments each function gets."""
SLOT = 16
"""Bytes of an argument or a result in memory."""


@functools.cache
def edges(kind: Kind) -> tuple[int, ...]:
    """Bits of numbers where functions change what they do."""
    if kind.top is not None:
        return tuple(range(kind.top + 1))
    if not kind.exponent:
        return tuple(sorted(_edges_of_integers(kind.bits)))
    return tuple(sorted(_edges_of_floats(kind)))


def _edges_of_integers(bits: int) -> Iterator[int]:
    mask = (1 << bits) - 1
    for value in (0, 1, 2, 3, 7, 8, 10, 31, 32, 33, 63, 64, 100, 127, 128, 255, 32768, 65535):
        yield value & mask
        yield -value & mask
    for power in range(7, bits, 4):
        yield from ((1 << power) - 1, 1 << power, (1 << power) + 1)
    # Half way between two numbers of 8, 11, 24 and 53 bits, and on either side.
    for digits in (8, 11, 24, 53):
        for above in (1, 2, 10, 40):
            if digits + above < bits:
                tie = (1 << (digits + above)) + (1 << above - 1)
                yield from (tie - 1, tie, tie + 1, -tie & mask, tie + (1 << above))
    yield from (mask, mask >> 1, (mask >> 1) + 1, 0x5555555555555555 & mask)


def _edges_of_floats(kind: Kind) -> Iterator[int]:
    infinity = ((1 << kind.exponent) - 1) << kind.mantissa
    one = ((1 << (kind.exponent - 1)) - 1) << kind.mantissa
    step = 1 << kind.mantissa
    sizes = [0, 1, 2, step // 2, step - 1, step, step + 1, infinity - 1, infinity, infinity + 1]
    sizes += [infinity | step // 2, infinity | step - 1, one, one - 1, one + 1]
    for value in (0.1, 0.25, 0.49, 0.5, 0.75, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.5, 7.0, 10.0, 88.7):
        sizes.append(nearest(kind, value))
    for value in (127.5, 128.5, 255.5, 256.0, 1000.0, 32767.5, 32768.0, 65504.0, 65519.0, 65520.0):
        sizes.append(nearest(kind, value))
    for power in (-149, -126, -25, -24, -14, 23, 24, 31, 32, 52, 53, 62, 63, 64):
        size = one + power * step
        if 0 < size < infinity:
            sizes += [size - 1, size, size + 1, size + step // 2]
    if kind.bits > 16:  # half way between two halves, and between two bfloat16 numbers
        for digits in (7, 10, 23):
            if digits < kind.mantissa:
                tie = one | 1 << (kind.mantissa - digits - 1)
                sizes += [tie - 1, tie, tie + 1, tie + (1 << (kind.mantissa - digits))]
    for size in sizes:
        yield size
        yield size | 1 << (kind.bits - 1)


def nearest(kind: Kind, value: float) -> int:
    """Bits of the number of ``kind`` next to ``value`` towards zero."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    if kind == F64:
        return int(bits)
    exponent = (bits >> 52) - 1023 + (1 << (kind.exponent - 1)) - 1
    if not 0 < exponent < (1 << kind.exponent) - 1:
        return 0
    fraction = (bits & ((1 << 52) - 1)) >> (52 - kind.mantissa)
    return int(exponent << kind.mantissa | fraction)


def _drawn(kind: Kind, draw: random.Random) -> int:
    """One of the edges, one of moderate size, or any bits."""
    choice = draw.random()
    if choice < 0.5 or kind.top is not None:
        return draw.choice(edges(kind))
    if choice < 0.75:
        if not kind.exponent:
            return draw.randrange(-300, 300) & ((1 << kind.bits) - 1)
        size = nearest(kind, 2.0 ** draw.uniform(-6, 6))
        return size | draw.getrandbits(1) << (kind.bits - 1)
    return draw.getrandbits(kind.bits)


def rows(arguments: tuple[tuple[Kind, ...], ...]) -> list[tuple[tuple[int, ...], ...]]:
    """:data:`ROWS` tuples of arguments: the same ones for the same types, and few twice.

    A single number takes each edge.
    """
    draw = random.Random(repr(arguments))
    found: list[tuple[tuple[int, ...], ...]] = []
    if len(arguments) == 1 and len(arguments[0]) == 1:
        found += [((bits,),) for bits in edges(arguments[0][0])]
    while len(found) < ROWS:
        found.append(tuple(tuple(_drawn(part, draw) for part in each) for each in arguments))
    return found[:ROWS]


def packed(arguments: tuple[tuple[Kind, ...], ...]) -> bytes:
    """The tuples of :func:`rows` as memory, :data:`SLOT` bytes for each argument."""
    data = bytearray()
    for row in rows(arguments):
        for kinds, words in zip(arguments, row, strict=True):
            data += pack(kinds, words)
    return bytes(data)


def pack(kinds: tuple[Kind, ...], words: tuple[int, ...]) -> bytes:
    """One argument as memory."""
    parts = zip(kinds, words, strict=True)
    data = b"".join(word.to_bytes(kind.bits // 8, "little") for kind, word in parts)
    return data.ljust(SLOT, b"\0")


def unpack(kinds: tuple[Kind, ...], data: bytes) -> tuple[int, ...]:
    """The words of one result in memory."""
    words, place = [], 0
    for kind in kinds:
        words.append(int.from_bytes(data[place : place + kind.bits // 8], "little"))
        place += kind.bits // 8
    return tuple(words)
