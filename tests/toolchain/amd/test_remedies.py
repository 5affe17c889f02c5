"""What nvcc takes and clang's HIP headers leave undecided means the same on both sides."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.amd.toolchain import PLAIN_VECTORS, AmdOutput
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

HALVES = "#include <hip/hip_bf16.h>\n#include <hip/hip_fp16.h>\n#include <hip/hip_runtime.h>\n"


def compiled(folder: Path, source: str) -> AmdOutput:
    (folder / "a.hip").write_text(HALVES + source)
    return find_amd().compile(Unit(folder, PurePosixPath("a.hip")))


@pytest.mark.amd
@pytest.mark.parametrize(
    ("call", "spelt_out"),
    [
        # nvcc 13.0 calls the float function in each of these.
        ("fma(x, h, y)", "fmaf(x, __half2float(h), y)"),
        ("copysign(x, h)", "copysignf(x, __half2float(h))"),
        ("fmax(h, x)", "fmaxf(__half2float(h), x)"),
        ("fmod(x, h)", "fmodf(x, __half2float(h))"),
        ("hypot(h, x)", "hypotf(__half2float(h), x)"),
        ("fma(x, b, y)", "fmaf(x, __bfloat162float(b), y)"),
    ],
)
def test_a_half_among_floats_is_a_float(tmp_path: Path, call: str, spelt_out: str) -> None:
    kernel = "__global__ void k(float* p, float x, float y, __half h, __hip_bfloat16 b)"
    made = compiled(tmp_path, f"{kernel} {{ *p = {call}; }}")
    plain = compiled(tmp_path, f"{kernel} {{ *p = {spelt_out}; }}")
    assert "-include cass_half_promotion.h" in made.flags
    assert "cass_half_promotion" not in plain.flags
    assert made.device_assembly == plain.device_assembly


@pytest.mark.amd
@pytest.mark.parametrize(
    "call",
    [
        "__shfl(x, 3, 32)",
        "__shfl_up(x, 1, 32)",
        "__shfl_down(x, 16, 32)",
        "__shfl_xor(x, 1, 32)",
        "__shfl_down(x, 4)",
    ],
)
def test_a_template_shuffles_bfloat16(tmp_path: Path, call: str) -> None:
    """A shuffle moves bits: of bfloat16 those that it moves of an unsigned number."""
    moved = f"template <class T> __device__ T moved(T x) {{ return {call}; }}\n"
    made = compiled(
        tmp_path,
        f"{moved} __global__ void k(__hip_bfloat16* p) {{"
        " p[threadIdx.x] = moved(p[threadIdx.x]); }",
    )
    plain = compiled(
        tmp_path,
        f"{moved} __global__ void k(unsigned short* p) {{"
        " p[threadIdx.x] = moved<unsigned>(p[threadIdx.x]); }",
    )
    assert "-include cass_bfloat16_shuffles.h" in made.flags
    assert "cass_bfloat16_shuffles" not in plain.flags
    assert made.device_assembly.count("ds_bpermute_b32") == 1
    assert plain.device_assembly.count("ds_bpermute_b32") == 1


@pytest.mark.amd
def test_a_constexpr_function_that_is_none_compiles_as_with_nvcc(tmp_path: Path) -> None:
    source = (
        "__device__ constexpr __half infinity() {"
        " const short v = 0x7c00; return *reinterpret_cast<const __half*>(&v); }\n"
        "__global__ void k(__half* p) { *p = infinity(); }"
    )
    assert "0x7c00" in compiled(tmp_path, source).device_assembly


@pytest.mark.amd
def test_rocprim_adds_pairs_of_counts_that_are_cudas_structs(tmp_path: Path) -> None:
    kernel = "__global__ void k(uint2* p, uint2 a, uint2 b) { *p = "
    sums = {
        "plus": f"#include <rocprim/functional.hpp>\n{kernel} rocprim::plus<uint2>()(a, b); }}",
        "hand": f"{kernel} uint2{{a.x + b.x, a.y + b.y}}; }}",
    }
    made = {}
    for name, text in sums.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.hip").write_text(PLAIN_VECTORS.read_text() + text)
        made[name] = find_amd().compile(Unit(tmp_path / name, PurePosixPath("a.hip")))
    assert made["plus"].flags == made["hand"].flags + " -include cass_rocprim_pairs.h"
    assert [each.device_assembly.count("\ts_add_") for each in made.values()] == [2, 2]
