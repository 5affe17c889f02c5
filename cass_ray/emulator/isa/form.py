"""What the disassembler is asked: a format, an opcode number and the instruction's words.

Formats that gfx9 lays out as gfx11 does are here; the bits that tell them apart are in the first
word ("Microcode formats": RDNA3 ISA, chapter 15; MI300 ISA, chapter 13).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

Form = tuple[str, int, tuple[int, ...]]

SOPC = 0b101111110 << 23
SOPP = 0b101111111 << 23
SOP1 = 0b101111101 << 23
SOP2 = 0b10 << 30
SOPK = 0b1011 << 28
VOP1 = 0b0111111 << 25
VOPC = 0b0111110 << 25
DS = 0b110110 << 26
FLAT = 0b110111 << 26
MUBUF = 0b111000 << 26
MTBUF = 0b111010 << 26

INLINE_ZERO = 128
"""Operand number of the literal 0."""

BOTH_HALVES = 3
"""VOP3P's OP_SEL_HI of the first two sources."""

# Source fields: VGPR numbers are 256 up; 4-aligned SGPRs suit every width.
V1, V2, V3, S1, S2, S3 = 256 + 20, 256 + 40, 256 + 60, 16, 32, 48
SOURCES = [
    third << 18 | second << 9 | first
    for third in (0, V3, S3)
    for second in (0, V2, S2)
    for first in (V1, S1, 0)
]
"""The three sources of VOP3 and VOP3P."""

FLAT_OPERANDS = ((10, 40, 20), (10, 0, 20), (0, 40, 20), (0, 0, 20), (10, 0, 0), (0, 40, 0))
"""Destination, data and address of FLAT."""

LDS_OPERANDS = [
    destination << 24 | data1 << 16 | data0 << 8 | address
    for destination, data1, data0, address in (
        (10, 60, 40, 20),
        (10, 0, 40, 20),
        (10, 0, 0, 20),
        (0, 60, 40, 20),
        (0, 0, 40, 20),
        (0, 0, 0, 20),
        (10, 0, 0, 0),
        (0, 0, 0, 0),
        (0, 0, 20, 0),
        (10, 0, 40, 0),
    )
]
"""The second word of DS."""


SEGMENTS = (("FLAT", 0), ("SCRATCH", 1), ("GLOBAL", 2))
"""Formats of FLAT's encoding, and the bits that choose each."""


def pair(low: int, high: int) -> tuple[int, int]:
    """Two words of 32 bits."""
    return (low & 0xFFFFFFFF, high & 0xFFFFFFFF)


def two_operand_scalar_formats() -> Iterator[Form]:
    """SOP2, SOPC and SOPP."""
    for op in range(0x60):
        yield "SOP2", op, (SOP2 | op << 23 | 8 << 16 | 32 << 8 | 16,)
    for op in range(128):
        for source in (32, 0):
            yield "SOPC", op, (SOPC | op << 16 | source << 8 | 16,)
        for value in (1, 0):
            yield "SOPP", op, (SOPP | op << 16 | value,)


def scalar_formats(null: int, sources: Sequence[tuple[int, int]]) -> Iterator[Form]:
    """SOP1, SOP2, SOPC, SOPK and SOPP; ``sources`` are pairs of destination and source of SOP1."""
    yield from two_operand_scalar_formats()
    for op in range(0x1C):
        yield "SOPK", op, (SOPK | op << 23 | 8 << 16 | 0x0801,)
        yield "SOPK", op, (SOPK | op << 23 | null << 16 | 1,)
        yield "SOPK", op, pair(SOPK | op << 23 | 0x0801, 0x1234)
    for op, (destination, source) in product(range(256), sources):
        yield "SOP1", op, (SOP1 | destination << 16 | op << 8 | source,)


def three_source_formats(word: int, opcodes: int, destinations: Sequence[int]) -> Iterator[Form]:
    """VOP3; ``word`` tells it from other formats."""
    for op, sources in product(range(opcodes), SOURCES):
        for destination in destinations:
            yield "VOP3", op, pair(word | op << 16 | destination, sources)
        yield "VOP3SD", op, pair(word | op << 16 | 12 << 8 | 10, sources)


def packed_formats(word: int, op: int, sources: int) -> Iterator[Form]:
    """VOP3P; ``word`` tells it from other formats."""
    yield "VOP3P", op, pair(word | op << 16 | 1 << 14 | 10, sources | BOTH_HALVES << 27)
    yield "VOP3P", op, pair(word | op << 16 | 10, sources)


def short_vector_formats() -> Iterator[Form]:
    """VOP1, VOP2 and VOPC."""
    for op in range(0x3E):
        word = op << 25 | 10 << 17 | 40 << 9 | V1
        yield "VOP2", op, (word,)
        yield "VOP2", op, pair(word, 0x12345678)
    for op in range(256):
        for destination, source in ((10, V1), (0, 0), (10, S1)):
            yield "VOP1", op, (VOP1 | destination << 17 | op << 9 | source,)
        yield "VOPC", op, (VOPC | op << 17 | 40 << 9 | V1,)
