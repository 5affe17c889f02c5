"""Missing waits in RDNA3 assembly, on hand-written code after the manual's examples."""

from __future__ import annotations

import pytest

from cass_ray.execute.evidence.waits import missing_waits

FRAME = """
	.type	k,@function
k:
{body}
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
	.end_amdhsa_kernel
"""


def check(*lines: str) -> list[str]:
    body = "\n".join(line if line.endswith(":") else "\t" + line for line in lines)
    return [hazard.register for hazard in missing_waits(FRAME.format(body=body))]


def test_scalar_loads() -> None:
    load, use = "s_load_b128 s[0:3], s[4:5], null", "s_add_u32 s6, s2, s7"
    assert check(load, "s_waitcnt lgkmcnt(0)", use) == []
    assert check(load, use) == ["s2"]
    assert check(load, "s_load_b32 s9, s[4:5], 0x10", "s_waitcnt lgkmcnt(1)", use) == ["s2"]
    assert check(load, "s_add_u32 s6, s8, s7") == []


def test_vector_loads_end_in_order() -> None:
    loads = ["global_load_b32 v1, v0, s[0:1]", "global_load_b64 v[2:3], v0, s[2:3]"]
    assert check(*loads, "s_waitcnt vmcnt(1)", "v_add_f32_e32 v5, v1, v1") == []
    assert check(*loads, "s_waitcnt vmcnt(1)", "v_add_f32_e32 v5, v3, v1") == ["v3"]
    assert check(*loads, "s_waitcnt lgkmcnt(0)", "v_add_f32_e32 v5, v1, v1") == ["v1"]
    assert check(*loads, "v_mov_b32_e32 v2, 0") == ["v2"]


def test_stores_and_atomics() -> None:
    assert check("global_store_b32 v0, v1, s[0:1]", "v_mov_b32_e32 v1, 0") == []
    atomic = "global_atomic_add_u32 v1, v0, v2, s[0:1] glc"
    assert check(atomic, "v_mov_b32_e32 v3, v1") == ["v1"]
    assert check(atomic.removesuffix(" glc"), "v_mov_b32_e32 v3, v1") == []


def test_shared_memory_and_barriers() -> None:
    store = "ds_store_b32 v0, v1"
    assert check(store, "s_waitcnt lgkmcnt(0)", "s_barrier") == []
    assert check(store, "s_barrier") == [""]
    assert check("ds_load_b32 v1, v0", "v_add_nc_u32_e32 v2, v1, v1") == ["v1"]
    assert check("global_store_b32 v0, v1, s[0:1]", "s_barrier") == [""]
    waited = ["global_store_b32 v0, v1, s[0:1]", "s_waitcnt_vscnt null, 0x0", "s_barrier"]
    assert check(*waited) == []


def test_flat_operations_count_twice() -> None:
    # As clang has it for a virtual destructor: the store after the load is the one still out.
    pair = ["flat_load_b64 v[2:3], v[0:1]", "flat_store_b64 v[4:5], v[6:7]"]
    use = "v_add_f32_e32 v5, v2, v2"
    assert check(*pair, "s_waitcnt vmcnt(0) lgkmcnt(1)", use) == []
    assert check(*pair, "s_waitcnt vmcnt(0) lgkmcnt(2)", use) == ["v2"]
    assert check(*pair, "s_waitcnt lgkmcnt(1)", use) == ["v2"]


def test_paths_join() -> None:
    branch = ["s_cbranch_vccz .LBB0_2", "global_load_b32 v1, v0, s[0:1]", ".LBB0_2:"]
    assert check(*branch, "v_mov_b32_e32 v2, v1") == ["v1"]
    assert check(*branch, "s_waitcnt vmcnt(0)", "v_mov_b32_e32 v2, v1") == []


def test_loops_carry_what_is_out() -> None:
    loop = [".LBB0_1:", "v_mov_b32_e32 v2, v1", "global_load_b32 v1, v0, s[0:1]",
            "s_cbranch_scc1 .LBB0_1"]  # fmt: skip
    assert check(*loop) == ["v1"]
    assert check(*loop[:3], "s_waitcnt vmcnt(0)", loop[3]) == []


@pytest.mark.parametrize("text", ["", "garbage", "k:\n", "\tv_mov v1, v2\n", FRAME])
def test_anything_may_be_given(text: str) -> None:
    missing_waits(text)


def check_for(target: str, *lines: str) -> list[str]:
    body = "\n".join(line if line.endswith(":") else "\t" + line for line in lines)
    text = f'\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n' + FRAME.format(body=body)
    return [hazard.register for hazard in missing_waits(text)]


def test_rdna4_has_a_counter_for_each_kind() -> None:
    """RDNA4 ISA, 5.7: s_wait_kmcnt, s_wait_loadcnt, s_wait_dscnt, s_wait_storecnt."""
    load, use = "s_load_b32 s2, s[0:1], 0x34", "s_and_b32 s2, s2, 0xffff"
    assert check_for("gfx1201", load, "s_wait_kmcnt 0x0", use) == []
    assert check_for("gfx1201", load, "s_wait_loadcnt 0x0", use) == ["s2"]
    loads = ["global_load_b32 v1, v0, s[0:1]", "global_load_b64 v[2:3], v0, s[2:3]"]
    assert check_for("gfx1201", *loads, "s_wait_loadcnt 0x1", "v_add_f32_e32 v5, v1, v1") == []
    assert check_for("gfx1201", *loads, "s_wait_loadcnt 0x1", "v_add_f32_e32 v5, v3, v1") == ["v3"]
    both = [*loads, "ds_load_b32 v4, v0", "s_wait_loadcnt_dscnt 0x100"]
    assert check_for("gfx1201", *both, "v_add_f32_e32 v5, v1, v4") == []
    assert check_for("gfx1201", *both, "v_add_f32_e32 v5, v3, v4") == ["v3"]
    sample = "image_sample v[0:3], [v4, v5], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D"
    assert check_for("gfx1201", sample, "s_wait_samplecnt 0x0", "v_mov_b32_e32 v6, v0") == []
    assert check_for("gfx1201", sample, "s_wait_loadcnt 0x0", "v_mov_b32_e32 v6, v0") == ["v0"]


def test_rdna4_signals_barriers() -> None:
    store, signal = "global_store_b32 v0, v1, s[0:1]", "s_barrier_signal -1"
    assert check_for("gfx1201", store, signal, "s_barrier_wait -1") == [""]
    assert check_for("gfx1201", store, "s_wait_storecnt 0x0", signal, "s_barrier_wait -1") == []
    both = [store, "ds_store_b32 v0, v1", "s_wait_storecnt_dscnt 0x0"]
    assert check_for("gfx1201", *both, signal) == []
    atomic = "global_atomic_add_u32 v1, v0, v2, s[0:1] th:TH_ATOMIC_RETURN"
    assert check_for("gfx1201", atomic, "v_mov_b32_e32 v3, v1") == ["v1"]


def test_cdna_waits_for_loads_and_stores_by_one_counter() -> None:
    """CDNA3 ISA, 4.4: stores count in vmcnt too."""
    store, split = "global_store_dword v0, v5, s[0:1]", ".amdhsa_tg_split 1"
    assert check_for("gfx942", split, store, "s_waitcnt vmcnt(0)", "s_barrier") == []
    assert check_for("gfx942", split, store, "s_waitcnt lgkmcnt(0)", "s_barrier") == [""]
    load = "global_load_dword v1, v0, s[0:1]"
    assert check_for("gfx942", load, store, "s_waitcnt vmcnt(1)", "v_mov_b32_e32 v2, v1") == []
    assert check_for("gfx942", store, load, "s_waitcnt vmcnt(1)", "v_mov_b32_e32 v2, v1") == ["v1"]
    atomic = "global_atomic_add v1, v0, v2, s[0:1] sc0"
    assert check_for("gfx942", atomic, "v_mov_b32_e32 v3, v1") == ["v1"]
    assert check_for("gfx942", "ds_read_b32 v1, v0", "v_mov_b32_e32 v3, v1") == ["v1"]


def test_cdna_waits_for_lds_at_a_barrier_and_not_for_stores() -> None:
    """A workgroup's waves share the vector cache (LLVM's memory model of gfx942)."""
    store, shared = "global_store_dword v0, v5, s[0:1]", "ds_write_b32 v0, v1"
    assert check_for("gfx942", store, "s_barrier") == []
    assert check_for("gfx942", shared, store, "s_barrier") == [""]
    assert check_for("gfx942", shared, "s_waitcnt lgkmcnt(0)", store, "s_barrier") == []
    assert check_for("gfx1100", store, "s_barrier") == [""]
