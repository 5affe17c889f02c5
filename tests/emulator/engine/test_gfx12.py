"""What gfx12 has and gfx11 has not: scalar floats, 8-bit floats, other ways to memory and lanes.

Expected values follow from AMD's "RDNA4 Instruction Set Architecture" by hand, or are PyTorch's.
"""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest
import torch

from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import EXEC, Wave, assemble, f16, f32

pytestmark = pytest.mark.amd

LANES = list(range(32))
NAN = 0x7FC00000
SIGNALING = 0x7F800001


@pytest.fixture
def wave(engine: Engine) -> Wave:
    return Wave(engine, processor="gfx1201")


def _scalar(wave: Wave, text: str, *sources: int) -> int:
    """``text`` with sources from s1 on; the result is s0."""
    for number, value in enumerate(sources, 1):
        wave.machine.scalar[number] = value
    wave.run(text)
    return int(wave.machine.scalar[0])


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("s_add_f32 s0, s1, s2", (f32(1.5), f32(2.25)), f32(3.75)),
        ("s_sub_f32 s0, s1, s2", (f32(1.5), f32(2.25)), f32(-0.75)),
        ("s_mul_f32 s0, s1, -4.0", (f32(1.5),), f32(-6.0)),
        ("s_fmamk_f32 s0, s1, 0x40400000, s2", (f32(2.0), f32(1.0)), f32(7.0)),
        ("s_fmaak_f32 s0, s1, s2, 0x40400000", (f32(2.0), f32(5.0)), f32(13.0)),
        ("s_add_f16 s0, s1, 1.0", (0xABCD0000 | f16(0.5),), f16(1.5)),
        ("s_mul_f16 s0, s1, s2", (f16(3.0), f16(0.5)), f16(1.5)),
        ("s_min_num_f32 s0, s1, s2", (f32(0.0), f32(-0.0)), f32(-0.0)),
        ("s_min_num_f32 s0, s1, s2", (NAN, f32(3.0)), f32(3.0)),
        ("s_max_num_f32 s0, s1, s2", (SIGNALING, NAN | 1), SIGNALING | 0x400000),
        ("s_minimum_f32 s0, s1, s2", (f32(1.0), NAN), NAN),
        ("s_maximum_f32 s0, s1, s2", (f32(-0.0), f32(0.0)), f32(0.0)),
        ("s_maximum_f16 s0, s1, s2", (f16(2.0), f16(-3.0)), f16(2.0)),
        ("s_ceil_f32 s0, s1", (f32(1.25),), f32(2.0)),
        ("s_rndne_f32 s0, s1", (f32(2.5),), f32(2.0)),
        ("s_trunc_f16 s0, s1", (f16(-1.75),), f16(-1.0)),
        ("s_cvt_f32_i32 s0, s1", (0xFFFFFFFD,), f32(-3.0)),
        ("s_cvt_f32_u32 s0, s1", (0xFFFFFFFF,), f32(4294967296.0)),
        ("s_cvt_i32_f32 s0, s1", (f32(-2.75),), 0xFFFFFFFE),
        ("s_cvt_u32_f32 s0, s1", (f32(-2.75),), 0),
        ("s_cvt_f16_f32 s0, s1", (f32(0.1),), f16(0.1)),
        ("s_cvt_f32_f16 s0, s1", (f16(0.5) | 0x12340000,), f32(0.5)),
        ("s_cvt_hi_f32_f16 s0, s1", (f16(2.5) << 16 | 0x1234,), f32(2.5)),
        ("s_cvt_pk_rtz_f16_f32 s0, s1, s2", (f32(1.0), f32(65535.0)), 0x7BFF0000 | f16(1.0)),
        ("v_s_exp_f32 s0, s1", (f32(5.0),), f32(32.0)),
        ("v_s_log_f32 s0, s1", (f32(0.25),), f32(-2.0)),
        ("v_s_rcp_f32 s0, -s1", (f32(4.0),), f32(-0.25)),
        ("v_s_rsq_f16 s0, s1", (f16(4.0),), f16(0.5)),
        ("v_s_sqrt_f32 s0, s1", (f32(9.0),), f32(3.0)),
    ],
)
def test_scalar_floats(wave: Wave, text: str, sources: tuple[int, ...], expected: int) -> None:
    assert _scalar(wave, text, *sources) == expected


def test_scalar_accumulation(wave: Wave) -> None:
    wave.machine.scalar[0] = f32(10.0)
    assert _scalar(wave, "s_fmac_f32 s0, s1, s2", f32(2.0), f32(3.0)) == f32(16.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lt", (1, 0, 0)), ("eq", (0, 1, 0)), ("le", (1, 1, 0)), ("gt", (0, 0, 0)),
        ("lg", (1, 0, 0)), ("ge", (0, 1, 0)), ("o", (1, 1, 0)), ("u", (0, 0, 1)),
        ("nge", (1, 0, 1)), ("nlg", (0, 1, 1)), ("ngt", (1, 1, 1)), ("nle", (0, 0, 1)),
        ("neq", (1, 0, 1)), ("nlt", (0, 1, 1)),
    ],
)  # fmt: skip
def test_scalar_comparisons(wave: Wave, name: str, expected: tuple[int, ...]) -> None:
    """1 with 2, 2 with 2, NaN with 2."""
    for value, result in zip((f32(1.0), f32(2.0), NAN), expected, strict=True):
        wave.machine.scalar[1] = value
        wave.run(f"s_cmp_{name}_f32 s1, 2.0")
        assert wave.machine.scc == result


def test_rounding_of_scalar_floats_follows_mode(engine: Engine) -> None:
    upward = Wave(engine, processor="gfx1201", mode=0xF1)
    tiny = f32(2.0**-30)
    assert _scalar(upward, "s_add_f32 s0, s1, s2", f32(1.0), tiny) == 0x3F800001
    nearest = Wave(engine, processor="gfx1201")
    assert _scalar(nearest, "s_add_f32 s0, s1, s2", f32(1.0), tiny) == f32(1.0)


def test_integers_of_64_bits(wave: Wave) -> None:
    wave.machine.scalar[2], wave.machine.scalar[3] = 0x89ABCDEF, 0x01234567
    wave.machine.scalar[4], wave.machine.scalar[5] = 0xFFFFFFFF, 1
    a, b = 0x0123456789ABCDEF, 0x1FFFFFFFF
    for name, value in (("add_nc", a + b), ("sub_nc", a - b), ("mul", a * b)):
        wave.run(f"s_{name}_u64 s[0:1], s[2:3], s[4:5]")
        found = wave.machine.scalar[0] | wave.machine.scalar[1] << 32
        assert found == value & 0xFFFFFFFFFFFFFFFF


def _memory(engine: Engine, words: list[int]) -> int:
    return ctypes.addressof(engine.memory(struct.pack(f"<{len(words)}I", *words)))


def test_small_scalar_loads(engine: Engine, wave: Wave) -> None:
    address = _memory(engine, [0x8081FF7F, 0x11223344, 0x55667788, 0x99AABBCC])
    wave.machine.scalar[2], wave.machine.scalar[3] = address & 0xFFFFFFFF, address >> 32
    wave.machine.scalar[4] = 1
    wave.run(
        "s_load_u8 s8, s[2:3], 0x1\ns_load_i8 s9, s[2:3], s4 offset:0x1\n"
        "s_load_i16 s10, s[2:3], 0x2\ns_load_u16 s11, s[2:3], 0x2\n"
        "s_load_b96 s[12:14], s[2:3], 0x4\ns_wait_kmcnt 0x0"
    )
    scalar = wave.machine.scalar
    assert list(scalar[8:12]) == [0xFF, 0xFFFFFF81, 0xFFFF8081, 0x8081]
    assert list(scalar[12:15]) == [0x11223344, 0x55667788, 0x99AABBCC]


def test_offsets_of_24_bits(engine: Engine, wave: Wave) -> None:
    address = _memory(engine, LANES)
    beyond = address + 0x7FFFF0
    wave.set(1, [(beyond + 4 * lane) & 0xFFFFFFFF for lane in LANES])
    wave.set(2, beyond >> 32)
    wave.run("global_load_b32 v3, v[1:2], off offset:-8388592\ns_wait_loadcnt 0x0")
    assert wave.get(3) == LANES
    wave.machine.scalar[2], wave.machine.scalar[3] = beyond & 0xFFFFFFFF, beyond >> 32
    wave.set(1, [4 * lane for lane in LANES])
    wave.run("global_load_b32 v4, v1, s[2:3] offset:-8388592\ns_wait_loadcnt 0x0")
    assert wave.get(4) == LANES


def test_scratch_and_flat(wave: Wave) -> None:
    wave.set(1, LANES)
    wave.set(2, 16)
    wave.machine.scalar[3] = 32
    wave.run(
        "scratch_store_b32 v2, v1, s3 offset:8\nscratch_load_b32 v4, off, s3 offset:24\n"
        "s_wait_loadcnt 0x0"
    )
    assert wave.get(4) == LANES


def test_atomics_that_subtract(engine: Engine, wave: Wave) -> None:
    address = _memory(engine, [10, 10])
    wave.machine.scalar[EXEC] = 1
    wave.set(1, address & 0xFFFFFFFF)
    wave.set(2, address >> 32)
    wave.set(3, 7)
    wave.run(
        "global_atomic_cond_sub_u32 v4, v[1:2], v3, off th:TH_ATOMIC_RETURN\n"
        "global_atomic_cond_sub_u32 v5, v[1:2], v3, off th:TH_ATOMIC_RETURN\n"
        "global_atomic_sub_clamp_u32 v6, v[1:2], v3, off offset:4 th:TH_ATOMIC_RETURN\n"
        "global_atomic_sub_clamp_u32 v7, v[1:2], v3, off offset:4 th:TH_ATOMIC_RETURN\n"
        "global_load_b64 v[8:9], v[1:2], off"
    )
    assert [wave.get(number)[0] for number in range(4, 10)] == [10, 3, 10, 3, 3, 0]


@pytest.mark.parametrize("wide", [False, True])
def test_lanes_by_address(engine: Engine, wide: bool) -> None:
    """Of all lanes of the wave, 64 too; only _fi reads those that are not active."""
    wave = Wave(engine, wide=wide, processor="gfx1201")
    lanes = wave.lanes
    wave.machine.scalar[EXEC] = 0xFFFFFFFE
    wave.set(1, [4 * ((lane + 40) % lanes) for lane in range(lanes)])
    wave.set(2, [1000 + lane for lane in range(lanes)])
    for number in (3, 4, 5):
        wave.set(number, 7)
    wave.run("ds_bpermute_b32 v3, v1, v2\nds_permute_b32 v5, v1, v2")
    # ds_bpermute_fi_b32 v4, v1, v2: LLVM 19 has no name for it yet.
    assert engine.execute((0xDB340000, 0x04000201, 0xBFB00000), wave.machine)
    sources = [(lane + 40) % lanes for lane in range(lanes)]
    assert wave.get(3) == [7] + [1000 + s if s else 0 for s in sources[1:]]
    assert wave.get(4) == [7] + [1000 + s for s in sources[1:]]
    targets = [(lane - 40) % lanes for lane in range(lanes)]
    assert wave.get(5) == [7] + [1000 + t if t else 0 for t in targets[1:]]


def test_permutation_by_each_lane(wave: Wave) -> None:
    wave.set(1, [100 + lane for lane in LANES])
    wave.set(2, [3 * lane for lane in LANES])
    wave.run("v_permlane16_var_b32 v3, v1, v2\nv_permlanex16_var_b32 v4, v1, v2")
    assert wave.get(3) == [100 + (lane & 16 | 3 * lane % 16) for lane in LANES]
    assert wave.get(4) == [100 + (lane & 16 ^ 16 | 3 * lane % 16) for lane in LANES]


@pytest.mark.parametrize(
    ("name", "dtype"), [("fp8", torch.float8_e4m3fn), ("bf8", torch.float8_e5m2)]
)
def test_floats_of_bytes(wave: Wave, name: str, dtype: torch.dtype) -> None:
    codes = np.arange(256, dtype=np.uint8)
    expected = torch.from_numpy(codes).view(dtype).float().numpy()
    for start in range(0, 256, 32):
        wave.set(1, [int(code) * 0x01000000 for code in codes[start : start + 32]])
        wave.set(2, [int(code) for code in codes[start : start + 32]])
        wave.run(f"v_cvt_f32_{name} v3, v1 byte_sel:3\nv_cvt_pk_f32_{name} v[4:5], v2")
        for register in (3, 4):
            found = np.array(wave.get(register), dtype=np.uint32).view(np.float32)
            np.testing.assert_array_equal(found, expected[start : start + 32])
        assert set(wave.get(5)) == {0}


@pytest.mark.parametrize(
    ("name", "dtype", "largest"),
    [("fp8", torch.float8_e4m3fn, 448.0), ("bf8", torch.float8_e5m2, 57344.0)],
)
def test_bytes_of_floats(wave: Wave, name: str, dtype: torch.dtype, largest: float) -> None:
    """Of what the format's range holds: beyond it PyTorch differs between versions."""
    draw = np.random.default_rng(12)
    magnitudes = 2.0 ** draw.uniform(-18, np.log2(largest), 32)
    values = (magnitudes * draw.choice([-1.0, 1.0], 32)).astype(np.float32)
    values[:4] = [0.0, -0.0, largest, np.nan]
    expected = torch.from_numpy(values).to(dtype).view(torch.uint8).tolist()
    wave.set(1, values.view(np.uint32).tolist())
    wave.set(2, f32(1.0))
    wave.set(3, 0xAAAAAAAA)
    wave.run(f"v_cvt_pk_{name}_f32 v3, v1, v2 op_sel:[0,0,1]")
    one = int(torch.tensor(1.0).to(dtype).view(torch.uint8))
    assert wave.get(3) == [(one << 8 | code) << 16 | 0xAAAA for code in expected]


def test_dot_products_of_bytes(wave: Wave) -> None:
    """2 and 3 as FP8 and BF8: codes of the OCP formats."""
    wave.set(1, 0x40444044)
    wave.set(2, 0x42404240)
    wave.set(3, f32(0.5))
    wave.run("v_dot4_f32_fp8_bf8 v4, v1, v2, v3")
    assert set(wave.get(4)) == {f32(24.5)}


def test_clock_in_two_registers(wave: Wave) -> None:
    wave.run(
        "s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES_HI)\n"
        "s_getreg_b32 s1, hwreg(HW_REG_SHADER_CYCLES_LO)\n"
        "s_getreg_b32 s2, hwreg(HW_REG_SHADER_CYCLES_HI)\n"
        "s_getreg_b32 s3, hwreg(HW_REG_SHADER_CYCLES_LO)"
    )
    before, after = (wave.machine.scalar[at] << 32 | wave.machine.scalar[at + 1] for at in (0, 2))
    assert 0 < before <= after


def test_mode_keeps_what_gfx12_does_not_have(wave: Wave) -> None:
    """NaN is clamped to 0 whatever is written to MODE."""
    wave.machine.scalar[1] = 0xF0
    wave.set(1, NAN)
    wave.run("s_setreg_b32 hwreg(HW_REG_MODE), s1\nv_add_f32_e64 v2, v1, v1 clamp")
    assert set(wave.get(2)) == {0}


@pytest.mark.parametrize("text", ["s_barrier_signal m0", "s_barrier_wait 1", "s_barrier_wait -2"])
def test_other_barriers_are_refused(engine: Engine, wave: Wave, text: str) -> None:
    unsupported_instruction = 101
    words = assemble(text, processor="gfx1201")
    assert engine.execute(words, wave.machine)
    assert wave.machine.fault == unsupported_instruction


def test_the_first_signal_of_a_lone_wave(wave: Wave) -> None:
    wave.run("s_barrier_signal_isfirst -1\ns_barrier_wait -1")
    assert wave.machine.scc == 1
