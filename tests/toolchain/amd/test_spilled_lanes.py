"""Which vector registers of spilled scalars may hold something else: assembly written by hand.

The prologues and epilogues are those that LLVM 19 writes for gfx1100, gfx942 and gfx90a.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.toolchain.amd.spilled_lanes import UNKNOWN, SharedRegister, main, shared_registers


def kernel(*lines: str, name: str = "steps") -> str:
    """A kernel that keeps two scalars in lanes of v43, and does ``lines`` in between."""
    body = [
        "; implicit-def: $vgpr43 : SGPR spill to VGPR lane",
        "v_writelane_b32 v43, s4, 0",
        "v_writelane_b32 v43, vcc_lo, 31",
        *lines,
        "v_readlane_b32 s4, v43, 0",
        "s_endpgm",
    ]
    return _whole(name, body) + f"\t.amdhsa_kernel {name}\n\t.end_amdhsa_kernel\n"


def function(*lines: str, name: str = "called") -> str:
    return _whole(name, list(lines))


def _whole(name: str, body: list[str]) -> str:
    text = "\n".join(line if line.endswith(":") else f"\t{line}" for line in body)
    return f"\t.type\t{name},@function\n{name}:    ; @{name}\n; %bb.0:\n{text}\n.Lfunc_end0:\n"


def found(assembly: str) -> list[tuple[int, str]]:
    return [(shared.register, shared.why) for shared in shared_registers(assembly)]


RDNA_SAVE = ("s_or_saveexec_b32 s0, -1", "scratch_store_b32 off, v43, s33 offset:4 ; 4-byte Folded")
RDNA_RESTORE = ("s_or_saveexec_b32 s0, -1", "scratch_load_b32 v43, off, s33 offset:4")
BACK = "s_mov_b32 exec_lo, s0"
WRITE, READ = "v_writelane_b32 v43, s30, 0", "v_readlane_b32 s30, v43, 0"
RETURN = "s_setpc_b64 s[30:31]"


def test_without_spills_there_is_nothing() -> None:
    assert found(_whole("steps", ["v_mov_b32_e32 v43, v1", "s_endpgm"])) == []


@pytest.mark.parametrize(
    "line",
    [
        "v_mov_b32_e32 v42, v44",
        "v_add_f64 v[44:45], v[41:42], 1.0",
        "s_swappc_b64 s[30:31], s[2:3]",
        "v_accvgpr_write_b32 a43, v42",
        "s_add_u32 s2, s2, table.v43@rel32@lo+4",
        "v_mov_b32_e32 v1, v2 ; not v43",
        "; implicit-def: $vgpr42 : SGPR spill to VGPR lane",
        "v_readlane_b32 s5, v12, s6",
        ".loc 1 43 0",
    ],
)
def test_what_names_no_register_of_theirs_is_no_use(line: str) -> None:
    assert found(kernel(line)) == []


@pytest.mark.parametrize(
    "line",
    [
        "v_mov_b32_e32 v43, v1",
        "v_mov_b32_e32 v1, v43",
        "v_add_f32_e64 v1, -v43, |v2|",
        "v_add_f64 v[1:2], v[42:43], 1.0",
        "global_store_b128 v1, v[40:44], s[0:1]",
        "v_dual_mov_b32 v1, v2 :: v_dual_add_f32 v3, v4, v43",
        "v_add_f16_e32 v1.l, v43.h, v2.l",
        "image_sample v0, [v1, v43], s[0:7], s[8:11] dmask:0x1",
        "v_accvgpr_write_b32 a0, v43",
        "v_accvgpr_read_b32 v43, a0",
        "scratch_store_b32 off, v43, s33 offset:4",
        "v_readlane_b32 s5, v43, s6",
        "v_readfirstlane_b32 s5, v43",
        "v_writelane_b32 v44, v43, 2",
        "v_movrels_b32_e32 v1, v2",
        "s_set_gpr_idx_on s5, gpr_idx(SRC0)",
        "v_mov_b32_e32 v1, v[first]",
    ],
)
def test_another_instruction_shares_the_register(line: str) -> None:
    assert (43, line) in found(kernel(line))


def test_a_lane_that_is_not_constant_may_be_any() -> None:
    line = "v_writelane_b32 v43, s5, s6"
    assert (UNKNOWN, "a write to a lane that is not a constant") in found(kernel(line))
    assert (43, line) in found(kernel(line))


def test_whole_wave_copies_within_a_kernel_are_another_use() -> None:
    """LLVM may move a register of scalars to another for a while, and use it for other values."""
    line = "v_accvgpr_write_b32 a35, v43"
    assert found(kernel("s_or_saveexec_b64 s[4:5], -1", line, "s_mov_b64 exec, s[4:5]")) == [
        (43, line)
    ]


def test_two_stores_of_scalars_may_overlap() -> None:
    """The second may begin in a loop whose next round needs what is in the first."""
    again = "; implicit-def: $vgpr43"
    assert found(kernel(again)) == [(43, "begun more than once")]
    assert found(kernel("; implicit-def: $vgpr43_vgpr44", "; implicit-def: $vgpr4")) == []


def test_each_function_is_read_by_itself() -> None:
    other = function("v_mov_b32_e32 v43, v1", RETURN)
    assert found(kernel() + other) == []
    both = kernel("v_mov_b32_e32 v43, v1", name="first") + kernel(name="second")
    assert [shared.function for shared in shared_registers(both)] == ["first"]


def test_what_is_outside_of_functions_is_not_known() -> None:
    outside = SharedRegister("", UNKNOWN, "a write to a lane outside of functions")
    assert list(shared_registers(f"\t{WRITE}\n" + kernel())) == [outside]


@pytest.mark.parametrize(
    ("save", "restore", "back"),
    [
        (RDNA_SAVE, RDNA_RESTORE, BACK),
        (
            ("s_or_saveexec_b64 s[2:3], -1", "scratch_store_dword off, v43, s33"),
            ("s_or_saveexec_b64 s[2:3], -1", "scratch_load_dword v43, off, s33"),
            "s_mov_b64 exec, s[2:3]",
        ),
        (
            ("s_or_saveexec_b64 s[2:3], -1", "buffer_store_dword v43, off, s[0:3], s33 offset:8"),
            ("s_or_saveexec_b64 s[2:3], -1", "buffer_load_dword v43, off, s[0:3], s33 offset:8"),
            "s_mov_b64 exec, s[2:3]",
        ),
        (  # after registers of which the caller has the lanes that do not run
            (
                "s_xor_saveexec_b64 s[2:3], -1",
                "scratch_store_dword off, v8, s33 offset:4",
                "s_mov_b64 exec, -1",
                "scratch_store_dword off, v43, s33",
                "v_nop",
            ),
            (
                "s_xor_saveexec_b64 s[2:3], -1",
                "scratch_load_dword v8, off, s33 offset:4",
                "s_mov_b64 exec, -1",
                "scratch_load_dword v43, off, s33",
            ),
            "s_mov_b64 exec, s[2:3]",
        ),
    ],
)
def test_a_function_saves_it_in_all_lanes(
    save: tuple[str, ...], restore: tuple[str, ...], back: str
) -> None:
    two_ways = ("s_cbranch_scc1 .LBB0_2", ".Ltmp7:", *restore, back, RETURN)
    last = (".LBB0_2:", READ, *restore, back, RETURN)
    whole = function(".Lfunc_begin0:", *save, back, WRITE, READ, *two_ways, *last)
    assert found(whole) == []


OTHERS_SAVE = ("s_xor_saveexec_b32 s0, -1", "scratch_store_b32 off, v43, s33 offset:4")
OTHERS_RESTORE = ("s_xor_saveexec_b32 s0, -1", "scratch_load_b32 v43, off, s33 offset:4")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ((WRITE, READ, RETURN), WRITE),
        ((*RDNA_SAVE, BACK, WRITE, READ, RETURN), RETURN),
        ((RDNA_SAVE[1], WRITE, *RDNA_RESTORE, BACK, RETURN), "scratch_store_b32"),
        ((*RDNA_SAVE, BACK, WRITE, RDNA_RESTORE[1], RETURN), "scratch_load_b32"),
        ((*RDNA_SAVE, BACK, WRITE, *RDNA_RESTORE, BACK, WRITE, RETURN), RETURN),
        ((*RDNA_SAVE, BACK, WRITE, *RDNA_RESTORE, BACK, ".LBB0_1:", RETURN), RETURN),
        ((".LBB0_1:", *RDNA_SAVE, BACK, WRITE, *RDNA_RESTORE, BACK, RETURN), "scratch_store_b32"),
        ((*RDNA_SAVE, BACK, WRITE, *RDNA_SAVE, *RDNA_RESTORE, RETURN), "scratch_store_b32"),
        ((*OTHERS_SAVE, BACK, WRITE, *RDNA_RESTORE, BACK, RETURN), "scratch_store_b32"),
        ((*RDNA_SAVE, BACK, WRITE, *OTHERS_RESTORE, BACK, RETURN), "scratch_load_b32"),
        (
            (RDNA_SAVE[0], "s_and_b32 exec_lo, exec_lo, s4", RDNA_SAVE[1], WRITE),
            "scratch_store_b32",
        ),
    ],
)
def test_a_caller_might_lose_what_is_in_other_lanes(lines: tuple[str, ...], why: str) -> None:
    assert any(
        register == 43 and said.startswith(why) for register, said in found(function(*lines))
    )


def test_of_registers_that_calls_overwrite_the_other_lanes_are_enough() -> None:
    """v8 to v15 are not kept for callers, but for those of their lanes that do not run."""
    lines = [*OTHERS_SAVE, BACK, WRITE, *OTHERS_RESTORE, BACK, RETURN]
    assert found(function(*(line.replace("v43", "v8") for line in lines))) == []
    assert found(function(*(line.replace("v43", "v48") for line in lines))) == []
    assert found(function(*(line.replace("v43", "v56") for line in lines))) != []


def test_as_a_program_it_says_what_is_shared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listing = tmp_path / "listing.s"
    listing.write_text(kernel())
    assert main([str(listing)]) == 0
    listing.write_text(kernel("v_mov_b32_e32 v43, v1"))
    assert main([str(listing)]) == 1
    said = "SharedRegister(function='steps', register=43, why='v_mov_b32_e32 v43, v1')\n"
    assert capsys.readouterr().out == said
