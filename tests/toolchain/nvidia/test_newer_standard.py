"""Units in C++20 of which no command says so."""

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure, Unit
from tests.toolchain.nvidia.test_texture_references import nvidia

__all__ = ["nvidia"]

KERNEL = "__global__ void f(float* p) { *p = by<float>(); }\n"
SOURCES = (
    "#include <concepts>\ntemplate <class T> concept Real = std::floating_point<T>;\n"
    "template <Real T> __device__ T by() { return 2; }\n",
    "#include <concepts>\ntemplate <class T> requires std::same_as<T, float>\n"
    "__device__ T by() { return 2; }\n",
    "#include <bit>\nconstexpr int width = std::bit_width(8u);\n"
    "template <class T> __device__ T by() { return width; }\n",
    "#include <type_traits>\n"
    "template <class T> __device__ std::type_identity_t<T> by() { return 2; }\n",
    "template <class T>\nrequires(sizeof(T) == 4)\n__device__ T by() { return 2; }\n",
    "consteval int two() { return 2; }\ntemplate <class T> __device__ T by() { return two(); }\n",
    "#include <compare>\nstruct S { int a; auto operator<=>(const S&) const = default; };\n"
    "template <class T> __device__ T by() { return S{1} < S{2}; }\n",
)


@pytest.mark.parametrize("source", SOURCES)
def test_what_newer_code_has_is_compiled_as_it(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str
) -> None:
    (tmp_path / "a.cu").write_text(source + KERNEL)
    made = nvidia.compile(Unit(tmp_path, PurePosixPath("a.cu")))
    assert "-std=c++20" in made.flags.split()


@pytest.mark.amd
@pytest.mark.parametrize("source", SOURCES)
def test_the_amd_side_too(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.hip").write_text("#include <hip/hip_runtime.h>\n" + source + KERNEL)
    made = find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip")))
    assert "-std=c++20" in made.flags.split()


def test_a_name_that_no_standard_has_stays_an_error(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    source = (
        "#include <concepts>\ntemplate <class T> __device__ T by() { return std::span_of<T>; }\n"
    )
    (tmp_path / "a.cu").write_text(source + KERNEL)
    with pytest.raises(CompileFailure, match="span_of"):
        nvidia.compile(Unit(tmp_path, PurePosixPath("a.cu")))
