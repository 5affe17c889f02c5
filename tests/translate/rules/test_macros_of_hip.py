"""Names that HIP's runtime header defines as macros, and programs use for something else."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

import cass_ray
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.rules import RulesTranslator

PROGRAM = """\
#include <cuda_runtime.h>
#ifndef DEPRECATED
#if __cplusplus >= 201402L
#define DEPRECATED [[deprecated]]
#else
#define DEPRECATED __attribute__((deprecated))
#endif
#endif
DEPRECATED __device__ inline int old(int x) { return x; }
const unsigned MASK1 = 0x5u, MASK2 = 0xau;
enum { HW_ID = 3, ICMP_NE = 4 };
__global__ void k(unsigned* x) { *x = (*x & MASK1) | MASK2 | HW_ID; }
"""


def _translate(text: str) -> str:
    return cass_ray.translate(text).source.removeprefix("#include <hip/hip_runtime.h>\n")


@pytest.mark.amd
def test_a_program_with_such_names_compiles(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(cass_ray.translate(PROGRAM).source)
    made = find_amd().compile(Unit(root=tmp_path, main=PurePosixPath("a.hip")))
    assert ".amdhsa_kernel _Z1kPj" in made.device_assembly


@pytest.mark.parametrize(
    ("cuda", "undefined"),
    [
        ("int a;\n#ifndef DEPRECATED\n#define DEPRECATED 1\n#endif\n", "DEPRECATED"),
        ("#if !defined(DEPRECATED)\n#endif\n", "DEPRECATED"),
        ("#define DEPRECATED\n", "DEPRECATED"),
        ("const unsigned MASK1 = 3;\n", "MASK1"),
        ("int a, MASK2 = 3;\n", "MASK2"),
        ("enum E { ICMP_NE = 1 };\n", "ICMP_NE"),
        ("__constant__ int HW_ID[3];\n", "HW_ID"),
    ],
)
def test_they_are_undefined_first(cuda: str, undefined: str) -> None:
    made = _translate(cuda)
    lines = made.splitlines()
    assert f"#undef {undefined}" in lines


@pytest.mark.parametrize(
    "cuda",
    [
        "DEPRECATED void f();\n",  # a header that this one includes may define it
        "#define MASK1 7\nint x = MASK1;\n",
        "int x = y & MASK1;\n",
        "f(MASK1, MASK2 == 3);\n",
    ],
)
def test_uses_stay(cuda: str) -> None:
    assert _translate(cuda) == cuda


INLINE = """\
# define inline __device__ __forceinline__
struct field {
  unsigned v;
  inline field(unsigned a) : v(a) {}
  static __device__ __forceinline__ unsigned twice(field f) { return 2 * f.v; }
  inline operator unsigned() const { return v; }
};
# undef inline
__device__ __forceinline__ unsigned plain(unsigned x) { return x; }
__global__ void k(unsigned* x) { *x = field::twice(field(*x)) + plain(field(3)); }
"""


@pytest.mark.amd
def test_a_program_that_redefines_inline_compiles(tmp_path: Path) -> None:
    """sppark's fields, which CUDA's ``__forceinline__`` does not say ``inline`` in."""
    (tmp_path / "a.hip").write_text(cass_ray.translate(INLINE).source)
    made = find_amd().compile(Unit(root=tmp_path, main=PurePosixPath("a.hip")))
    assert ".amdhsa_kernel _Z1kPj" in made.device_assembly


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("#define inline __forceinline__\nint f();\n", True),
        ("#define inline \\\n  __forceinline__\n", True),
        ("#undef inline\n__forceinline__ int f();\n", False),
        ("#define inline_ __forceinline__\n", False),
        ("#define inline(x) __forceinline__ x\n", False),
        ("#define inline static\n#undef inline\n__forceinline__ int f();\n", False),
    ],
)
def test_where_inline_is_a_macro(text: str, changed: bool) -> None:
    mended = "__inline__ __attribute__((always_inline))"
    assert _translate(text) == (text.replace("__forceinline__", mended) if changed else text)


def test_a_projects_own_names_for_hip_hide_none_of_hips() -> None:
    """``hipDeviceProp_t`` is a macro of HIP's header: a second one of that name would hide it."""
    source = (
        "#ifdef __HIPCC__\n#include <hip/hip_runtime.h>\n"
        "#define cudaDeviceProp hipDeviceProp_t\n#endif\nvoid f(cudaDeviceProp* p);\n"
    )
    made = RulesTranslator().translate(source, filename="a.cuh").source
    assert "#define cudaDeviceProp hipDeviceProp_t\n" in made
    assert "void f(hipDeviceProp_t* p);" in made
