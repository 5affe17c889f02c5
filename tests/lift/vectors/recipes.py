"""Inputs of the opcode forms: edge cases and random bits, computed alike here and on the GPU host.

Nothing but the standard library: this file travels to the host beside ``collect_vectors``.
"""

from __future__ import annotations

import functools
import struct
import zlib

LANES = 4096
"""Threads of a form's grid; each has its own operands."""
BLOCK = 128
GRID = (LANES // BLOCK, 1, 1, BLOCK, 1, 1)
"""Blocks and threads of a block, by x, y and z, of forms that ask for nothing else."""
STORED, STORED_APPROXIMATE = 128, 1024
"""Lanes whose results are stored in full, where a form does not ask for fewer; the others' are
stored as checksums, or not where they are approximate."""
CHECKED = 256
"""Lanes that share one checksum."""
INPUT_BYTES = 24
"""Operands a, b, c of a lane, 8 bytes each."""
OUTPUT_BYTES = 32
FILL = 0xCD
"""Byte that output memory holds before a launch."""

PARAMETERS = (0x0000000500000003, 0x89ABCDEF40490FDB)
"""The kernel parameters p and q."""

_MASK = (1 << 64) - 1


def mix(*numbers: int) -> int:
    """64 random bits that depend on ``numbers`` (splitmix64's finaliser over a running sum)."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = (state + number * 0xD1B54A32D192ED03 + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ state >> 27) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def _f32(*values: float) -> list[int]:
    return [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]


def _f64(*values: float) -> list[int]:
    return [struct.unpack("<Q", struct.pack("<d", value))[0] for value in values]


_I32 = [
    0, 1, 2, 3, 5, 7, 0x1F, 0x20, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
    0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFF80, 0xFFFFFF7F, 0xFFFF8000,
    0xFFFF7FFF, 0xAAAAAAAA, 0x55555555, 0x12345678, 0xDEADBEEF, 0x00FF00FF, 0x01010101, 0x80808080,
]  # fmt: skip
_I64 = [
    0, 1, 2, 3, 0x7F, 0x80, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000,
    0x100000001, 0x7FFFFFFF00000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x8000000000000001,
    0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFF00000000, 0xFFFFFFFF80000000,
    0xFFFFFFFF7FFFFFFF, 0x0123456789ABCDEF, 0xFEDCBA9876543210, 0xAAAAAAAAAAAAAAAA,
    0x5555555555555555, 0x00000000DEADBEEF, 0xDEADBEEF00000000, 0x20000000000001, 10,
]  # fmt: skip
_SHIFT = [*range(40), 47, 48, 62, 63, 64, 65, 95, 96, 127, 128, 255, 256, 257, 0x8000, 0x10001,
          0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF]  # fmt: skip
_F32 = [
    0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FFFFFFF,
    0xFFC00001, 0x7F800001, 0xFFBFFFFF, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00400000,
    0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F7FFFFF, 0x3F800001,
    *_f32(0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.1, -2.7, 3.1415927, 127.5, 255.5, 65504, 65520, -129,
          6e-8, 2**23, 2**24 + 2, 2**31, -(2.0**31), 2**32, 2.0**63, 1e30, 1e-30, 2.0**-126 * 1.5),
]  # fmt: skip
_F64 = [
    0, 1 << 63, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF,
    0xFFF8000000000001, 0x7FF0000000000001, 1, 0x8000000000000001, 0x000FFFFFFFFFFFFF,
    0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x3FEFFFFFFFFFFFFF,
    0x3FF0000000000001, 0x36A0000000000000, 0x380FFFFFF0000000, 0x47EFFFFFF0000000,
    *_f64(1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 3.141592653589793, 255.5, 65519.9, 6e-8, 2**31,
          -(2.0**31) - 1, 2.0**32, 2.0**52 + 0.5, 2.0**53, 2.0**63, -(2.0**63), 1e300, 1e-300,
          1 + 2.0**-24, 1 + 2.0**-25),
]  # fmt: skip
_F16 = [
    0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7FFF, 0xFE01, 0x7C01, 0x0001, 0x8001,
    0x03FF, 0x83FF, 0x0200, 0x0400, 0x8400, 0x7BFF, 0xFBFF, 0x3BFF, 0x3C01, 0x3800, 0xB800, 0x3E00,
    0x4100, 0xC100, 0x2E66, 0x5BF8, 0x6400, 0x6801, 0x7800, 0x1400,
]  # fmt: skip
_BF16 = [
    0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x7FFF, 0xFFC1, 0x7F81, 0x0001, 0x8001,
    0x007F, 0x807F, 0x0040, 0x0080, 0x8080, 0x7F7F, 0xFF7F, 0x3F7F, 0x3F81, 0x3F00, 0xBF00, 0x3FC0,
    0x4020, 0xC020, 0x3DCD, 0x437F, 0x4B00, 0x4F00, 0x7E80, 0x3380,
]  # fmt: skip
_FP8 = list(range(256))

_EDGES: dict[str, tuple[list[int], int]] = {
    "i16": ([value & 0xFFFF for value in _I32], 16),
    "i32": (_I32, 32),
    "i64": (_I64, 64),
    "shift": (_SHIFT, 32),
    "f16": (_F16, 16),
    "bf16": (_BF16, 16),
    "f32": (_F32, 32),
    "f64": (_F64, 64),
    "byte": (_FP8, 8),
}
_CENTRES = {"f32": (23, 127, 8), "f64": (52, 1023, 11), "f16": (10, 15, 5), "bf16": (7, 127, 8)}
_PACKED = {"f16x2": "f16", "bf16x2": "bf16", "i16x2": "i16", "fp8x2": "byte"}
_SIZES = {"f16x2": 16, "bf16x2": 16, "i16x2": 16, "fp8x2": 8}


def _random(kind: str, bits: int) -> int:
    """Random bits; of a float, three times in four with an exponent near that of 1."""
    size = _EDGES[kind][1]
    if kind == "shift":
        return bits >> 8 & 0x3F
    value = bits & ((1 << size) - 1)
    if kind in _CENTRES and bits >> 60 & 3:
        fraction, centre, width = _CENTRES[kind]
        span = min((3, 12, 34, 3)[bits >> 55 & 3], centre - 1)
        exponent = centre + bits % (2 * span + 1) - span
        value = value & ~(((1 << width) - 1) << fraction) | exponent << fraction
    return value


def _tiny(kind: str, bits: int) -> int:
    """Whole numbers from -8 to 8 in ``kind``: sums of products of them are exact."""
    value = bits % 17 - 8
    if kind == "f64":
        return int.from_bytes(struct.pack("<d", value), "little")
    if kind == "f32":
        return int.from_bytes(struct.pack("<f", value), "little")
    if kind == "f16":
        return int.from_bytes(struct.pack("<e", value), "little")
    if kind == "bf16":
        return int.from_bytes(struct.pack("<f", value)[2:], "little")
    part = kind.removesuffix("x2")
    return _tiny(part, bits) | _tiny(part, bits >> 32) << 16


def operand(kind: str, position: int, lane: int) -> int:
    """The operand of ``kind`` at ``position`` (a, b, c) of one lane, as 64 bits.

    Kinds: integers, floats and packed ones by name; ``shift`` an amount; ``lane`` the number of
    the lane; ``small`` below 64; ``few`` one of four values;
    ``tiny_`` and a float's kind small whole numbers.
    """
    if kind.startswith("tiny_"):
        return _tiny(kind.removeprefix("tiny_"), mix(position, lane))
    if kind in _PACKED:
        part, size = _PACKED[kind], _SIZES[kind]
        return operand(part, position, lane) | operand(part, position + 3, lane) << size
    bits = mix(position, lane)
    if kind == "lane":
        return lane
    if kind == "small":
        return bits & 63
    if kind == "few":
        return (1, 7, 0x80000000, 0xFFFFFFFF)[bits & 3]
    edges = _EDGES[kind][0]
    # Every pair of edges of the first two operands, spread over the grid; then mixtures.
    cell = lane * 1237 % LANES
    if position < 2 and cell < len(edges) ** 2:
        return edges[cell % len(edges) if position == 0 else cell // len(edges)]
    if bits >> 62 & 1:
        return edges[(bits >> 8) % len(edges)]
    return _random(kind, mix(position, lane, 1))


@functools.cache
def column(kind: str, position: int) -> tuple[int, ...]:
    """One operand of all lanes."""
    return tuple(operand(kind, position, lane) for lane in range(LANES))


def inputs(kinds: tuple[str, ...]) -> bytes:
    """The input memory of a form with operands of ``kinds`` (at most three)."""
    padded = [*kinds, *("small",) * (3 - len(kinds))]
    columns = [column(kind, position) for position, kind in enumerate(padded)]
    return b"".join(struct.pack("<3Q", *row) for row in zip(*columns, strict=True))


def slots(memory: bytes, words: int) -> list[bytes]:
    """The first ``words`` 32-bit words of each lane's output slot."""
    starts = range(0, LANES * OUTPUT_BYTES, OUTPUT_BYTES)
    return [memory[start : start + 4 * words] for start in starts]


_NAN = {
    "f16": ("H", 0x7C00, 0x3FF), "bf16": ("H", 0x7F80, 0x7F), "f32": ("I", 0x7F800000, 0x7FFFFF),
    "f64": ("Q", 0x7FF << 52, (1 << 52) - 1),
}  # fmt: skip


def with_one_nan(slot: bytes, floats: str) -> bytes:
    """A lane's results with every NaN of the kind ``floats`` replaced by one bit pattern."""
    if not floats:
        return slot
    code, infinity, fraction = _NAN[floats]
    layout = struct.Struct(f"<{len(slot) // struct.calcsize(code)}{code}")
    values = layout.unpack(slot)
    nan = infinity | fraction
    return layout.pack(
        *(nan if value & infinity == infinity and value & fraction else value for value in values)
    )


def checksums(lanes: list[bytes], stored: int, floats: str) -> list[int]:
    """CRC-32 of each group of lanes from ``stored`` on, with NaNs made the same."""
    groups = (lanes[first : first + CHECKED] for first in range(stored, LANES, CHECKED))
    return [zlib.crc32(b"".join(with_one_nan(slot, floats) for slot in group)) for group in groups]
