"""What is done against clang 19's deletion of branches that leave loops."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.lift.llvm import emit
from cass_ray.toolchain.amd import workarounds
from cass_ray.toolchain.amd.lost_exits import lost_exits, lost_exits_of_object, main
from cass_ray.toolchain.amd.workarounds import (
    KEEPS_EXITS,
    WAYS_TO_SPILL,
    LlvmOptions,
    code_workarounds,
    may_lose_exits,
    right_code,
)
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit
from tests.translate.programs import output_of

OTHER_LAYOUT = "-force-precise-rotation-cost"
"""No source was found for which clang 19 loses an exit without this option of LLVM."""

NESTED = """
__global__ void steps(unsigned* out, unsigned limit, unsigned rounds) {
  unsigned x = threadIdx.x, sum = 0;
  for (unsigned i = 0;; ++i) {
    unsigned j = 0;
    do {
      x ^= x >> 3;
      if (j == rounds) break;
      x *= 5;
    } while (++j < 30);
    sum += x;
    x = limit;
    if (threadIdx.x + i > limit) break;
  }
  out[threadIdx.x] = sum;
}
"""
"""The outer loop ends for each lane at another time, the inner one for all at once."""

PRINTED = f"""
#include <cstdio>
{NESTED}
int main() {{
  unsigned out[64], *device_out;
  cudaMalloc(&device_out, sizeof out);
  steps<<<1, 64>>>(device_out, 40, 7);
  cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) printf("%d: %u\\n", i, out[i]);
}}
"""

IR = """
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @steps(ptr addrspace(1) %out, i32 %limit, i32 %rounds) {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  br label %outer

outer:
  %given = phi i32 [ %lane, %0 ], [ %limit, %next ]
  %sum = phi i32 [ 0, %0 ], [ %added, %next ]
  %i = phi i32 [ 0, %0 ], [ %i.next, %next ]
  br label %inner

inner:
  %x = phi i32 [ %given, %outer ], [ %multiplied, %rest ]
  %j = phi i32 [ 0, %outer ], [ %j.next, %rest ]
  %shifted = lshr i32 %x, 3
  %mixed = xor i32 %shifted, %x
  %broken = icmp eq i32 %j, %rounds
  br i1 %broken, label %next, label %rest

rest:
  %multiplied = mul i32 %mixed, 5
  %j.next = add i32 %j, 1
  %last = icmp eq i32 %j.next, 3000
  br i1 %last, label %next, label %inner

next:
  %left = phi i32 [ %mixed, %inner ], [ %multiplied, %rest ]
  %added = add i32 %left, %sum
  %reached = add i32 %i, %lane
  %done = icmp ugt i32 %reached, %limit
  %i.next = add i32 %i, 1
  br i1 %done, label %end, label %outer

end:
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %added, ptr addrspace(1) %place
  ret void
}
"""
"""The same but for the most rounds, of which there are too many to be unrolled."""


def steps(lane: int, limit: int, rounds: int) -> int:
    """What ``NESTED`` computes, for ``rounds`` less than 30."""
    x, total, i = lane, 0, 0
    while True:
        for _ in range(rounds):
            x = (x ^ x >> 3) * 5 % 2**32
        total += x ^ x >> 3
        if lane + i > limit:
            return total % 2**32
        x, i = limit, i + 1


def loop(*end: str) -> str:
    """A loop that begins with the first line, and ends with ``end``."""
    return "\n".join((".LBB0_1:", "\tv_mov_b32_e32 v0, v1", *end, ""))


BACK = ("\ts_branch .LBB0_1", "; %bb.2:", "\ts_or_b32 exec_lo, exec_lo, s0")
UPDATE = "\ts_and_not1_b32 exec_lo, exec_lo, s0"
UPDATE_OF_64 = "\ts_andn2_b64 exec, exec, s[0:1]"


@pytest.mark.parametrize("update", [UPDATE, UPDATE_OF_64, "\ts_and_not1_b64 exec, exec, vcc"])
def test_a_loop_that_no_branch_leaves_has_lost_its_exit(update: str) -> None:
    assert list(lost_exits(loop(update, *BACK))) == [update.strip()]
    assert list(lost_exits(loop(update, ".LBB0_2: ; %next", *BACK))) == [update.strip()]
    kept = "\ts_cbranch_execz .LBB0_2"
    other = "\ts_cbranch_vccnz .LBB0_2"
    assert list(lost_exits(loop(update, other, kept, *BACK))) == [update.strip()]


@pytest.mark.parametrize("branch", ["s_cbranch_execz .LBB0_2", "s_cbranch_execnz .LBB0_1"])
@pytest.mark.parametrize("update", [UPDATE, UPDATE_OF_64])
def test_a_loop_with_a_branch_has_kept_it(update: str, branch: str) -> None:
    assert list(lost_exits(loop(update, f"\t{branch}", *BACK))) == []
    between = (".Ltmp3:", "\t.loc\t1 2 3", "", "\t; a comment", "\ts_nop 0")
    assert list(lost_exits(loop(update, *between, f"\t{branch}", *BACK))) == []


@pytest.mark.parametrize(
    "update",
    [
        "s_and_not1_saveexec_b32 s0, s0",
        "s_xor_b32 exec_lo, exec_lo, s0",
        "s_and_not1_b32 vcc_lo, exec_lo, s0",
        "s_or_b32 exec_lo, exec_lo, s0",
    ],
)
def test_where_lanes_wait_no_branch_is_needed(update: str) -> None:
    assert list(lost_exits(loop(f"\t{update}", *BACK))) == []


def assembled(folder: Path, processor: str, text: str) -> Path:
    """An object of this code."""
    source, made = folder / "code.s", folder / "code.o"
    source.write_text(text.replace("; %bb.2:", ".LBB0_2:"))
    command = [find_amd().clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={processor}"]
    subprocess.run([*command, "-c", source, "-o", made], check=True)
    return made


@pytest.mark.amd
@pytest.mark.parametrize(
    ("processor", "update", "others"),
    [
        ("gfx90a", UPDATE_OF_64, ("\ts_andn2_b64 vcc, exec, vcc",)),
        ("gfx942", UPDATE_OF_64, ("\ts_andn2_saveexec_b64 s[0:1], s[0:1]",)),
        ("gfx1030", "\ts_andn2_b32 exec_lo, exec_lo, s7", ("\ts_or_b32 exec_lo, exec_lo, s0",)),
        ("gfx1030", UPDATE_OF_64, ("\ts_mov_b64 exec, s[0:1]",)),
        ("gfx1100", UPDATE, ("\ts_and_not1_saveexec_b32 s0, s0",)),
        ("gfx1100", "\ts_and_not1_b64 exec, exec, vcc", ("\ts_xor_b32 exec_lo, exec_lo, s0",)),
        ("gfx1201", UPDATE, ("\ts_and_not1_b32 vcc_lo, exec_lo, s0",)),
    ],
)
def test_objects_are_read_as_their_processor_reads_them(
    processor: str, update: str, others: tuple[str, ...], tmp_path: Path
) -> None:
    back = [line.replace("b32 exec_lo, exec_lo, s0", "b64 exec, exec, s[0:1]") for line in BACK]
    lost = assembled(tmp_path, processor, loop(*others, update, *back))
    assert len(list(lost_exits_of_object(lost.read_bytes()))) == 1
    assert main([str(lost)]) == 1
    assert main([str(lost.with_suffix(".s"))]) == 1
    for branch in ("s_cbranch_execz .LBB0_2", "s_cbranch_execnz .LBB0_1"):
        kept = assembled(tmp_path, processor, loop(*others, update, f"\t{branch}", *back))
        assert main([str(kept)]) == 0
        assert main([str(kept.with_suffix(".s"))]) == 0


LOST = loop(UPDATE, *BACK)
SHARED = """\t.type\tsteps,@function
steps:
\tv_mov_b32_e32 v1, 0
\tv_writelane_b32 v1, s4, 0
.Lfunc_end0:
"""
"""v1 has a scalar in it, and another value."""


def compiled_in_turn(*results: str, version: str = "19.1.7") -> tuple[str, float, LlvmOptions]:
    """What is taken of ``results``: assembly, each of a second."""
    left = iter(results)
    return right_code(version, lambda options: (next(left), 1.0), RuntimeError)


def test_what_lost_an_exit_is_made_again_as_it_was_but_for_that() -> None:
    assert compiled_in_turn("whole") == ("whole", 1.0, ())
    assert compiled_in_turn(LOST, "whole") == ("whole", 2.0, KEEPS_EXITS)
    options = (*WAYS_TO_SPILL[1], *KEEPS_EXITS)
    assert compiled_in_turn(SHARED, LOST, "whole") == ("whole", 3.0, options)


def test_llvm_20_loses_none() -> None:
    assert compiled_in_turn(LOST, version="20.1.0, HIP 6.4.0") == (LOST, 1.0, ())


def in_the_other_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    def flags(version: str) -> tuple[str, ...]:
        return (*code_workarounds(version), "-mllvm", OTHER_LAYOUT)

    monkeypatch.setattr("cass_ray.toolchain.amd.toolchain.code_workarounds", flags)


def without_the_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workarounds, "may_lose_exits", lambda version, assembly: False)


@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942", "gfx1201"])
def test_source_is_compiled_with_its_exits(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_other_layout(monkeypatch)
    (tmp_path / "nested.hip").write_text(f"#include <hip/hip_runtime.h>\n{NESTED}")
    unit, clang = Unit(tmp_path, PurePosixPath("nested.hip")), find_amd()
    made = clang.compile_device(unit, target)
    assert not may_lose_exits("19.1.7", made.device_assembly)
    assert KEEPS_EXITS[0] in made.flags
    without_the_guard(monkeypatch)
    assert may_lose_exits("19.1.7", clang.compile_device(unit, target).device_assembly)


@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_lifted_code_has_its_exits(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = find_amd()
    monkeypatch.setattr(emit, "_LLVM_OPTIONS", (*emit._LLVM_OPTIONS, OTHER_LAYOUT))
    text, _ = emit.assembly(clang, IR, target)
    assert list(lost_exits(text)) == []
    without_the_guard(monkeypatch)
    text, _ = emit.assembly(clang, IR, target)
    assert len(list(lost_exits(text))) == 1


@pytest.mark.amd
def test_a_loop_with_its_exit_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    in_the_other_layout(monkeypatch)
    assert output_of(PRINTED) == {str(lane): str(steps(lane, 40, 7)) for lane in range(64)}
