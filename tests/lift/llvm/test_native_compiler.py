"""The compiler of lifted IR: its code is that of clang where both run clang's passes."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path

import pytest

from cass_ray.lift.llvm import emit, native_compiler
from cass_ray.lift.llvm.native_compiler import PASSES, ir_compiler
from cass_ray.toolchain.locate import find_amd

MODULE = """
target triple = "amdgcn-amd-amdhsa"
define protected amdgpu_kernel void @scale(ptr addrspace(1) %out, float %by, i32 %count) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  br label %loop
loop:
  %i = phi i32 [ %id, %entry ], [ %next, %loop ]
  %wide = sext i32 %i to i64
  %place = getelementptr float, ptr addrspace(1) %out, i64 %wide
  %old = load float, ptr addrspace(1) %place, align 4
  %new = fmul float %old, %by
  %sum = fadd float %new, 1.0
  store float %sum, ptr addrspace(1) %place, align 4
  %next = add i32 %i, 64
  %more = icmp slt i32 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
"""


def instructions(assembly: str) -> list[str]:
    lines = (line.partition(";")[0].rstrip() for line in assembly.splitlines())
    return [line for line in lines if line and line.strip() != ".addrsig"]


@pytest.mark.parametrize("architecture", ["gfx1100", "gfx1200", "gfx942", "gfx90a"])
def test_with_clangs_passes_it_writes_what_clang_writes(
    architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = find_amd()
    compiler = ir_compiler(toolchain)
    assert compiler is not None, "Debian's clang is linked with LLVM's shared library"
    (tmp_path / "module.ll").write_text(MODULE)
    command = [compiler, tmp_path / "module.ll", architecture, "default<O3>", "verify", ""]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    monkeypatch.setattr(emit, "ir_compiler", lambda toolchain: None)
    by_clang, _ = emit.assembly(toolchain, MODULE, architecture)
    assert instructions(made) == instructions(by_clang)


def test_an_error_is_llvms() -> None:
    with pytest.raises(emit.CompilerFailure, match="expected top-level entity"):
        emit.assembly(find_amd(), "not IR", "gfx1100")


def test_its_own_passes_fuse_no_product_with_a_sum() -> None:
    compiler = ir_compiler(find_amd())
    assert compiler is not None
    assert "instcombine" in PASSES[0]
    assert "v_fma" not in emit.assembly(find_amd(), MODULE, "gfx1100")[0]


def test_a_library_without_these_passes_is_left_to_clang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_compiler, "PASSES", ("function(pass-of-another-llvm)", "verify"))
    toolchain = dataclasses.replace(find_amd(), cache=tmp_path)
    assert ir_compiler(toolchain) is None
    assert "v_fma" not in emit.assembly(toolchain, MODULE, "gfx1100")[0]


HALVES = """
target triple = "amdgcn-amd-amdhsa"
define protected amdgpu_kernel void @count(ptr addrspace(1) %out, i32 %by, i64 %end) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %unknown = shl i64 poison, 32
  br label %loop
loop:
  %low = phi i32 [ %id, %entry ], [ %next.low, %loop ]
  %high = phi i64 [ {start}, %entry ], [ {next}, %loop ]
  %word = zext i32 %low to i64
  %i = or i64 %high, %word
  %place = getelementptr i8, ptr addrspace(1) %out, i64 %i
  store i8 1, ptr addrspace(1) %place, align 1
  %step = zext i32 %by to i64
  %next.i = add i64 %i, %step
  %next.low = trunc i64 %next.i to i32
  %next.high = and i64 %next.i, -4294967296
  %below = and i64 %next.i, 4294967295
  %more = icmp ult i64 %next.i, %end
  br i1 %more, label %loop, label %end.of.it
end.of.it:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
"""


def joined(tmp_path: Path, start: str, following: str, afterwards: str = "verify") -> str:
    """IR after two words of a counter met, and then those passes."""
    compiler = ir_compiler(find_amd())
    assert compiler is not None
    module = HALVES.replace("{start}", start).replace("{next}", following)
    (tmp_path / "module.ll").write_text(module)
    show = ["verify", f"{afterwards},print", ""]
    done = subprocess.run(
        [compiler, tmp_path / "module.ll", "gfx1100", *show],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


@pytest.mark.parametrize("start", ["0", "4294967296", "-4294967296"])
def test_words_of_one_number_are_one_phi(tmp_path: Path, start: str) -> None:
    made = joined(tmp_path, start, "%next.high")
    assert re.search(r"%joined = phi i64 \[ %\d+, %entry \], \[ %next.i, %loop \]", made)
    assert "phi i32" not in made and made.count("phi i64") == 1
    assert "getelementptr i8, ptr addrspace(1) %out, i64 %joined" in made
    assert "freeze i32 %id" in made, "a word of which nothing is known must not spoil the other"


@pytest.mark.parametrize(
    ("start", "following"),
    [("1", "%next.high"), ("0", "%below"), ("0", "%next.i")],
)
def test_other_words_stay_apart(tmp_path: Path, start: str, following: str) -> None:
    made = joined(tmp_path, start, following)
    assert "%joined" not in made and "phi i32" in made


def test_a_word_of_which_nothing_is_known_leaves_the_other_as_it_was(tmp_path: Path) -> None:
    """The high word is poison at the start, as LLVM may find later than the words are joined."""
    combine = "function(instcombine<no-verify-fixpoint>)"
    made = joined(tmp_path, "%unknown", "%next.high", combine)
    start = re.search(r"%joined = phi i64 \[ (\S+), %entry \]", made)
    assert start and f"{start[1]} = zext i32 %id to i64" in made


def test_a_sum_is_hidden_from_the_carry_that_is_added_to_it(tmp_path: Path) -> None:
    """x + y wraps around and the carry's sum does not: LLVM 19 takes one carry for the other."""
    module = """target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @add(ptr addrspace(1) %out, i32 %x, i32 %y, i32 %z) {
  %first = add i32 %y, %z
  %wraps = icmp ult i32 %first, %y
  %carry = zext i1 %wraps to i32
  %sum = add i32 %x, %y
  %safe = add nuw i32 %x, 3
  %total = add i32 %sum, %carry
  %over = icmp ult i32 %total, %sum
  %other = add i32 %safe, %carry
  %never = icmp ult i32 %other, %safe
  %both = or i1 %over, %never
  %word = zext i1 %both to i32
  store i32 %word, ptr addrspace(1) %out
  ret void
}
"""
    compiler = ir_compiler(find_amd())
    assert compiler is not None
    (tmp_path / "module.ll").write_text(module)
    command = [compiler, tmp_path / "module.ll", "gfx1100", "verify", "verify"]
    made = {
        hides: subprocess.run(
            [*command, hides], capture_output=True, text=True, check=True
        ).stdout.count("s_xor_b32")
        for hides in ("", "yes")
    }
    assert made[""] == 0
    assert made["yes"] == 1, "neither what is compared with nothing nor what does not wrap"
