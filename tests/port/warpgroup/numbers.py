"""What matrices are filled with: a rule and a seed, the same here and in the programs.

Element ``i`` of a fill is made of a hash of ``i`` and the seed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

CODES, SPAN, UNIQUE = range(3)
"""One of a list; ``base`` and up to ``span`` more, with a random sign; ``base`` and the index."""


@dataclass(frozen=True)
class Kind:
    """How elements are made from hashes."""

    bytes: int
    rule: int
    codes: tuple[int, ...] = ()
    base: int = 0
    span: int = 1


def _binary16(number: float) -> int:
    return int.from_bytes(struct.pack("<e", number), "little")


def _binary32(number: float) -> int:
    return int.from_bytes(struct.pack("<f", number), "little")


_SMALL = tuple(range(-4, 5))
_E4M3 = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, 4: 0x48}
_E5M2 = {0: 0, 1: 0x3C, 2: 0x40, 3: 0x42, 4: 0x44}


def _bytes(codes: dict[int, int]) -> tuple[int, ...]:
    return tuple(codes[abs(n)] | (0x80 if n < 0 else 0) for n in _SMALL)


KINDS = {
    # Small whole numbers, of which every sum is exact.
    "f16": Kind(2, CODES, tuple(map(_binary16, _SMALL))),
    "bf16": Kind(2, CODES, tuple(_binary32(n) >> 16 for n in _SMALL)),
    "tf32": Kind(4, CODES, tuple(map(_binary32, _SMALL))),
    "e4m3": Kind(1, CODES, _bytes(_E4M3)),
    "e5m2": Kind(1, CODES, _bytes(_E5M2)),
    "f32": Kind(4, CODES, tuple(_binary32(16 * n) for n in _SMALL)),
    "bits": Kind(4, SPAN, span=1 << 31),
    "limits": Kind(4, CODES, (0x7FFFFFF0, 0x80000010, 0x7FFF0000, 0x80010000, 0, 5)),
    # Numbers that are rounded.
    "f16 near 1": Kind(2, SPAN, base=0x3400, span=0x0C00),
    "bf16 near 1": Kind(2, SPAN, base=0x3E80, span=0x0180),
    "tf32 near 1": Kind(4, SPAN, base=0x3E800000, span=0x01800000),
    "e4m3 near 1": Kind(1, SPAN, base=0x28, span=0x20),
    "e5m2 near 1": Kind(1, SPAN, base=0x34, span=0x10),
    "f16 all": Kind(2, SPAN, base=0, span=0x7C00),
    "bf16 all": Kind(2, SPAN, base=0x3000, span=0x2000),
    "bf16 denormal": Kind(2, SPAN, base=0, span=0x0200),
    "tf32 all": Kind(4, SPAN, base=0x30000000, span=0x20000000),
    "e4m3 all": Kind(1, SPAN, base=0, span=0x7F),
    "e5m2 all": Kind(1, SPAN, base=0, span=0x7C),
    "f16 special": Kind(2, CODES, (0x7C00, 0xFC00, 0x7E01, 0, 0x3C00, 0x0001, 0x8000, 0xBC00)),
    "bf16 special": Kind(2, CODES, (0x7F80, 0xFF80, 0x7FC1, 0, 0x3F80, 0x0001, 0x8000, 0xBF80)),
    "e4m3 special": Kind(1, CODES, (0x7F, 0xFF, 0, 0x38, 0x01, 0x80, 0x7E, 0xFE)),
    "e5m2 special": Kind(1, CODES, (0x7C, 0xFC, 0x7F, 0, 0x3C, 0x01, 0x80, 0x7B)),
    "zero": Kind(4, CODES, (0,)),
    "f32 near 1": Kind(4, SPAN, base=0x3E800000, span=0x01800000),
    # Halves that are all different, and finite; the same with the identity where INDICATOR says.
    "unique": Kind(2, UNIQUE, base=0x0400),
    "unique with identity": Kind(2, UNIQUE, base=0x0400),
    # Eight nibbles of metadata: which two of four numbers a row of A has, or which of two.
    "two of four": Kind(
        4,
        CODES,
        (0x4E98DC4E, 0xD84E9C8D, 0x9D8E4C89, 0xC4D9E8E9, 0x888EC9D4, 0xE9D444C8, 0x44444444),
    ),
    "one of two": Kind(4, CODES, (0x4EE4E44E, 0xE4EE4E44, 0x4E4E4E4E, 0xEE44EE44, 0xEEEEEEEE)),
    # Registers of A: row r has a one in column r % 16.
    "identity": Kind(4, CODES, (0,)),
}

IDENTITY_PLACE = 40 * 1024
"""Where "unique with identity" has a 16 × 16 identity matrix, rows of 8 halves; 128 bytes to the
next 8 columns, 256 to the next 8 rows."""
IDENTITY_LEADING, IDENTITY_STRIDE = 128, 256


def hashes(count: int, seed: int) -> Words:
    """32 bits for each element."""
    x = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1)
    x += np.uint32(seed * 0x85EBCA77 & 0xFFFFFFFF)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def filled(name: str, seed: int, words: int) -> bytes:
    """``words`` words of elements, packed."""
    kind = KINDS[name]
    count = 4 * words // kind.bytes
    found = hashes(count, seed)
    if kind.rule == CODES:
        made = np.array(kind.codes, np.uint32)[found % np.uint32(len(kind.codes))]
    elif kind.rule == UNIQUE:
        made = np.uint32(kind.base) + np.arange(count, dtype=np.uint32)
    else:
        sign = (found >> np.uint32(31)) << np.uint32(8 * kind.bytes - 1)
        made = np.uint32(kind.base) + (found & np.uint32(0x7FFFFFFF)) % np.uint32(kind.span) | sign
    return bytes(made.astype(f"<u{kind.bytes}").tobytes())


def checksum(words: Words) -> int:
    """A sum of the words, each by an odd number of its own, modulo 2^64."""
    factors = np.arange(len(words), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C16) + np.uint64(1)
    return int((words.astype(np.uint64) * factors).sum(dtype=np.uint64))
