"""What is done against clang 19's wrong code: unsigned divisions, scalars in other lanes."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from cass_ray.toolchain.amd import toolchain, workarounds
from cass_ray.toolchain.amd.workarounds import (
    ANY_VERSION,
    KEEPS_EXITS,
    WAYS_TO_SPILL,
    LlvmOptions,
    as_flags,
    code_workarounds,
    losing_no_lanes,
    may_lose_lanes,
)
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.process import Completed, run
from cass_ray.toolchain.unit import Unit
from tests.translate.programs import output_of

DIVIDES_64_BITS = "-amdgpu-codegenprepare-disable-idiv-expansion"

# A dividend that is a sign-extended short: to clang 19 a number of 15 bits, whatever its sign.
DIVISION = """
#include <cstdio>
__global__ void divide(const short* given, unsigned long long* out) {
  unsigned long long dividend = (unsigned long long)(long long)given[threadIdx.x];
  out[threadIdx.x] = dividend / ((threadIdx.x & 63u) + 1u);
}
int main() {
  short given[64], *device_given;
  unsigned long long out[64], *device_out;
  for (int i = 0; i < 64; ++i) given[i] = (short)(i * 997 - 32000);
  cudaMalloc(&device_given, sizeof given);
  cudaMalloc(&device_out, sizeof out);
  cudaMemcpy(device_given, given, sizeof given, cudaMemcpyHostToDevice);
  divide<<<1, 64>>>(device_given, device_out);
  cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) printf("%d: %llu\\n", i, out[i]);
}
"""


@pytest.mark.parametrize("version", ["18.1.8", "19.1.7, HIP 6.2.41134"])
def test_clang_before_20_gets_the_flag(version: str) -> None:
    assert DIVIDES_64_BITS in code_workarounds(version)


@pytest.mark.parametrize("version", ["20.1.0", "22.1.8, HIP 6.4.0"])
def test_newer_ones_do_not(version: str) -> None:
    assert DIVIDES_64_BITS not in code_workarounds(version)


@pytest.mark.parametrize("version", ["18.1.8", "19.1.7, HIP 6.2.41134", "22.1.8"])
def test_parts_of_registers_are_selected_by_no_version(version: str) -> None:
    assert "-amdgpu-sdwa-peephole=0" in code_workarounds(version)


def test_what_is_done_about_an_unknown_version_is_everything() -> None:
    assert set(code_workarounds(ANY_VERSION)) >= {DIVIDES_64_BITS, "-amdgpu-sdwa-peephole=0"}


@pytest.mark.amd
def test_the_fingerprint_covers_the_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    with_flags = find_amd().fingerprint
    module = "cass_ray.toolchain.amd.toolchain.code_workarounds"
    monkeypatch.setattr(module, lambda version: ())
    assert find_amd().fingerprint != with_flags


@pytest.mark.amd
def test_a_negative_dividend_of_few_bits_is_divided_as_unsigned() -> None:
    expected = {str(i): str((i * 997 - 32000) % 2**64 // (i + 1)) for i in range(64)}
    assert output_of(DIVISION) == expected


MANY_SCALARS = """
#include <hip/hip_runtime.h>
__global__ void steps(const int* given, int* out, int n) {
  int kept[120];
#pragma unroll
  for (int i = 0; i < 120; ++i)
    asm volatile("s_add_i32 %0, %1, %2" : "=s"(kept[i]) : "s"(n), "n"(i + 64) : "scc");
  int value = given[threadIdx.x], count = 0;
  for (; value > 1; ++count) value = value & 1 ? 3 * value + 1 : value / 2;
#pragma unroll
  for (int i = 0; i < 120; ++i)
    asm volatile("v_add_nc_u32 %0, %0, %1" : "+v"(count) : "s"(kept[i]));
  out[threadIdx.x] = count;
}
int main() {}
"""
"""More scalars than there are registers for are alive across a loop that lanes leave early."""


SEVERAL_FUNCTIONS = """
#include <hip/hip_runtime.h>
__device__ int steps(int value) {
  int count = 0;
  for (; value > 1; ++count) value = value & 1 ? 3 * value + 1 : value / 2;
  return count;
}
__global__ void count(const int* given, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < n; ++j)
    if (i + j < n) out[i + j] += steps(given[i + j]) > j ? steps(j) : given[j];
}
int main() {}
"""


def spilling_unit(folder: Path) -> Unit:
    (folder / "many.hip").write_text(MANY_SCALARS)
    return Unit(folder, PurePosixPath("many.hip"))


@pytest.mark.amd
def test_scalars_with_a_register_to_themselves_stay_in_its_lanes(tmp_path: Path) -> None:
    clang = find_amd()
    made = clang.compile_device(spilling_unit(tmp_path), "gfx1100", optimization="-O2")
    assert "v_writelane_b32" in made.device_assembly
    assert "scratch_" not in made.device_assembly
    assert not any(option in made.flags for way in WAYS_TO_SPILL for option in way)


@pytest.mark.amd
@pytest.mark.parametrize(
    "target", ["gfx1100", "gfx942", pytest.param("gfx90a", marks=pytest.mark.slow)]
)
def test_unoptimized_code_is_made_again_with_registers_of_their_own(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without optimization clang 19 gives the registers of spilled scalars to other values, too."""
    (tmp_path / "plain.hip").write_text(SEVERAL_FUNCTIONS)
    unit, clang = Unit(tmp_path, PurePosixPath("plain.hip")), find_amd()
    made = clang.compile_device(unit, target, optimization="-O0")
    assert not may_lose_lanes(clang.version, made.device_assembly)
    assert WAYS_TO_SPILL[1][0] in made.flags
    monkeypatch.setattr(workarounds, "may_lose_lanes", lambda version, assembly: False)
    alone = clang.compile_device(unit, target, optimization="-O0").device_assembly
    assert may_lose_lanes("19.1.7", alone)
    assert not may_lose_lanes("20.1.0", alone)


@pytest.mark.amd
def test_what_loses_lanes_in_each_register_goes_to_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workarounds, "may_lose_lanes", lambda version, assembly: True)
    made = find_amd().compile_device(spilling_unit(tmp_path), "gfx1100", optimization="-O2")
    assert "scratch_store" in made.device_assembly
    assert "-amdgpu-spill-sgpr-to-vgpr=false" in made.flags
    assert "-no-stack-slot-sharing" in made.flags
    assert "-amdgpu-prealloc-sgpr-spill-vgprs" not in made.flags


@pytest.mark.amd
def test_code_that_is_made_again_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workarounds, "may_lose_lanes", lambda version, assembly: True)
    monkeypatch.setattr(workarounds, "may_lose_exits", lambda version, assembly: True)
    commands: list[list[str]] = []

    def noted(command: list[str], **options: Any) -> Completed:
        commands.append(command)
        return run(command, **options)

    monkeypatch.setattr(toolchain, "run", noted)
    clang = find_amd()
    made = clang.compile_device(spilling_unit(tmp_path), "gfx1100", optimization="-O2")
    assert "-amdgpu-skip-threshold=0" in made.flags
    if clang.hides_operands:
        parsed = [command for command in commands if "-emit-llvm" in command]
        assert len(parsed) == 1


@pytest.mark.amd
@pytest.mark.parametrize("options", [*WAYS_TO_SPILL[1:], KEEPS_EXITS])
@pytest.mark.parametrize("optimization", ["-O0", "-Os", "-O2"])
def test_what_generates_code_changes_nothing_before(
    options: LlvmOptions, optimization: str, tmp_path: Path
) -> None:
    """Else what is made again would have to be parsed again."""
    compiler = find_amd()
    flags = ["-emit-llvm", "-S", "-o", "-", "-x", "cl", "-target", "amdgcn-amd-amdhsa"]
    flags += ["-mcpu=gfx1100", "-nogpulib", "-cl-std=CL2.0", optimization, "unit.cl"]
    (tmp_path / "unit.cl").write_text(OPENCL)
    texts = [run([compiler.clang, *as_flags(each), *flags], cwd=tmp_path) for each in ((), options)]
    assert texts[0].ok, texts[0].stderr_text
    assert texts[0].stdout == texts[1].stdout


OPENCL = """
int called(int, __global int *);
__kernel void steps(__global int *out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) { sum += called(i, out); if (sum > out[i]) return; }
  out[get_global_id(0)] = sum / n;
}
"""


class Refused(Exception):
    """LLVM made nothing."""


SHARED = """\t.type\tsteps,@function
steps:
\tv_mov_b32_e32 v1, 0
\tv_writelane_b32 v1, s4, 0
.Lfunc_end0:
"""
"""v1 has a scalar in it, and another value."""


def compiled_in_turn(*results: str | Refused) -> tuple[str, float, LlvmOptions]:
    """What is taken of ``results``: assembly, each of a second, or what is raised."""
    left = iter(results)

    def make(options: LlvmOptions) -> tuple[str, float]:
        result = next(left)
        if isinstance(result, Refused):
            raise result
        return result, 1.0

    return losing_no_lanes("19.1.7, HIP 6.2.41134", make, Refused)


def test_the_first_code_that_loses_no_lanes_is_taken() -> None:
    assert compiled_in_turn("whole") == ("whole", 1.0, ())
    assert compiled_in_turn(SHARED, "whole") == ("whole", 2.0, WAYS_TO_SPILL[1])
    assert compiled_in_turn(SHARED, SHARED, "last") == ("last", 3.0, WAYS_TO_SPILL[2])


def test_where_llvm_finds_no_register_scalars_go_to_memory() -> None:
    assert compiled_in_turn(SHARED, Refused(), "last") == ("last", 2.0, WAYS_TO_SPILL[2])


def test_what_does_not_compile_is_not_compiled_again() -> None:
    with pytest.raises(Refused):
        compiled_in_turn(Refused(), "whole")


@pytest.mark.amd
def test_the_fingerprint_covers_headers_of_remedies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cass_remedy.h").write_text("#define ONE 1\n")
    monkeypatch.setattr(toolchain, "FOLDERS", (tmp_path,))
    before = find_amd().fingerprint
    (tmp_path / "cass_remedy.h").write_text("#define ONE 2\n")
    assert find_amd().fingerprint != before
