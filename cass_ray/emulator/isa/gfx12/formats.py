"""Words to ask LLVM's disassembler about, for every opcode number of every gfx12 format.

Scalar, vector and LDS formats are laid out as gfx11's; those of memory are new.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cass_ray.emulator.isa.form import SEGMENTS, SOP2, Form, pair
from cass_ray.emulator.isa.gfx11.formats import SCALAR_FORMATS, lds_format, vector_formats

# The bits that tell the formats apart, in the first word (RDNA4 ISA, 15, "Microcode formats").
_SMEM = 0b111101 << 26
_VBUFFER = 0b110001 << 26
_VFLAT = 0b111011 << 26
_VIMAGE = 0b110100 << 26
_VSAMPLE = 0b111001 << 26
_VEXPORT = 0b111110 << 26

_NULL = 124
"""The null register, as a scalar address and offset."""

_FIRST_TYPED = 128
"""Buffer instructions from this opcode on name a data format."""

_FIRST_SAMPLING = 256
"""Opcodes of the engine's table: VSAMPLE's are this much higher than in the instruction."""

_IMAGE_ADDRESSES = (0x17161514, 0x00161514, 0x00001514, 0x00000014)
"""Four address registers down to one: LLVM takes the fields of unused ones for zero."""


def forms() -> Iterator[Form]:
    """Each opcode number with a few choices of operand fields."""
    yield from SCALAR_FORMATS()
    yield from _scalar_literal_format()
    yield from _scalar_memory_format()
    yield from vector_formats()
    yield from lds_format()
    yield from _flat_formats()
    yield from _buffer_formats()
    yield from _image_formats()


def _scalar_memory_format() -> Iterator[Form]:
    for op in range(64):
        for destination in (32, 0):
            yield "SMEM", op, pair(_SMEM | op << 13 | destination << 6 | 8, _NULL << 25)
        yield "SMEM", op, pair(_SMEM | op << 13, _NULL << 25)


def _scalar_literal_format() -> Iterator[Form]:
    """Multiply-adds with a constant."""
    for op in range(0x60):
        yield "SOP2", op, pair(SOP2 | op << 23 | 8 << 16 | 32 << 8 | 16, 0x12345678)


def _flat_formats() -> Iterator[Form]:
    flat = ((10, 40, 20), (10, 0, 20), (0, 40, 20), (10, 0, 0), (0, 40, 0), (0, 0, 0))
    # The hint of atomics: whether the old value is wanted.
    for (name, segment), op, hint, operands in product(SEGMENTS, range(256), (0, 1), flat):
        destination, data, address = operands
        first = _VFLAT | segment << 24 | op << 14 | _NULL
        uses_address = segment == 1 and address != 0
        second = data << 23 | hint << 20 | uses_address << 17 | destination
        yield name, op, (first, second, address)


def _buffer_formats() -> Iterator[Form]:
    for op, hint, data in product(range(_FIRST_TYPED), (0, 1), (10, 0)):
        first = _VBUFFER | op << 14 | _NULL
        second = 1 << 30 | 1 << 23 | hint << 20 | 4 * 4 << 9 | data
        yield "MUBUF", op, (first, second, 20)
        yield "MUBUF", op, (first, 0, 0)
    for op in range(16):
        first = _VBUFFER | (_FIRST_TYPED + op) << 14 | _NULL
        yield "MTBUF", op, (first, 1 << 30 | 22 << 23 | 4 * 4 << 9 | 10, 20)


def _image_formats() -> Iterator[Form]:
    # Both formats have opcodes of their own: those of VSAMPLE follow behind VIMAGE's. The fifth
    # address of VIMAGE stands where VSAMPLE has its sampler, and is unused: zero.
    for start, bits, sampler in ((0, _VIMAGE, 0), (_FIRST_SAMPLING, _VSAMPLE, 8 << 23)):
        choices = product(range(256), (0xF, 1, 3), (1, 0), _IMAGE_ADDRESSES)
        for op, mask, dimension, addresses in choices:
            first = bits | mask << 22 | op << 14 | dimension
            yield "MIMG", start + op, (first, sampler | 4 * 4 << 9 | 10, addresses)
    yield "EXP", 0, pair(_VEXPORT | 0xF, 0x04030201)
    yield "EXP", 0, pair(_VEXPORT | 1 << 4 | 0xF, 0x04030201)
