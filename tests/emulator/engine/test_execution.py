"""What decoding makes of an instruction: EXEC, DPP, dual issue, 64-lane waves, MODE, control."""

from __future__ import annotations

import math
import struct

import pytest

from cass_ray.assembly.wave_mode import DENORMALS_MASK, IEEE, USUAL_MODE
from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import EXEC, M0, VCC, Wave, f16, f32

pytestmark = pytest.mark.amd

LANES = list(range(32))


def test_inactive_lanes_keep_their_values(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(1, LANES)
    wave.set(2, 7)
    wave.machine.scalar[EXEC] = 0x0000FF0F
    wave.run("v_add_nc_u32 v2, v1, 100")
    assert wave.get(2) == [100 + i if 0xFF0F >> i & 1 else 7 for i in LANES]


def test_comparison_clears_inactive_lanes(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(1, LANES)
    wave.machine.scalar[EXEC] = 0x00FFFFFF
    wave.machine.scalar[8] = 0xFFFFFFFF
    wave.run("v_cmp_gt_u32 s8, v1, 15")
    assert wave.machine.scalar[8] == 0x00FF0000


@pytest.mark.parametrize(
    ("control", "source"),
    [
        ("quad_perm:[3,2,1,0]", lambda i: i ^ 3),
        ("row_shl:1", lambda i: i + 1 if i % 16 < 15 else None),
        ("row_shr:2", lambda i: i - 2 if i % 16 >= 2 else None),
        ("row_ror:4", lambda i: i & 16 | (i - 4) & 15),
        ("row_mirror", lambda i: i ^ 15),
        ("row_half_mirror", lambda i: i ^ 7),
        ("row_share:3", lambda i: i & 16 | 3),
        ("row_xmask:5", lambda i: i ^ 5),
        ("dpp8:[7,6,5,4,3,2,1,0]", lambda i: i ^ 7),
    ],
)
def test_dpp_permutes_within_rows(engine: Engine, control: str, source: object) -> None:
    assert callable(source)
    wave = Wave(engine)
    wave.set(1, [1000 + i for i in LANES])
    wave.set(2, 5)
    suffix = "" if control.startswith("dpp8") else " row_mask:0xf bank_mask:0xf"
    wave.run(f"v_mov_b32_dpp v2, v1 {control}{suffix}")
    expected = [source(i) for i in LANES]
    # A lane without a source keeps its value.
    assert wave.get(2) == [5 if i is None else 1000 + i for i in expected]
    assert wave.machine.scalar[EXEC] == 0xFFFFFFFF


def test_dpp_masks_rows_and_banks_and_reads_zero_with_bound_control(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(1, 3)
    wave.set(2, 9)
    wave.run("v_mov_b32_dpp v2, v1 row_shl:1 row_mask:0x2 bank_mask:0x9 bound_ctrl:1")
    selected = [i for i in LANES if i >= 16 and i % 16 // 4 in (0, 3)]
    assert wave.get(2) == [(0 if i == 31 else 3) if i in selected else 9 for i in LANES]


def test_both_halves_of_a_dual_instruction_read_first(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(2, f32(2.0))
    wave.set(3, f32(3.0))
    wave.run("v_dual_add_f32 v2, v3, v3 :: v_dual_add_f32 v3, v2, v2")
    assert wave.get(2) == [f32(6.0)] * 32
    assert wave.get(3) == [f32(4.0)] * 32


def test_dual_accumulation_across_both_halves(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(2, f32(2.0))
    wave.set(3, f32(3.0))
    wave.run("v_dual_fmac_f32 v2, v3, v3 :: v_dual_mul_f32 v3, v2, v2")
    assert wave.get(2) == [f32(11.0)] * 32
    assert wave.get(3) == [f32(4.0)] * 32


def test_wave_of_64_lanes(engine: Engine) -> None:
    wave = Wave(engine, wide=True)
    wave.set(1, list(range(64)))
    wave.run(
        """v_cmp_gt_u32 vcc, v1, 40
        v_cndmask_b32 v2, 0, 1, vcc
        v_mbcnt_lo_u32_b32 v3, -1, 0
        v_mbcnt_hi_u32_b32 v3, -1, v3
        v_readlane_b32 s4, v1, 50
        v_permlane64_b32 v4, v1
        s_bcnt1_i32_b64 s5, vcc"""
    )
    assert wave.get(2) == [int(i > 40) for i in range(64)]
    assert wave.get(3) == list(range(64))
    assert wave.get(4) == [i ^ 32 for i in range(64)]
    assert wave.machine.scalar[4] == 50
    assert wave.machine.scalar[5] == 23
    assert wave.machine.scalar[VCC] == 0xFFFFFFFF << 41 & 0xFFFFFFFF
    assert wave.machine.scalar[VCC + 1] == 0xFFFFFE00


def test_rounding_mode_of_mode(engine: Engine) -> None:
    # 1 + 2^-30 is no f32: up gives the next number, down and nearest 1.
    for rounding, expected in ((0, 0x3F800000), (1, 0x3F800001), (2, 0x3F800000)):
        wave = Wave(engine)
        wave.set(1, f32(1.0))
        wave.set(2, f32(2.0**-30))
        wave.run(f"s_round_mode {rounding}\nv_add_f32 v3, v1, v2")
        assert wave.get(3) == [expected] * 32


_F32 = {  # value -> bits rounded to nearest, up, down, to zero (by hand: 24 bits are kept)
    0: (0x00000000, 0x00000000, 0x00000000, 0x00000000),
    1: (0x3F800000, 0x3F800000, 0x3F800000, 0x3F800000),
    0x7FFFFFFF: (0x4F000000, 0x4F000000, 0x4EFFFFFF, 0x4EFFFFFF),
    0x80000000: (0x4F000000, 0x4F000000, 0x4F000000, 0x4F000000),
    0x80000080: (0x4F000000, 0x4F000001, 0x4F000000, 0x4F000000),
    0x80000081: (0x4F000001, 0x4F000001, 0x4F000000, 0x4F000000),
    0x80000180: (0x4F000002, 0x4F000002, 0x4F000001, 0x4F000001),
    0xFFFFFFFF: (0x4F800000, 0x4F800000, 0x4F7FFFFF, 0x4F7FFFFF),
}


@pytest.mark.parametrize("rounding", range(4))
def test_unsigned_integers_are_converted_as_mode_says(engine: Engine, rounding: int) -> None:
    wave = Wave(engine)
    values = list(_F32)
    wave.set(1, [values[i % len(values)] for i in LANES])
    # Fields of MODE: single precision in bits 0 and 1, double in 2 and 3.
    wave.run(f"s_round_mode {rounding * 5}\nv_cvt_f32_u32 v3, v1\nv_cvt_f64_u32 v[4:5], v1")
    assert wave.get(3) == [_F32[values[i % len(values)]][rounding] for i in LANES]
    exact = [struct.unpack("<Q", struct.pack("<d", values[i % len(values)]))[0] for i in LANES]
    assert [low | high << 32 for low, high in zip(wave.get(4), wave.get(5), strict=True)] == exact


def test_denormals_are_flushed_where_mode_says_so(engine: Engine) -> None:
    kept, flushed = Wave(engine), Wave(engine, mode=USUAL_MODE & ~DENORMALS_MASK)
    for wave in (kept, flushed):
        wave.set(1, 0x00000100)
        wave.set(3, f16(2.0**-24))
        wave.run("v_add_f32 v2, v1, v1\nv_add_f16 v4, v3, v3")
    assert kept.get(2) == [0x200] * 32
    assert flushed.get(2) == [0] * 32
    assert kept.get(4) == [2] * 32
    assert flushed.get(4) == [0] * 32


@pytest.mark.parametrize(
    ("text", "kept", "flushed"),
    [
        ("v_max_f32 v4, v1, v1", 0x100, 0),
        ("v_max_f32 v4, v2, v2", 0x80000100, 0x80000000),
        ("v_max_f32 v4, v1, v2", 0x100, 0),
        ("v_min_f32 v4, v1, v2", 0x80000100, 0x80000000),
        ("v_min_f32 v4, v1, v3", 0x100, 0),
        ("v_max_f32 v4, v1, v3", 0x3F800000, 0x3F800000),
        ("v_med3_f32 v4, v1, v2, v3", 0x100, 0),
        ("v_minmax_f32 v4, v1, v3, v2", 0x100, 0),
    ],
)
def test_minima_flush_where_mode_says_so(
    engine: Engine, text: str, kept: int, flushed: int
) -> None:
    """As LLVM (``supportsMinMaxDenormModes``, GFX9 on) and Mesa's ACO have it."""
    for mode, expected in ((USUAL_MODE, kept), (USUAL_MODE & ~DENORMALS_MASK, flushed)):
        wave = Wave(engine, mode=mode)
        wave.set(1, 0x00000100)
        wave.set(2, 0x80000100)
        wave.set(3, f32(1.0))
        wave.run(text)
        assert wave.get(4) == [expected] * 32


def test_clamping_and_source_modifiers(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(1, f32(-3.0))
    wave.run(
        """v_mul_f32_e64 v2, |v1|, 4.0
        v_add_f32_e64 v3, -v1, 1.0 clamp
        v_add_f32_e64 v4, v1, 1.0 clamp"""
    )
    assert (wave.get(2)[0], wave.get(3)[0], wave.get(4)[0]) == (f32(12.0), f32(1.0), 0)


def test_calls_and_loops(engine: Engine) -> None:
    wave = Wave(engine)
    wave.run(
        """s_mov_b32 s4, 0
        s_mov_b32 s5, 100000
        s_add_i32 s4, s4, 3
        s_sub_i32 s5, s5, 1
        s_cmp_lg_u32 s5, 0
        s_cbranch_scc1 0xfffc
        s_getpc_b64 s[6:7]
        s_add_u32 s6, s6, 16
        s_addc_u32 s7, s7, 0
        s_setpc_b64 s[6:7]
        s_mov_b32 s4, 0
        s_mov_b32 s8, 1"""
    )
    assert wave.machine.scalar[4] == 300000
    assert wave.machine.scalar[8] == 1


def test_relative_registers(engine: Engine) -> None:
    wave = Wave(engine)
    wave.machine.scalar[M0] = 3
    for number in range(10, 16):
        wave.set(number, number)
    wave.run("v_movrels_b32 v1, v10\nv_movreld_b32 v11, v15")
    assert wave.get(1)[0] == 13
    assert wave.get(14)[0] == 15


def test_lds_round_trip_with_two_addresses(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(1, [8 * i for i in LANES])
    wave.set(2, [100 + i for i in LANES])
    wave.set(3, [200 + i for i in LANES])
    wave.run(
        """ds_store_2addr_b32 v1, v2, v3 offset1:1
        ds_load_b64 v[4:5], v1
        ds_add_rtn_u32 v6, v1, v3
        ds_load_2addr_b32 v[8:9], v1 offset0:1"""
    )
    assert wave.get(4) == [100 + i for i in LANES]
    assert wave.get(5) == [200 + i for i in LANES]
    assert wave.get(6) == [100 + i for i in LANES]
    assert wave.get(8) == [200 + i for i in LANES]
    assert wave.get(9) == [300 + 2 * i for i in LANES]


def test_wild_pointer_is_a_fault(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(1, 16)
    wave.set(2, 0)
    wave.run("global_load_b32 v3, v[1:2], off")
    assert wave.machine.fault != 0


def test_scratch_beyond_its_size_is_a_fault(engine: Engine) -> None:
    wave = Wave(engine)
    wave.set(1, [4 * i for i in LANES])
    wave.run("scratch_store_b32 v1, v1, off\nscratch_load_b32 v2, v1, off")
    assert wave.get(2) == [4 * i for i in LANES]
    assert wave.machine.fault == 0
    wave.set(1, 4096)
    wave.run("scratch_store_b32 v1, v1, off")
    assert wave.machine.fault != 0


# MODE without IEEE and with denormal results flushed: where output modifiers count.
_SCALING = USUAL_MODE & ~(DENORMALS_MASK | IEEE)


@pytest.mark.parametrize(("modifier", "factor"), [("mul:2", 2.0), ("mul:4", 4.0), ("div:2", 0.5)])
@pytest.mark.parametrize(
    ("mode", "scales"),
    [
        (_SCALING, True),
        (_SCALING | 1 << 9, False),  # IEEE
        (_SCALING | 0xA0, False),  # denormal results are kept
        (USUAL_MODE, False),
    ],
)
def test_output_is_scaled_where_mode_allows(
    engine: Engine, modifier: str, factor: float, mode: int, scales: bool
) -> None:
    wave = Wave(engine, mode=mode)
    numbers = [0.25 * i - 3.0 for i in LANES]
    wave.set(1, [f32(number) for number in numbers])
    wave.set(2, [f16(number) for number in numbers])
    wave.set(3, 0)  # f64: low half zero
    wave.set(4, 0x40080000)  # 3.0
    wave.run(
        f"""v_add_f32 v5, v1, 1.0 {modifier}
        v_add_f16 v6, v2, 1.0 {modifier}
        v_add_f64 v[7:8], v[3:4], 1.0 {modifier}"""
    )
    sums = [(number + 1.0) * (factor if scales else 1.0) for number in numbers]
    assert wave.get(5) == [f32(value) for value in sums]
    assert wave.get(6) == [f16(value) for value in sums]
    assert wave.get(8) == [0x40100000 + (int(math.log2(factor)) << 20 if scales else 0)] * 32


def test_scaled_output_has_neither_denormals_nor_negative_zero(engine: Engine) -> None:
    wave = Wave(engine, mode=_SCALING)
    smallest = 0x00800000
    wave.set(
        1, [0x80000000, smallest, smallest + 1, smallest << 1, 0x7F7FFFFF, 0xFF800000] + [0] * 26
    )
    wave.run(
        "v_max_f32 v2, v1, v1 div:2\nv_max_f32 v3, v1, v1 mul:2\nv_max_f32 v4, v1, v1 clamp mul:2"
    )
    assert wave.get(2)[:6] == [0, 0, 0, smallest, 0x7EFFFFFF, 0xFF800000]
    assert wave.get(3)[:6] == [0, smallest << 1, 0x01000001, 0x01800000, 0x7F800000, 0xFF800000]
    assert wave.get(4)[:6] == [0, smallest << 1, 0x01000001, 0x01800000, f32(1.0), 0]
