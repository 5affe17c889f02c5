"""Words to ask LLVM's disassembler about, for every opcode number of every gfx11 format."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
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
    V1,
    V2,
    V3,
    Form,
    packed_formats,
    pair,
    scalar_formats,
    short_vector_formats,
    three_source_formats,
)

# The bits that tell the formats apart, in the first word (RDNA3 ISA, 15, "Microcode formats").
_SMEM = 0b111101 << 26
_VOP3 = 0b110101 << 26
_VOP3P = 0b11001100 << 24
_VOPD = 0b110010 << 26
_VINTERP = 0b11001101 << 24
_LDSDIR = 0b11001110 << 24
_MIMG = 0b111100 << 26
_EXP = 0b111110 << 26

_NULL = 124
"""Operand number of the null register."""


SCALAR_FORMATS = partial(scalar_formats, _NULL, ((8, 16), (8, 0), (8, 128), (0, 16), (8, 0x80)))
"""SOP1, SOP2, SOPC, SOPK and SOPP."""


def _scalar_memory_format() -> Iterator[Form]:
    for op in range(256):
        for destination in (32, 0):
            yield "SMEM", op, pair(_SMEM | op << 18 | destination << 6 | 8, _NULL << 25)
        yield "SMEM", op, pair(_SMEM | op << 18, 0)


def vector_formats() -> Iterator[Form]:
    """VOP1, VOP2, VOP3, VOP3P, VOPC, VOPD, and two that only graphics uses."""
    yield from short_vector_formats()
    yield from three_source_formats(_VOP3, 1024, (10, 126, 0))
    for op, sources in product(range(128), SOURCES):
        yield from packed_formats(_VOP3P, op, sources)
    # The other half is a v_dual_mul_f32, op 3.
    for op, source in product(range(16), (41, 0)):
        word = _VOPD | op << 22 | 3 << 17 | source << 9 | V1
        fields = 10 << 24 | 6 << 17 | 42 << 9 | V1 + 1
        yield "VOPDX", op, pair(word, fields)
        yield "VOPDX", op, (*pair(word, fields), 0x12345678)
    for op, source in product(range(32), (42, 0)):
        word = _VOPD | 3 << 22 | op << 17 | 41 << 9 | V1
        fields = 10 << 24 | 6 << 17 | source << 9 | V1 + 1
        yield "VOPDY", op, pair(word, fields)
        yield "VOPDY", op, (*pair(word, fields), 0x12345678)
    for op in range(128):
        yield "VINTERP", op, pair(_VINTERP | op << 16 | 10, V3 << 18 | V2 << 9 | V1)
    for op in range(4):
        yield "LDSDIR", op, (_LDSDIR | op << 20 | 10,)


def lds_format() -> Iterator[Form]:
    """DS."""
    for op, fields, gds in product(range(256), LDS_OPERANDS, (0, 1)):
        yield "DS", op, pair(DS | op << 18 | gds << 17, fields)


def _memory_formats() -> Iterator[Form]:
    for (name, segment), op, glc, operands in product(SEGMENTS, range(128), (0, 1), FLAT_OPERANDS):
        destination, data, address = operands
        fields = destination << 24 | _NULL << 16 | data << 8 | address
        word = FLAT | op << 18 | segment << 16 | glc << 14
        yield name, op, pair(word, fields)
        if segment == 1 and address:
            yield name, op, pair(word, fields | 1 << 23)
    for op in range(256):
        yield "MUBUF", op, pair(MUBUF | op << 18, 0)
    for op, glc, (data, address) in product(range(256), (0, 1), ((10, 20), (0, 0))):
        word, fields = MUBUF | op << 18 | glc << 14, 4 << 16 | data << 8 | address
        yield "MUBUF", op, pair(word, INLINE_ZERO << 24 | 1 << 22 | fields)
        yield "MUBUF", op, pair(word, fields)
    for op in range(16):
        fields = INLINE_ZERO << 24 | 1 << 22 | 4 << 16 | 10 << 8 | 20
        yield "MTBUF", op, pair(MTBUF | 22 << 19 | op << 15, fields)
    for op in range(256):
        for mask, dimension, glc in product((0xF, 1, 3), (1, 0), (0, 1)):
            word = _MIMG | op << 18 | glc << 14 | mask << 8 | dimension << 2
            yield "MIMG", op, pair(word, 2 << 26 | 4 << 16 | 10 << 8 | 20)
        yield "MIMG", op, pair(_MIMG | op << 18 | 0xF << 8 | 1 << 7, 4 << 16 | 10 << 8 | 20)
    yield "EXP", 0, pair(_EXP | 0xF, 0x04030201)
    yield "EXP", 0, pair(_EXP | 1 << 4 | 0xF, 0x04030201)


def forms() -> Iterator[Form]:
    """Each opcode number with a few choices of operand fields."""
    yield from SCALAR_FORMATS()
    yield from _scalar_memory_format()
    yield from vector_formats()
    yield from lds_format()
    yield from _memory_formats()
