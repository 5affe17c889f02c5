"""The flag against clang 19's wrong unsigned division: it is passed, and the division is right."""

from __future__ import annotations

import pytest

from cass_ray.toolchain.amd.workarounds import code_workarounds
from cass_ray.toolchain.locate import find_amd
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
