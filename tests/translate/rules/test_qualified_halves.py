"""Functions that are called by a namespace, and vectors of one number, compiled for AMD."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator

SOURCE = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace mine {
template <class T> __device__ T power(T x) { return ::hexp(x); }
}
__global__ void k(__half* h, __half2* p, __nv_bfloat16* b) {
  static __constant__ uint1 three = {3};
  h[0] = mine::power(h[1]);
  b[1] = mine::power(b[2]);
  p[0] = ::h2rsqrt(p[1]);
  b[0] = ::hlog(b[1]);
  h[three.x] = ::__hadd(h[1], :: __hfma(h[2], h[1], h[0]));
}
"""


@pytest.mark.amd
def test_calls_from_the_global_namespace_find_both_kinds(tmp_path: Path) -> None:
    made = make_translator("rules").translate(SOURCE, filename="a.cu")
    assert not made.errors
    (tmp_path / "a.hip").write_text(made.source)
    assert find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip"))).device_assembly


PRINTS = """
#include <cstdio>
#define KERNEL __global__
KERNEL void k(int* p) { std::printf("%d\\n", *p); }
"""


@pytest.mark.amd
def test_printf_of_the_standard_library_is_the_devices(tmp_path: Path) -> None:
    made = make_translator("rules").translate(PRINTS, filename="a.cu")
    (tmp_path / "a.hip").write_text(made.source)
    assert find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip"))).device_assembly


def test_functions_of_the_programs_own_stay() -> None:
    source = "__device__ int hexp(int x);\n__device__ int f(int x) { return ::hexp(x); }\n"
    assert "return ::hexp(x)" in make_translator("rules").translate(source).source
