"""Host functions that device code names where nothing of it becomes code: nvcc accepts that."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.amd.host_functions import made_callable
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit

KERNEL = """
#include <hip/hip_runtime.h>
#include "tools.h"
BODY
__global__ void k(int* p) { p[0] = 1; }
"""


def unit(folder: Path, header: str, body: str) -> Unit:
    (folder / "tools.h").write_text(header)
    (folder / "a.hip").write_text(KERNEL.replace("BODY", body))
    return Unit(folder, PurePosixPath("a.hip"), (PurePosixPath("."),))


IGNORE = """namespace u {
  /** unused; */
  template <typename... T> void
  ignore(const T&...)
  {
  }
}
"""


@pytest.mark.amd
@pytest.mark.parametrize(
    ("header", "body"),
    [
        # Each is accepted by nvcc 13.0 (-arch=sm_80), which makes no code of the device function.
        (IGNORE,
         "static __device__ __forceinline__ int f(volatile int* p) { u::ignore(p); return 1; }"),
        ("#pragma once\nstatic inline void log(int) {}\n",
         "__device__ static inline void f() { log(1); }"),
        ("#define MADE void made(int) {}\nMADE\n",
         "static __device__ inline void f() { made(1); }"),
        ("struct V { V() {} ~V() {} };\n", "static __device__ inline void f() { V v; }"),
        ("struct S { int x;\n public: static void m(int) {} };\n",
         "struct E { static __device__ int g(int*) { S::m(1); return 1; } };"),
        ("void plain(int) {}\n",
         "template <class T> __global__ void d(T* p) { if constexpr (sizeof(T) == 1) plain(1); }\n"
         "template __global__ void d<int>(int*);"),
        ("#include <cstdio>\n#define SAY(x) \\\n  std::puts(x)\n"
         "inline void say(char* t) { SAY(t); }\n",
         "static __device__ inline void f() { say(nullptr); }"),
    ],
)  # fmt: skip
def test_what_becomes_no_code_compiles(tmp_path: Path, header: str, body: str) -> None:
    toolchain: AmdToolchain = find_amd()
    made = toolchain.compile(unit(tmp_path, header, body))
    assert "_Z1kPi" in made.device_assembly
    assert "_Z1kPi" in made.host_assembly or "k" in made.host_assembly
    assert (tmp_path / "tools.h").read_text() == header  # the tree is for other units too
    assert "ignore" not in made.device_assembly


@pytest.mark.amd
def test_the_flags_say_which_headers_were_changed(tmp_path: Path) -> None:
    body = "static __device__ inline void f(int* p) { u::ignore(p); }"
    toolchain = find_amd()
    assert (
        "[host functions callable: tools.h]"
        in toolchain.compile(unit(tmp_path, IGNORE, body)).flags
    )
    assert "callable" not in toolchain.compile(unit(tmp_path, IGNORE, "")).flags


@pytest.mark.amd
@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        (IGNORE, "static __device__ inline int f(int* p) { u::ignore(p); return other; }",
         "other"),
        ("", "void mine(int) {}\nstatic __device__ inline void f() { mine(1); }", "mine"),
        ("#include <cstdio>\ninline void say() { std::puts(\"\"); }\n",
         "__global__ void emitted() { say(); }", "say"),
    ],
)  # fmt: skip
def test_what_is_more_than_that_is_clangs_first_error(
    tmp_path: Path, header: str, body: str, said: str
) -> None:
    with pytest.raises(CompileFailure) as failed:
        find_amd().compile(unit(tmp_path, header, body))
    assert failed.value.reason is Reason.COMPILE_ERROR
    assert said in failed.value.diagnostic


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("void f(int) {}", "f(", "__host__ __device__ void f(int) {}"),
        ("int x; void f() {}", "f(", "int x; __host__ __device__ void f() {}"),
        ("template <class T>\nvoid f(T) {}", "f(",
         "template <class T>\n__host__ __device__ void f(T) {}"),
        ("template <template <class> class C, int N = (1)>\nC<int> f();", "f(",
         "template <template <class> class C, int N = (1)>\n__host__ __device__ C<int> f();"),
        ("struct S { public: S() {} };", "S()", "struct S { public: __host__ __device__ S() {} };"),
        ("// a; b {\nvoid f();", "f(", "// a; b {\n__host__ __device__ void f();"),
        ("#define A {\\\n;\n\nvoid f();", "f(",
         "#define A {\\\n;\n\n__host__ __device__ void f();"),
        ("#define A void f();\n", "f(", "#define A void f();\n"),
        ("__host__ __device__ void f();", "f(", "__host__ __device__ void f();"),
        ('auto s = ";{"; void f();', "f(", 'auto s = ";{"; __host__ __device__ void f();'),
    ],
)  # fmt: skip
def test_where_the_attributes_go(text: str, name: str, expected: str) -> None:
    offset = text.rindex(name)
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    assert made_callable(text, {(line, column)}) == expected


BESIDE = """
namespace other {
struct half : public __half_raw {
  __device__ operator float() const { return 0.0f; }
  __device__ operator __half() const { return __half(static_cast<const __half_raw&>(*this)); }
};
__device__ inline __half log(const half& a) { return ::hlog(a); }
}
"""


@pytest.mark.amd
def test_a_half_of_the_programs_own_beside_bfloat16(tmp_path: Path) -> None:
    """As Eigen has it: the code is that of hip_fp16.h's function, taken without bfloat16."""
    toolchain = find_amd()
    body = "__global__ void l(other::half* p, __half* q) { *q = other::log(*p); }"
    alone = "#include <hip/hip_fp16.h>\n" + BESIDE
    plain = toolchain.compile(unit(tmp_path, alone, body))
    assert "cass_half_log" not in plain.flags
    made = toolchain.compile(unit(tmp_path, "#include <hip/hip_bf16.h>\n" + alone, body))
    assert "-include cass_half_log.h" in made.flags
    assert made.device_assembly == plain.device_assembly
    assert "v_log_f32" in made.device_assembly


@pytest.mark.amd
@pytest.mark.parametrize(
    "call",
    [
        "isnan(x)",
        "isinf(y)",
        "isfinite(x) && isfinite(y)",
        "rsqrtf(x) > 1.0f",
        "rsqrt(y) > 1.0",
        "rsqrtf(x) > 1.0f && ::isnan(y)",
    ],
)
def test_functions_that_cuda_has_on_both_sides(tmp_path: Path, call: str) -> None:
    """As CUDA Math API says: they can be used in host code, too."""
    function = f"__host__ __device__ inline bool f(float x, double y) {{ return {call}; }}"
    header = f"#include <cmath>\n{function}\n"
    body = "__global__ void l(bool* p) { *p = f(1, 2); }\nbool host() { return f(1, 2); }"
    made = find_amd().compile(unit(tmp_path, header, body))
    assert "-include cass_host_math.h" in made.flags
    assert "_Z4hostv" in made.host_assembly
    assert "_Z1lPb" in made.device_assembly
