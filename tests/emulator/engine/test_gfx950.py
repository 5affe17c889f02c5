"""What gfx950 has and gfx942 has not; the machine code is LLVM 22's.

Expected values follow from AMD's "CDNA4 Instruction Set Architecture" by hand; of small floats from
the Open Compute Project's "Microscaling Formats (MX) Specification", revision 1.0.
"""

from __future__ import annotations

import itertools
import math
import random

import pytest

from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import EXEC, Wave, f16, f32

pytestmark = pytest.mark.amd

LANES = list(range(64))

WORDS = {
    "v_bitop3_b32 v3, v0, v1, v2 bitop3:0x6c": (0xD2340503, 0x8C0A0300),
    "v_bitop3_b16 v3, v0, v1, v2 bitop3:0xca": (0xD2330103, 0x5C0A0300),
    "v_prng_b32 v1, v0": (0x7E02B100,),
    "v_ashr_pk_i8_i32 v3, v0, v1, v2": (0xD2650003, 0x040A0300),
    "v_ashr_pk_u8_i32 v3, v0, v1, v2": (0xD2660003, 0x040A0300),
    "v_cvt_f32_bf16 v1, v0": (0x7E02B700,),
    "v_cvt_pk_bf16_f32 v2, v0, v1": (0xD2680002, 0x00020300),
    "v_cvt_pk_f16_f32 v2, v0, v1": (0xD2670002, 0x00020300),
    "v_permlane16_swap_b32 v0, v1": (0x7E00B301,),
    "v_permlane32_swap_b32 v0, v1": (0x7E00B501,),
    "v_permlane32_swap_b32 v0, v0": (0x7E00B500,),
    "v_pk_minimum3_f16 v3, v0, v1, v2": (0xD39B4003, 0x1C0A0300),
    "v_maximum3_f32 v3, v0, v1, v2": (0xD2A90003, 0x040A0300),
    "v_dot2c_f32_bf16 v2, v0, v1": (0x2C040300,),
    "v_cvt_scalef32_pk_f32_fp8 v[2:3], v0, v1 op_sel:[1,0,0]": (0xD2390802, 0x00020300),
    "v_cvt_scalef32_f32_bf8 v2, v0, v1 op_sel:[1,1,0]": (0xD23C1802, 0x00020300),
    "v_cvt_scalef32_pk_f32_fp4 v[2:3], v0, v1 op_sel:[0,1,0]": (0xD23F1002, 0x00020300),
    "v_cvt_scalef32_pk_bf16_fp4 v2, v0, v1": (0xD2510002, 0x00020300),
    "v_cvt_scalef32_f16_fp8 v2, v0, v1 op_sel:[0,0,1]": (0xD24A4002, 0x00020300),
    "v_cvt_scalef32_pk32_f32_fp6 v[8:39], v[0:5], v6": (0xD2560008, 0x00020D00),
    "v_cvt_scalef32_pk32_f16_bf6 v[8:23], v[0:5], v6": (0xD2620008, 0x00020D00),
    "v_cvt_f32_fp8 v1, v0": (0x7E02A900,),
    "v_cvt_pk_fp8_f32 v2, v0, v1": (0xD2A20002, 0x00020300),
    "ds_read_b64_tr_b16 v[2:3], v0": (0xD9C60000, 0x02000000),
    "ds_read_b64_tr_b8 v[2:3], v0": (0xD9C40000, 0x02000000),
    "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]": (0xD3AD0000, 0x04021904),
}


@pytest.fixture
def wave(engine: Engine) -> Wave:
    return Wave(engine, processor="gfx950")


def _run(wave: Wave, text: str) -> Wave:
    return wave.run_words(WORDS[text])


def test_any_operation_of_three_bits(wave: Wave) -> None:
    """0x6c is (a and b) xor c with the sources' bits as 4, 2 and 1; 0xca chooses b or c by a."""
    a, b, c = 0xF0F0_1234, 0xCCCC_5678, 0xAAAA_9ABC
    for number, value in enumerate((a, b, c)):
        wave.set(number, value)
    expected = 0
    for bit in range(32):
        index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1
        expected |= (0x6C >> index & 1) << bit
    assert _run(wave, "v_bitop3_b32 v3, v0, v1, v2 bitop3:0x6c").get(3)[5] == expected
    wave.set(3, 0xDEAD_0000)
    _run(wave, "v_bitop3_b16 v3, v0, v1, v2 bitop3:0xca")
    assert wave.get(3)[0] & 0xFFFF == (a & b | ~a & c) & 0xFFFF


def test_a_step_of_the_generator(wave: Wave) -> None:
    wave.set(0, [1, 0x8000_0000, 0xC000_0001, *([0] * 61)])
    assert _run(wave, "v_prng_b32 v1, v0").get(1)[:4] == [2, 197, 0x8000_0002 ^ 197, 0]


def test_shifted_and_clamped_to_bytes(wave: Wave) -> None:
    wave.set(0, -5000)
    wave.set(1, 1000)
    wave.set(2, 32 + 4)  # the lowest five bits
    assert _run(wave, "v_ashr_pk_i8_i32 v3, v0, v1, v2").get(3)[0] & 0xFFFF == 62 << 8 | 0x80
    assert _run(wave, "v_ashr_pk_u8_i32 v3, v0, v1, v2").get(3)[0] & 0xFFFF == 62 << 8


def test_bfloats_and_halves(wave: Wave) -> None:
    wave.set(0, 0x1234_C0A0)
    assert _run(wave, "v_cvt_f32_bf16 v1, v0").get(1)[0] == f32(-5.0)
    wave.set(0, f32(1 + 2**-8))  # between two: to the even one
    wave.set(1, f32(-3.0))
    assert _run(wave, "v_cvt_pk_bf16_f32 v2, v0, v1").get(2)[0] == 0xC040 << 16 | 0x3F80
    wave.set(0, f32(1 + 2**-11 + 2**-12))
    assert _run(wave, "v_cvt_pk_f16_f32 v2, v0, v1").get(2)[0] == f16(-3.0) << 16 | 0x3C01
    wave.set(0, 0x4000_3F80)  # 2, 1
    wave.set(1, 0x4040_C000)  # 3, -2
    wave.set(2, f32(0.5))
    assert _run(wave, "v_dot2c_f32_bf16 v2, v0, v1").get(2)[0] == f32(4.5)


def test_minima_that_keep_nan(wave: Wave) -> None:
    wave.set(0, f16(2.0) << 16 | f16(1.0))
    wave.set(1, 0x7E00 << 16 | f16(-1.0))
    wave.set(2, f16(3.0) << 16 | f16(0.5))
    found = _run(wave, "v_pk_minimum3_f16 v3, v0, v1, v2").get(3)[0]
    assert found & 0xFFFF == f16(-1.0)
    assert found >> 26 & 31 == 31
    for number, value in enumerate((1.0, 7.0, -2.0)):
        wave.set(number, f32(value))
    assert _run(wave, "v_maximum3_f32 v3, v0, v1, v2").get(3)[0] == f32(7.0)


def test_rows_change_places(wave: Wave) -> None:
    wave.set(0, [100 + lane for lane in LANES])
    wave.set(1, [200 + lane for lane in LANES])
    _run(wave, "v_permlane16_swap_b32 v0, v1")
    assert wave.get(0) == [100 + lane if lane % 32 < 16 else 184 + lane for lane in LANES]
    assert wave.get(1) == [116 + lane if lane % 32 < 16 else 200 + lane for lane in LANES]


def test_halves_change_places(wave: Wave) -> None:
    wave.set(0, [100 + lane for lane in LANES])
    wave.set(1, [200 + lane for lane in LANES])
    _run(wave, "v_permlane32_swap_b32 v0, v1")
    assert wave.get(0) == [100 + lane if lane < 32 else 168 + lane for lane in LANES]
    assert wave.get(1) == [132 + lane if lane < 32 else 200 + lane for lane in LANES]
    wave.set(0, LANES)
    assert _run(wave, "v_permlane32_swap_b32 v0, v0").get(0) == [lane ^ 32 for lane in LANES]


def test_a_swap_with_an_inactive_lane_stops(wave: Wave) -> None:
    wave.machine.scalar[EXEC] = 0xFFFF_FFFE
    _run(wave, "v_permlane16_swap_b32 v0, v1")
    assert wave.machine.fault


def _small(code: int, exponent_bits: int, mantissa_bits: int, bias: int) -> float:
    """The value of a float without infinities and NaN."""
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) & 1 else 1.0
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = (code & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    if exponent == 0:
        return math.copysign(math.ldexp(mantissa, 1 - bias), sign)
    return sign * math.ldexp(1 + mantissa, exponent - bias)


def test_four_bits(wave: Wave) -> None:
    """All sixteen, two a lane, from byte 2 of the register; times four."""
    codes = [(lane % 16, lane // 4 % 16) for lane in LANES]
    wave.set(0, [(high << 4 | low) << 16 | 0x5500_55AA for low, high in codes])
    wave.set(1, f32(-4.5))  # of the scale only the exponent counts
    _run(wave, "v_cvt_scalef32_pk_f32_fp4 v[2:3], v0, v1 op_sel:[0,1,0]")
    assert wave.get(2) == [f32(4 * _small(low, 2, 1, 1)) for low, _ in codes]
    assert wave.get(3) == [f32(4 * _small(high, 2, 1, 1)) for _, high in codes]
    wave.set(0, 0x7F)  # -6 and 6
    wave.set(1, f32(0.25))
    found = _run(wave, "v_cvt_scalef32_pk_bf16_fp4 v2, v0, v1").get(2)[0]
    assert found == (f32(1.5) >> 16) << 16 | f32(-1.5) >> 16


def test_eight_bits(wave: Wave) -> None:
    wave.set(0, 0x38B8_0000)  # FP8: 0x38 is 1
    wave.set(1, f32(8.0))
    _run(wave, "v_cvt_scalef32_pk_f32_fp8 v[2:3], v0, v1 op_sel:[1,0,0]")
    assert (wave.get(2)[9], wave.get(3)[9]) == (f32(-8.0), f32(8.0))
    wave.set(0, 0x3D00_0000)  # BF8: 1.25
    assert _run(wave, "v_cvt_scalef32_f32_bf8 v2, v0, v1 op_sel:[1,1,0]").get(2)[0] == f32(10.0)
    wave.set(1, 0x7F80_0000)
    found = _run(wave, "v_cvt_scalef32_f32_bf8 v2, v0, v1 op_sel:[1,1,0]").get(2)[0]
    assert found & 0x7FFF_FFFF > 0x7F80_0000
    wave.set(0, 0xB8)
    wave.set(1, f32(0.5))
    wave.set(2, 0x1234_5678)
    _run(wave, "v_cvt_scalef32_f16_fp8 v2, v0, v1 op_sel:[0,0,1]")
    assert wave.get(2)[0] == f16(-0.5) << 16 | 0x5678


def test_six_bits(wave: Wave) -> None:
    """Thirty-two in six registers, other ones in each lane."""
    rng = random.Random(6)
    codes = [[rng.randrange(64) for _ in range(32)] for _ in LANES]
    packed = [sum(code << 6 * k for k, code in enumerate(row)) for row in codes]
    for number in range(6):
        wave.set(number, [value >> 32 * number & 0xFFFF_FFFF for value in packed])
    wave.set(6, f32(2.0))
    _run(wave, "v_cvt_scalef32_pk32_f32_fp6 v[8:39], v[0:5], v6")
    for k, lane in itertools.product(range(32), LANES):
        assert wave.get(8 + k)[lane] == f32(2 * _small(codes[lane][k], 2, 3, 1))
    _run(wave, "v_cvt_scalef32_pk32_f16_bf6 v[8:23], v[0:5], v6")
    for k in range(16):
        pair = [f16(2 * _small(codes[7][2 * k + part], 3, 2, 3)) for part in range(2)]
        assert wave.get(8 + k)[7] == pair[1] << 16 | pair[0]


def test_bytes_are_those_of_the_ocp(wave: Wave) -> None:
    """0x38 is 1, which is 0.5 on gfx942; what is too large is NaN."""
    wave.set(0, 0x38)
    assert _run(wave, "v_cvt_f32_fp8 v1, v0").get(1)[0] == f32(1.0)
    wave.set(0, f32(448.0))
    wave.set(1, f32(1000.0))
    assert _run(wave, "v_cvt_pk_fp8_f32 v2, v0, v1").get(2)[0] & 0xFFFF == 0x7F7E


def test_a_transposed_read(wave: Wave) -> None:
    """Each row of sixteen lanes: lane l gets half l mod 4 of lanes l / 4, l / 4 + 4, ..."""
    halves = [[1000 * (lane // 16) + 4 * (lane % 16) + e for e in range(4)] for lane in LANES]
    for lane in LANES:
        for e in range(4):
            at = 8 * lane + 2 * e
            wave.machine.lds[at] = halves[lane][e] & 0xFF
            wave.machine.lds[at + 1] = halves[lane][e] >> 8
    wave.set(0, [8 * lane for lane in LANES])
    _run(wave, "ds_read_b64_tr_b16 v[2:3], v0")
    for lane in LANES:
        first = lane // 16 * 16 + lane % 16 // 4
        expected = [halves[first + 4 * n][lane % 4] for n in range(4)]
        assert wave.get(2)[lane] == expected[1] << 16 | expected[0]
        assert wave.get(3)[lane] == expected[3] << 16 | expected[2]


@pytest.mark.parametrize("text", [text for text in WORDS if "f8f6f4" in text or "tr_b8" in text])
def test_what_is_not_known_is_refused(wave: Wave, text: str) -> None:
    assert not wave.engine.execute((*WORDS[text], 0xBF810000), wave.machine)
