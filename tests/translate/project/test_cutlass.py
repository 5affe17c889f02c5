"""CUTLASS' headers for the AMD side: what is left out, what is refused where it becomes code."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project import cutlass
from cass_ray.translate.project.refusals import RefusingTranslator, left_to_the_compiler
from cass_ray.translate.protocol import Context


def test_assembly_of_newer_architectures_is_left_out() -> None:
    text = 'void f() {\n  asm volatile ("wgmma.fence;\\n");\n  asm volatile("" ::: "memory");\n}\n'
    for newer in ("cute/arch/mma_sm90_gmma.hpp", "cute/arch/copy_sm100.hpp"):
        assert "wgmma" in cutlass.amended(newer, text)
        assert cutlass.amended(newer, text).count("asm volatile") == 1
    for older in ("cute/arch/mma_sm80.hpp", "cutlass/arch/memory_sm75.h"):
        assert cutlass.amended(older, text) == text


def test_a_misspelt_member_is_mended_in_cutlass_alone() -> None:
    text = "m.set_slice3x3({x});"
    assert cutlass.amended("cutlass/matrix.h", text) == "m.set_slice_3x3({x});"
    made = RefusingTranslator(make_translator("rules")).translate(text, filename="own/matrix.h")
    assert made.source == text


COPY = r"""
__device__ void copy(unsigned to, const void* from) {
  asm volatile(
#if CUTLASS_ENABLE_L2_PREFETCH
    "cp.async.ca.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(to),
#else
    "cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(to),
#endif
    "l"(from), "n"(16));
}
"""


def test_hints_that_conditions_choose_inside_of_assembly_are_left_out() -> None:
    refusing = RefusingTranslator(make_translator("rules"))
    made = refusing.translate(COPY, filename="include/cutlass/arch/memory_sm80.h")
    assert not made.errors
    assert "cass_refused" not in made.source
    assert refusing.translate(COPY, filename="own/memory.h").errors


TREE = "third_party/cutlass/include/cute/arch/"


def test_headers_of_cutlass_are_translated_for_one_architecture() -> None:
    condition = "#if __CUDA_ARCH__ >= 900\nint a;\n#endif\nint b = __CUDACC_VER_MINOR__;\n"
    refusing = RefusingTranslator(make_translator("rules"))
    made = refusing.translate(condition, filename=f"{TREE}config.hpp").source
    assert "__HIP_DEVICE_COMPILE__ * 800) >= 900" in made
    assert "int b = 7;" in made
    table = refusing.translate(condition, filename=f"{TREE}mma_sm90_gmma_ext.hpp").source
    assert "__CUDA_ARCH__ >= 900" in table
    assert "int b = 7;" not in refusing.translate(condition, filename="src/own.hpp").source


MACROS = r"""
#include <cassert>
#include <cstdio>
#if defined(__CUDA_ARCH__)
#define CUTLASS_NOT_IMPLEMENTED() { printf("no\n"); asm volatile ("brkpt;\n"); }
#  define CUTE_INVALID_CONTROL_PATH(x) assert(0 && x); printf(x); __brkpt()
#else
#define CUTLASS_NOT_IMPLEMENTED() assert(0)
#  define CUTE_INVALID_CONTROL_PATH(x) assert(0 && x)
#endif
template <class T> struct Tool {
  __host__ __device__ static void use(T*) { WHAT; }
};
template <> struct Tool<float> {
  __host__ __device__ static void use(float* x) { *x += 1; }
};
template <class T> __global__ void k(T* x) { Tool<T>::use(x); }
"""


@pytest.mark.amd
@pytest.mark.parametrize("what", ["CUTLASS_NOT_IMPLEMENTED()", 'CUTE_INVALID_CONTROL_PATH("no")'])
@pytest.mark.parametrize("kind", ["float", "int"])
def test_what_cutlass_does_not_implement_is_refused_as_code(
    what: str, kind: str, tmp_path: Path
) -> None:
    text = MACROS.replace("WHAT", what) + f"template __global__ void k<{kind}>({kind}*);\n"
    amended = cutlass.amended("a.h", text)
    context = Context(cuda_architecture=cutlass.ARCHITECTURE)
    made = make_translator("rules").translate(amended, filename="a.cu", context=context)
    (tmp_path / "a.hip").write_text(made.source)
    unit = Unit(tmp_path, PurePosixPath("a.hip"))
    if kind == "float":
        assert find_amd().compile(unit).device_assembly
        return
    with pytest.raises(CompileFailure, match="CUTLASS does not implement this for sm_80"):
        find_amd().compile(unit)


def test_a_project_that_uses_cutlass_is_left_to_the_compiler() -> None:
    source = "#include <cutlass/numeric_types.h>\ncutlass::half_t* p;\nnvcuda::wmma::row_major r;\n"
    errors = make_translator("rules").translate(source, filename="a.cu").errors
    assert {each.construct for each in errors} >= {"cutlass/numeric_types.h", "cutlass::"}
    stay = [each.construct for each in errors if not left_to_the_compiler(each, source)]
    assert not [each for each in stay if "cutlass" in each]
