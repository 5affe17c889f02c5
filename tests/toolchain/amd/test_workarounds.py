"""What is done against clang 19's wrong code: unsigned divisions, scalars in other lanes."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.amd.workarounds import code_workarounds, may_lose_lanes
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit
from tests.translate.programs import output_of

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
    assert code_workarounds(version) == (
        "-mllvm",
        "-amdgpu-codegenprepare-disable-idiv-expansion",
    )


def test_newer_ones_do_not() -> None:
    assert code_workarounds("20.1.0") == ()
    assert code_workarounds("22.1.8, HIP 6.4.0") == ()


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


@pytest.mark.amd
def test_scalars_that_do_not_fit_take_no_lanes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "many.hip").write_text(MANY_SCALARS)
    unit, clang = Unit(tmp_path, PurePosixPath("many.hip")), find_amd()
    made = clang.compile_device(unit, "gfx1100", optimization="-O2")
    assert not may_lose_lanes(clang.version, made.device_assembly)
    assert "scratch_store" in made.device_assembly
    assert "-amdgpu-spill-sgpr-to-vgpr=false" in made.flags
    module = "cass_ray.toolchain.amd.workarounds.may_lose_lanes"
    monkeypatch.setattr(module, lambda version, assembly: False)
    alone = clang.compile_device(unit, "gfx1100", optimization="-O2").device_assembly
    assert may_lose_lanes("19.1.7", alone)
    assert not may_lose_lanes("20.1.0", alone)
