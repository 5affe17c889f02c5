"""Formatted buffer accesses: LLVM's name of a format against the values that it should give."""

from __future__ import annotations

import ctypes
import struct

import pytest

from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import Wave, f16, f32

pytestmark = pytest.mark.amd

BYTES = bytes([0x80, 0xFF, 0x01, 0x7F, 0x34, 0x12, 0xCD, 0xAB, 0x00, 0x3C, 0x00, 0xC0, 1, 2, 3, 4])
WORDS = struct.unpack("<4I", BYTES)

# First component and second, from the definitions in the RDNA3 ISA, 9.7.
FORMATS = [
    ("BUF_FMT_8_UNORM", f32(128 / 255), None),
    ("BUF_FMT_8_SNORM", f32(-1.0), None),
    ("BUF_FMT_8_USCALED", f32(128.0), None),
    ("BUF_FMT_8_SSCALED", f32(-128.0), None),
    ("BUF_FMT_8_UINT", 0x80, None),
    ("BUF_FMT_8_SINT", 0xFFFFFF80, None),
    ("BUF_FMT_16_UNORM", f32(0xFF80 / 65535), None),
    ("BUF_FMT_16_SINT", 0xFFFFFF80, None),
    ("BUF_FMT_8_8_UINT", 0x80, 0xFF),
    ("BUF_FMT_32_UINT", WORDS[0], None),
    ("BUF_FMT_32_FLOAT", WORDS[0], None),
    ("BUF_FMT_16_16_UINT", 0xFF80, 0x7F01),
    ("BUF_FMT_2_10_10_10_UINT", WORDS[0] & 1023, WORDS[0] >> 10 & 1023),
    ("BUF_FMT_10_10_10_2_UINT", WORDS[0] & 3, WORDS[0] >> 2 & 1023),
    ("BUF_FMT_8_8_8_8_UNORM", f32(128 / 255), f32(1.0)),
    ("BUF_FMT_8_8_8_8_SINT", 0xFFFFFF80, 0xFFFFFFFF),
    ("BUF_FMT_32_32_UINT", WORDS[0], WORDS[1]),
    ("BUF_FMT_16_16_16_16_UINT", 0xFF80, 0x7F01),
    ("BUF_FMT_32_32_32_FLOAT", WORDS[0], WORDS[1]),
    ("BUF_FMT_32_32_32_32_SINT", WORDS[0], WORDS[1]),
]


def described(memory: ctypes.Array[ctypes.c_char], stride: int, records: int) -> list[int]:
    """The four words of a buffer resource that is checked by index."""
    address = ctypes.addressof(memory)
    return [address & 0xFFFFFFFF, address >> 32 | stride << 16, records, 0]


def with_buffer(engine: Engine, words: list[int]) -> Wave:
    wave = Wave(engine)
    for number, word in enumerate(words):
        wave.machine.scalar[4 + number] = word
    wave.set(1, list(range(32)))
    return wave


@pytest.mark.parametrize(("name", "first", "second"), FORMATS)
def test_typed_load(engine: Engine, name: str, first: int, second: int | None) -> None:
    memory = engine.memory(BYTES)
    wave = with_buffer(engine, described(memory, 16, 1))
    wave.run(f"tbuffer_load_format_xyzw v[10:13], v1, s[4:7], 0 format:[{name}] idxen")
    assert wave.get(10)[:2] == [first, 0]  # index 1 is beyond the only record
    if second is not None:
        assert wave.get(11)[0] == second


def test_typed_store_rounds_and_saturates(engine: Engine) -> None:
    memory = engine.memory(bytes(16))
    wave = with_buffer(engine, described(memory, 4, 2))
    wave.set(10, f32(0.5))  # 127.5: to even
    wave.set(11, f32(7.0))
    wave.set(12, f32(-1.0))
    wave.set(13, f32(float("nan")))
    wave.run(
        "tbuffer_store_format_xyzw v[10:13], v1, s[4:7], 0 format:[BUF_FMT_8_8_8_8_UNORM] idxen"
    )
    assert memory.raw == bytes([128, 255, 0, 0] * 2 + [0] * 8)


def test_half_results_share_registers(engine: Engine) -> None:
    memory = engine.memory(struct.pack("<4f", 1.0, -2.0, 0.25, 65504.0))
    wave = with_buffer(engine, described(memory, 16, 1))
    wave.run(
        "tbuffer_load_d16_format_xyzw v[10:11], v1, s[4:7], 0"
        " format:[BUF_FMT_32_32_32_32_FLOAT] idxen"
    )
    assert wave.get(10)[0] == f16(1.0) | f16(-2.0) << 16
    assert wave.get(11)[0] == f16(0.25) | f16(65504.0) << 16


def test_buffer_atomics_respect_the_bounds(engine: Engine) -> None:
    memory = engine.memory(struct.pack("<4I", 5, 6, 7, 8))
    wave = with_buffer(engine, described(memory, 4, 3))
    wave.set(10, 100)
    wave.run("buffer_atomic_add_u32 v10, v1, s[4:7], 0 idxen glc")
    assert struct.unpack("<4I", memory.raw[:16]) == (105, 106, 107, 8)
    assert wave.get(10)[:5] == [5, 6, 7, 0, 0]


def test_the_scalar_offset_counts_against_the_bytes_of_a_raw_buffer(engine: Engine) -> None:
    # RDNA3 ISA: out of range where the offset is not below num_records - sgpr_offset.
    memory = engine.memory(struct.pack("<8I", *range(10, 18)))
    words = described(memory, 0, 16)
    wave = with_buffer(engine, [*words[:3], 3 << 28])
    wave.machine.scalar[8] = 8
    wave.set(1, [4 * lane for lane in range(32)])
    wave.run("buffer_load_b32 v10, v1, s[4:7], s8 offen")
    assert wave.get(10)[:4] == [12, 13, 0, 0]  # of 16 bytes, from the eighth on
