"""What gfx90a and gfx942 have and gfx11 has not: 64 lanes as one wave, SDWA, old DPP, packed f32.

Expected values follow from AMD's "MI300 Instruction Set Architecture" by hand.
"""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest

from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import EXEC, M0, VCC, Wave, assemble, f16, f32

pytestmark = pytest.mark.amd

LANES = list(range(64))


@pytest.fixture(params=["gfx90a", "gfx942"])
def wave(request: pytest.FixtureRequest, engine: Engine) -> Wave:
    return Wave(engine, processor=request.param)


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        ("quad_perm:[3,2,1,0]", [100 + (lane ^ 3) for lane in LANES]),
        ("row_shl:1", [100 + lane + 1 if lane % 16 < 15 else 7 for lane in LANES]),
        ("row_ror:4", [100 + (lane & 48 | (lane - 4) % 16) for lane in LANES]),
        ("row_mirror", [100 + (lane ^ 15) for lane in LANES]),
        ("row_half_mirror", [100 + (lane ^ 7) for lane in LANES]),
        ("row_bcast:15", [100 + lane // 16 * 16 - 1 if lane > 15 else 7 for lane in LANES]),
        ("row_bcast:31", [131 if lane > 31 else 7 for lane in LANES]),
        ("wave_shl:1", [101 + lane if lane < 63 else 7 for lane in LANES]),
        ("wave_shr:1", [99 + lane if lane > 0 else 7 for lane in LANES]),
        ("wave_rol:1", [100 + (lane + 1) % 64 for lane in LANES]),
        ("wave_ror:1", [100 + (lane - 1) % 64 for lane in LANES]),
    ],
)
def test_dpp_across_the_wave(wave: Wave, control: str, expected: list[int]) -> None:
    wave.set(1, [100 + lane for lane in LANES])
    wave.set(2, 7)
    wave.run(f"v_mov_b32_dpp v2, v1 {control}")
    assert wave.get(2) == expected


def test_dpp_reads_all_lanes_before_it_writes_any(wave: Wave) -> None:
    """The scan step that compilers end a reduction with."""
    wave.set(1, LANES)
    wave.run("v_add_u32_dpp v1, v1, v1 row_bcast:31 row_mask:0xc")
    assert wave.get(1) == [lane + 31 if lane > 31 else lane for lane in LANES]


def test_dpp_of_64_bits(wave: Wave) -> None:
    wave.set(2, [lane * 3 for lane in LANES])
    wave.set(3, [lane * 5 for lane in LANES])
    if wave.processor == "gfx942":
        wave.run("v_mov_b64_dpp v[4:5], v[2:3] row_newbcast:2")
        assert wave.get(4) == [3 * (lane & 48 | 2) for lane in LANES]
        assert wave.get(5) == [5 * (lane & 48 | 2) for lane in LANES]


@pytest.mark.parametrize(
    ("selects", "expected"),
    [
        ("dst_sel:DWORD src0_sel:BYTE_3 src1_sel:DWORD", 0x81 + 5),
        ("dst_sel:DWORD src0_sel:WORD_1 src1_sel:DWORD", 0x8142 + 5),
        ("dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", 0x8900),
        ("dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD", 0xAAAA8147),
        ("dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:DWORD", 0x0047BBBB),
        ("dst_sel:BYTE_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_0 src1_sel:DWORD", 0xFFFFFF89),
    ],
)
def test_sdwa_of_integers(wave: Wave, selects: str, expected: int) -> None:
    wave.set(1, 0x81420084)
    wave.set(2, 5)
    wave.set(3, 0xAAAABBBB)
    wave.run(f"v_add_u32_sdwa v3, v1, v2 {selects}")
    assert set(wave.get(3)) == {expected}


def test_sdwa_extends_signs_and_negates(wave: Wave) -> None:
    wave.set(1, 0x81000000)
    wave.run("v_add_u32_sdwa v2, sext(v1), v1 dst_sel:DWORD src0_sel:BYTE_3 src1_sel:BYTE_3")
    assert set(wave.get(2)) == {0xFFFFFF81 + 0x81 & 0xFFFFFFFF}
    wave.set(1, f16(1.5) << 16 | f16(4.0))
    wave.run(
        "v_add_f16_sdwa v2, -v1, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD"
        " src0_sel:WORD_1 src1_sel:WORD_0"
    )
    assert set(wave.get(2)) == {f16(2.5) << 16}


def test_a_result_of_16_bits_clears_the_rest(wave: Wave) -> None:
    wave.set(1, f16(1.0))
    wave.set(2, 0xFFFFFFFF)
    wave.run("v_add_f16 v2, v1, v1")
    assert set(wave.get(2)) == {f16(2.0)}


def test_lanes_of_both_halves_exchange(wave: Wave) -> None:
    wave.set(1, [4 * ((lane + 40) % 64) for lane in LANES])
    wave.set(2, [1000 + lane for lane in LANES])
    wave.run("ds_bpermute_b32 v3, v1, v2\nds_permute_b32 v4, v1, v2")
    assert wave.get(3) == [1000 + (lane + 40) % 64 for lane in LANES]
    assert wave.get(4) == [1000 + (lane - 40) % 64 for lane in LANES]


def test_a_mask_may_replace_a_scalar_that_it_is_compared_with(wave: Wave) -> None:
    wave.machine.scalar[2] = 40
    wave.set(1, LANES)
    wave.run("v_cmp_gt_i32_e64 s[2:3], s2, v1")
    assert (wave.machine.scalar[2], wave.machine.scalar[3]) == (0xFFFFFFFF, 0xFF)


def test_compare_and_exec(wave: Wave) -> None:
    """v_cmpx of gfx9 writes VCC as well."""
    wave.set(1, LANES)
    wave.run("v_cmpx_lt_u32 vcc, 35, v1")
    for pair in (VCC, EXEC):
        assert (wave.machine.scalar[pair], wave.machine.scalar[pair + 1]) == (0, 0xFFFFFFF0)


def test_registers_by_index(wave: Wave) -> None:
    for number in range(4, 8):
        wave.set(number, 100 + number)
    wave.machine.scalar[3] = 2
    wave.run("s_set_gpr_idx_on s3, gpr_idx(SRC0)\nv_mov_b32 v1, v4\ns_set_gpr_idx_off")
    assert set(wave.get(1)) == {106}
    wave.run("s_set_gpr_idx_on s3, gpr_idx(DST)\nv_mov_b32 v5, v4\ns_set_gpr_idx_off")
    assert set(wave.get(7)) == {104}


def test_what_an_index_would_change_otherwise_is_refused(engine: Engine) -> None:
    wave = Wave(engine, processor="gfx942")
    words = assemble(
        "s_set_gpr_idx_on s3, gpr_idx(SRC1)\nv_add_u32 v1, v4, v5\ns_set_gpr_idx_off",
        processor="gfx942",
    )
    assert not engine.execute(words, wave.machine)


def test_packed_f32(wave: Wave) -> None:
    values = {2: 1.5, 3: -2.0, 4: 4.0, 5: 0.5, 6: 10.0, 7: 20.0}
    for number, value in values.items():
        wave.set(number, f32(value))
    wave.run("v_pk_fma_f32 v[8:9], v[2:3], v[4:5], v[6:7]")
    assert (wave.get(8)[63], wave.get(9)[63]) == (f32(16.0), f32(19.0))
    wave.run("v_pk_mul_f32 v[8:9], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1] neg_hi:[1,0]")
    assert (wave.get(8)[0], wave.get(9)[0]) == (f32(-8.0), f32(-0.75))
    wave.run("v_pk_add_f32 v[8:9], v[2:3], 2.0 op_sel_hi:[1,0]")
    assert (wave.get(8)[33], wave.get(9)[33]) == (f32(3.5), f32(0.0))
    wave.run("v_pk_mov_b32 v[8:9], v[2:3], v[4:5] op_sel:[1,0]")
    assert (wave.get(8)[33], wave.get(9)[33]) == (f32(-2.0), f32(4.0))


def test_accumulation_registers(wave: Wave) -> None:
    wave.set(1, LANES)
    wave.run("v_accvgpr_write_b32 a3, v1\nv_accvgpr_mov_b32 a9, a3\nv_accvgpr_read_b32 v2, a9")
    assert wave.get(2) == LANES
    assert list(wave.machine.vector[256 + 9]) == LANES


def test_lds_compare_and_swap_has_the_comparison_first(wave: Wave) -> None:
    wave.set(1, [4 * lane for lane in LANES])
    wave.set(2, 0)
    wave.set(3, 9)
    wave.run("ds_cmpst_rtn_b32 v4, v1, v2, v3\nds_read_b32 v5, v1")
    assert set(wave.get(4)) == {0}
    assert set(wave.get(5)) == {9}


def test_atomics_of_f64_and_halves_in_lds(engine: Engine) -> None:
    wave = Wave(engine, processor="gfx942")
    low, high = struct.unpack("<II", struct.pack("<d", 0.25))
    wave.set(1, 0)
    wave.set(2, low)
    wave.set(3, high)
    wave.set(4, f16(0.5) << 16 | f16(1.0))
    wave.set(5, 0x3F800000 >> 16 | 0x4000 << 16)  # bf16: 1 and 2
    wave.run(
        "ds_add_f64 v1, v[2:3]\nds_pk_add_f16 v1, v4 offset:8\nds_pk_add_bf16 v1, v5 offset:12"
    )
    lds = bytes(wave.machine.lds[:16])
    assert struct.unpack("<d", lds[:8]) == (16.0,)
    assert struct.unpack("<ee", lds[8:12]) == (64.0, 32.0)
    assert struct.unpack("<HH", lds[12:16]) == (0x4280, 0x4300)  # 64 and 128


def test_loads_to_lds(engine: Engine) -> None:
    wave = Wave(engine, processor="gfx942")
    data = engine.memory(struct.pack("<64I", *(lane * lane for lane in LANES)))
    address = ctypes.addressof(data)
    wave.set(2, [(address + 4 * (63 - lane)) & 0xFFFFFFFF for lane in LANES])
    wave.set(3, address >> 32)
    wave.machine.scalar[M0 - 1] = 0x40  # M0 of gfx9
    wave.run("s_mov_b32 m0, 64\nglobal_load_lds_dword v[2:3], off")
    lds = np.frombuffer(bytes(wave.machine.lds[: 64 + 256]), "<u4")[16:]
    assert lds.tolist() == [(63 - lane) ** 2 for lane in LANES]
    # The offset belongs to both addresses; the one in LDS is a number of 32 bits.
    wave.set(2, [(address + 4 * lane + 64) & 0xFFFFFFFF for lane in LANES])
    wave.run("s_mov_b32 m0, 64\nglobal_load_lds_dword v[2:3], off offset:-64")
    lds = np.frombuffer(bytes(wave.machine.lds[:256]), "<u4")
    assert lds.tolist() == [lane**2 for lane in LANES]
    assert wave.machine.fault == 0


@pytest.mark.parametrize(("m0", "offset"), [(0, -64), (65536 - 128, 0)])
def test_loads_to_lds_beyond_it_are_a_fault(engine: Engine, m0: int, offset: int) -> None:
    """Below its start and behind its end: never other memory of this process."""
    wave = Wave(engine, processor="gfx942")
    data = engine.memory(bytes(512))
    address = ctypes.addressof(data) + 128
    wave.set(2, [(address + 4 * lane) & 0xFFFFFFFF for lane in LANES])
    wave.set(3, address >> 32)
    wave.run(f"s_mov_b32 m0, {m0}\nglobal_load_lds_dword v[2:3], off offset:{offset}")
    assert wave.machine.fault != 0


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        # The codes of a few numbers; beyond the largest one: NaN, 0x80. There is no -0.
        ("fp8", {1.0: 0x40, -1.0: 0xC0, 240.0: 0x7F, 0.0009765625: 0x01, 1.0625: 0x40,
                 1.1875: 0x42, 248.0: 0x80, -0.0: 0x00, float("inf"): 0x80}),
        ("bf8", {1.0: 0x40, -1.5: 0xC2, 57344.0: 0x7F, 2.0**-17: 0x01, 1.125: 0x40, 65536.0: 0x80,
                 -0.0: 0x00, float("nan"): 0x80}),
    ],
)  # fmt: skip
def test_floats_of_8_bits(engine: Engine, kind: str, codes: dict[float, int]) -> None:
    wave = Wave(engine, processor="gfx942")
    values = [*codes, *([0.0] * (64 - len(codes)))]
    wave.set(1, [f32(value) for value in values])
    wave.set(2, 0xAAAA0000)
    wave.run(f"v_cvt_pk_{kind}_f32 v2, v1, v1")
    expected = [code | code << 8 for code in codes.values()]
    assert [bits & 0xFFFF for bits in wave.get(2)[: len(codes)]] == expected
    assert {bits >> 16 for bits in wave.get(2)} == {0xAAAA}
    for number, code in enumerate(codes.values()):
        wave.set(3, code << 16)
        wave.run(f"v_cvt_f32_{kind}_sdwa v4, v3 src0_sel:BYTE_2")
        back = struct.unpack("<f", struct.pack("<I", wave.get(4)[0]))[0]
        if code == 0x80:
            assert np.isnan(back)
        else:
            assert abs(back - values[number]) <= abs(values[number]) / 8


def test_every_code_of_8_bits_returns_to_itself(engine: Engine) -> None:
    for kind in ("fp8", "bf8"):
        for start in range(0, 256, 64):
            wave = Wave(engine, processor="gfx942")
            wave.set(1, [start + lane for lane in LANES])
            wave.run(f"v_cvt_f32_{kind} v2, v1\nv_cvt_pk_{kind}_f32 v3, v2, v2")
            assert [bits & 0xFF for bits in wave.get(3)] == [start + lane for lane in LANES]


def test_dot_products_of_signed_integers(wave: Wave) -> None:
    wave.set(1, 0x80FF0102)  # -128, -1, 1, 2
    wave.set(2, 0x02030405)
    wave.run("v_dot4_i32_i8 v3, v1, v2, 10")
    assert set(wave.get(3)) == {(-256 - 3 + 4 + 10 + 10) & 0xFFFFFFFF}
    wave.run("v_dot2_i32_i16 v3, v1, v2, 0")
    assert set(wave.get(3)) == {(-0x7F01 * 0x0203 + 0x0102 * 0x0405) & 0xFFFFFFFF}


def test_gfx942_has_what_gfx90a_has_not(engine: Engine) -> None:
    words = assemble("v_mov_b64 v[2:3], v[4:5]", processor="gfx942")
    assert engine.decode(words, "gfx942") is not None
    assert engine.decode(words, "gfx90a") is None
