"""Words to ask LLVM's disassembler about, for every opcode number of every gfx9 format."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cass_ray.emulator.isa.form import (
    DS,
    FLAT,
    FLAT_OPERANDS,
    INLINE_ZERO,
    LDS_OPERANDS,
    MTBUF,
    MUBUF,
    SEGMENTS,
    SOURCES,
    Form,
    packed_formats,
    pair,
    scalar_formats,
    short_vector_formats,
    three_source_formats,
)

# The bits that tell the formats apart (AMD Instinct MI300 ISA, chapter 13, "Microcode formats").
_SMEM = 0b110000 << 26
_VOP3 = 0b110100 << 26
_VOP3P = 0b110100111 << 23

_NO_ADDRESS = 0x7F
"""The scalar address that says that there is none."""


def forms() -> Iterator[Form]:
    """Each opcode number with a few choices of operand fields."""
    yield from _scalar_formats()
    yield from _vector_formats()
    yield from _memory_formats()


def _scalar_formats() -> Iterator[Form]:
    yield from scalar_formats(0, ((8, 16), (8, 0), (0, 16)))
    for op in range(256):
        for destination, base in ((32, 8), (0, 8), (0, 0)):
            for bits in (1 << 17, 3 << 16):
                yield "SMEM", op, pair(_SMEM | op << 18 | bits | destination << 6 | base, 0)
        yield "SMEM", op, pair(_SMEM | op << 18, 0)


def _vector_formats() -> Iterator[Form]:
    yield from short_vector_formats()
    yield from three_source_formats(_VOP3, 0x380, (10, 106, 0))
    for op, sources in product(range(128), SOURCES):
        yield from packed_formats(_VOP3P, op, sources)
        # Results in accumulation registers only.
        yield "VOP3P", op, pair(_VOP3P | op << 16 | 1 << 15 | 10, sources)
        yield "VOP3P", op, pair(_VOP3P | op << 16 | 10, sources | 1 << 27)


def _memory_formats() -> Iterator[Form]:
    for op, fields, gds in product(range(256), LDS_OPERANDS, (0, 1)):
        yield "DS", op, pair(DS | op << 17 | gds << 16, fields)
    flat = (*FLAT_OPERANDS, (0, 0, 0))
    for (name, segment), op, returns, operands in product(SEGMENTS, range(128), (0, 1), flat):
        destination, data, address = operands
        scalar = _NO_ADDRESS if segment else 0
        fields = destination << 24 | scalar << 16 | data << 8 | address
        word = FLAT | op << 18 | segment << 14 | returns << 16
        yield name, op, pair(word, fields)
        if segment == 1 and address:
            yield name, op, pair(word | 1 << 13, fields)
    for op in range(128):
        for returns, (data, address) in product((0, 1), ((10, 20), (0, 0))):
            fields = 4 << 16 | data << 8 | address
            word = MUBUF | op << 18 | returns << 14
            yield "MUBUF", op, pair(word | 1 << 12, INLINE_ZERO << 24 | fields)
            yield "MUBUF", op, pair(word, INLINE_ZERO << 24 | fields)
        yield "MUBUF", op, pair(MUBUF | op << 18, 0)
        yield "MUBUF", op, pair(MUBUF | op << 18 | 1 << 16, INLINE_ZERO << 24 | 4 << 16)
    for op in range(16):
        fields = INLINE_ZERO << 24 | 4 << 16 | 10 << 8 | 20
        yield "MTBUF", op, pair(MTBUF | 5 << 23 | 4 << 19 | op << 15 | 1 << 12, fields)
