"""Constants that nvcc takes and clang does not."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

SOURCE = """\
#include <hip/hip_runtime.h>
struct Lens { static constexpr float scale = 4; static constexpr int size = 3; float f; };
__global__ void k(float* p, int n) { p[n] = 1; }
"""


@pytest.mark.amd
@pytest.mark.parametrize(
    ("body", "mended"),
    [
        ("constexpr float part = 1.f / lens.scale; return part;",
         "const float part = 1.f / lens.scale; return part;"),
        ("return 1; constexpr int n = 2 * lens.size, m = 4; return n + m;",
         "return 1; const int n = 2 * lens.size, m = 4; return n + m;"),
    ],
)  # fmt: skip
def test_they_are_constants_while_the_program_runs(body: str, mended: str, tmp_path: Path) -> None:
    text = f"{SOURCE}__device__ float g(const Lens& lens) {{ {body} }}\n"
    (tmp_path / "a.hip").write_text(text)
    _, source = compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), find_amd().compile)
    assert source == text.replace(body, mended)


@pytest.mark.amd
def test_a_constant_that_nothing_sets(tmp_path: Path) -> None:
    """nvcc 13 and GCC 12 take it, as nothing calls the operator."""
    text = (
        "#include <hip/hip_runtime.h>\n"
        "template <class T> struct A {{\n  const int size, other;\n  const int* const at;\n"
        "  A& operator=(const A& o) {{ {} return *this; }}\n}};\n"
        "__global__ void k(A<float>*) {{}}\n"
    )
    sets = "size = o.size; if (size) this->at = o.at; // size = 1\n"
    (tmp_path / "a.hip").write_text(text.format(sets))
    compiled, source = compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), find_amd().compile)
    assert compiled
    cast = "const_cast<typename std::remove_const<decltype({})>::type&>({})"
    assert source == text.format(
        f"{cast.format('size', 'size')} = o.size; if (size) {cast.format('at', 'this->at')}"
        " = o.at; // size = 1\n"
    )


@pytest.mark.amd
def test_functions_that_ask_nothing_of_an_object(tmp_path: Path) -> None:
    """nvcc 13 takes both conditions; clang 19 takes them of an object that is not ``this``."""
    text = (
        "#include <hip/hip_runtime.h>\n"
        "template <bool H> struct Place {{ constexpr bool is_host() const {{ return H; }} }};\n"
        "template <bool H> struct Tensor : Place<H> {{\n"
        "  constexpr int rank() const {{ return H ? 2 : 3; }}\n"
        "  __host__ __device__ int f() {{ if constexpr ({}is_host()) return 1; else return 2; }}\n"
        '  __device__ int g() {{ static_assert({}rank() == 3, "ü"); return f(); }}\n}};\n'
        "__global__ void k(Tensor<false> t, int* out) {{ *out = t.g(); }}\n"
        "int main() {{ return Tensor<true>().f() - 1; }}\n"
    )
    (tmp_path / "a.hip").write_text(text.format("this->", ""))
    compiled, source = compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), find_amd().compile)
    assert compiled
    asked = "cass::any<std::remove_reference_t<decltype(*this)>>."
    assert source.endswith(text.format(asked, asked).partition("\n")[2])
    assert source.count("extern T any;") == 1
