"""Words to ask LLVM's disassembler about, for every opcode number of every gfx9 format."""

from __future__ import annotations

from collections.abc import Iterator

from cass_ray.emulator.isa.form import Form, pair

# The bits that tell the formats apart (AMD Instinct MI300 ISA, chapter 13, "Microcode formats").
_SOPC = 0b101111110 << 23
_SOPP = 0b101111111 << 23
_SOP1 = 0b101111101 << 23
_SOP2 = 0b10 << 30
_SOPK = 0b1011 << 28
_SMEM = 0b110000 << 26
_VOP1 = 0b0111111 << 25
_VOPC = 0b0111110 << 25
_VOP3 = 0b110100 << 26
_VOP3P = 0b110100111 << 23
_DS = 0b110110 << 26
_FLAT = 0b110111 << 26
_MUBUF = 0b111000 << 26
_MTBUF = 0b111010 << 26

_NO_ADDRESS = 0x7F
"""The scalar address that says that there is none."""

_INLINE_ZERO = 128

_BOTH_HALVES = 3
"""VOP3P's OP_SEL_HI of the first two sources."""

# Source fields: VGPR numbers are 256 up; 4-aligned SGPRs suit every width.
_V1, _V2, _V3, _S1, _S2, _S3 = 256 + 20, 256 + 40, 256 + 60, 16, 32, 48
_SOURCES = [
    (first, second, third)
    for third in (0, _V3, _S3)
    for second in (0, _V2, _S2)
    for first in (_V1, _S1, 0)
]


def forms() -> Iterator[Form]:
    """Each opcode number with a few choices of operand fields."""
    yield from _scalar_formats()
    yield from _vector_formats()
    yield from _memory_formats()


def _scalar_formats() -> Iterator[Form]:
    for op in range(0x60):
        yield "SOP2", op, (_SOP2 | op << 23 | 8 << 16 | 32 << 8 | 16,)
    for op in range(128):
        for source in (32, 0):
            yield "SOPC", op, (_SOPC | op << 16 | source << 8 | 16,)
        for value in (1, 0):
            yield "SOPP", op, (_SOPP | op << 16 | value,)
    for op in range(0x1C):
        yield "SOPK", op, (_SOPK | op << 23 | 8 << 16 | 0x0801,)
        yield "SOPK", op, (_SOPK | op << 23 | 1,)
        yield "SOPK", op, pair(_SOPK | op << 23 | 0x0801, 0x1234)
    for op in range(256):
        for destination, source in ((8, 16), (8, 0), (0, 16)):
            yield "SOP1", op, (_SOP1 | destination << 16 | op << 8 | source,)
    for op in range(256):
        for destination, base in ((32, 8), (0, 8), (0, 0)):
            yield "SMEM", op, pair(_SMEM | op << 18 | 1 << 17 | destination << 6 | base, 0)
            yield "SMEM", op, pair(_SMEM | op << 18 | 3 << 16 | destination << 6 | base, 0)
        yield "SMEM", op, pair(_SMEM | op << 18, 0)


def _vector_formats() -> Iterator[Form]:
    for op in range(0x3E):
        word = op << 25 | 10 << 17 | 40 << 9 | _V1
        yield "VOP2", op, (word,)
        yield "VOP2", op, pair(word, 0x12345678)
    for op in range(256):
        for destination, source in ((10, _V1), (0, 0), (10, _S1)):
            yield "VOP1", op, (_VOP1 | destination << 17 | op << 9 | source,)
        yield "VOPC", op, (_VOPC | op << 17 | 40 << 9 | _V1,)
    for op in range(0x380):
        for first, second, third in _SOURCES:
            sources = third << 18 | second << 9 | first
            for destination in (10, 106, 0):
                yield "VOP3", op, pair(_VOP3 | op << 16 | destination, sources)
            yield "VOP3SD", op, pair(_VOP3 | op << 16 | 12 << 8 | 10, sources)
    for op in range(128):
        for first, second, third in _SOURCES:
            sources = third << 18 | second << 9 | first
            yield "VOP3P", op, pair(_VOP3P | op << 16 | 1 << 14 | 10, sources | _BOTH_HALVES << 27)
            yield "VOP3P", op, pair(_VOP3P | op << 16 | 10, sources)
            # Results in accumulation registers only.
            yield "VOP3P", op, pair(_VOP3P | op << 16 | 1 << 15 | 10, sources)
            yield "VOP3P", op, pair(_VOP3P | op << 16 | 10, sources | 1 << 27)


def _memory_formats() -> Iterator[Form]:
    for op in range(256):
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
        ):
            fields = destination << 24 | data1 << 16 | data0 << 8 | address
            for gds in (0, 1):
                yield "DS", op, pair(_DS | op << 17 | gds << 16, fields)
    for name, segment in (("FLAT", 0), ("SCRATCH", 1), ("GLOBAL", 2)):
        for op in range(128):
            for returns in (0, 1):
                for destination, data, address in (
                    (10, 40, 20),
                    (10, 0, 20),
                    (0, 40, 20),
                    (0, 0, 20),
                    (10, 0, 0),
                    (0, 40, 0),
                    (0, 0, 0),
                ):
                    scalar = _NO_ADDRESS if segment else 0
                    fields = destination << 24 | scalar << 16 | data << 8 | address
                    word = _FLAT | op << 18 | segment << 14 | returns << 16
                    yield name, op, pair(word, fields)
                    if segment == 1 and address:
                        yield name, op, pair(word | 1 << 13, fields)
    for op in range(128):
        for returns in (0, 1):
            for data, address in ((10, 20), (0, 0)):
                fields = 4 << 16 | data << 8 | address
                word = _MUBUF | op << 18 | returns << 14
                yield "MUBUF", op, pair(word | 1 << 12, _INLINE_ZERO << 24 | fields)
                yield "MUBUF", op, pair(word, _INLINE_ZERO << 24 | fields)
        yield "MUBUF", op, pair(_MUBUF | op << 18, 0)
        yield "MUBUF", op, pair(_MUBUF | op << 18 | 1 << 16, _INLINE_ZERO << 24 | 4 << 16)
    for op in range(16):
        fields = _INLINE_ZERO << 24 | 4 << 16 | 10 << 8 | 20
        yield "MTBUF", op, pair(_MTBUF | 5 << 23 | 4 << 19 | op << 15 | 1 << 12, fields)
