"""Which headers the AMD side of a unit is given, and which of PyTorch's are translated for it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.pipeline import provided
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.provided.packages_table import packages
from cass_ray.toolchain.provided.store import AMD_HEADERS
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        # ATen/cuda/Atomic.cuh names nothing of CUDA's runtime beside the header.
        ("#pragma once\n\n#include <cuda.h>\n", True),
        ("#include <cuda_fp16.h>\n", True),
        ("#  include <cuda_bf16.h>\n", True),
        ('#include "cuda.h"\n', True),
        ("#include <cuda/std/complex>\n", True),
        ("cudaStream_t s;\n", True),
        ("#include <ATen/cuda/Atomic.cuh>\n", False),
        ("#include <c10/cuda/CUDAStream.h>\n", False),
        ("// include cuda.h\n", False),
        ("namespace at::cuda {}\n", False),
        # opencv2/core/cuda/saturate_cast.hpp has PTX and no name of CUDA's; the other is x86's.
        ('__device__ int f(int a) { asm("abs.s32 %0, %0;" : "+r"(a)); return a; }\n', True),
        ('int f() { int a; asm volatile("rdtsc" : "=a"(a)); return a; }\n', False),
    ],
)
def test_headers_that_name_cuda_are_translated(text: str, translated: bool) -> None:
    assert provided.is_of_cuda(text) is translated


CUBLASLT = """
#include <cublasLt.h>
struct Context { cublasHandle_t plain; cublasLtHandle_t handle; cublasLtMatrixLayout_t layout; };
cublasStatus_t multiply(Context& c, cublasLtMatmulDesc_t description, const float* a, float* d,
                        cudaStream_t stream) {
  cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                 sizeof transposed);
  cublasLtMatrixLayoutCreate(&c.layout, CUDA_R_32F, 2, 3, 2);
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t result = {};
  int returned = 0;
  cublasLtMatmulAlgoGetHeuristic(c.handle, description, c.layout, c.layout, c.layout, c.layout,
                                 preference, 1, &result, &returned);
  const float one = 1, zero = 0;
  return cublasLtMatmul(c.handle, description, &one, a, c.layout, a, c.layout, &zero, d, c.layout,
                        d, c.layout, &result.algo, nullptr, 0, stream);
}
__global__ void k(float* p) { p[threadIdx.x] *= 2; }
"""


@pytest.mark.amd
def test_cublaslt_has_a_counterpart_where_the_hip_root_has_none(tmp_path: Path) -> None:
    translator = make_translator("rules")
    made = translator.translate(CUBLASLT, filename="a.cu")
    assert not made.errors
    folders = provided.provided_folders([packages()["nvidia-cublas"].key], translator)
    assert folders == (AMD_HEADERS,)
    (tmp_path / "a.hip").write_text(made.source)
    unit = Unit(tmp_path, PurePosixPath("a.hip"), system_directories=folders)
    output = find_amd().compile(unit)
    assert "hipblasLtMatmul" in output.host_assembly


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("__HIP_PLATFORM_NVCC__", False),
        ("__HIP_PLATFORM_NVIDIA__=1", False),
        ("__HIP_PLATFORM_AMD__", True),
        ("ENABLE_HIP", True),
        ("MY__HIP_PLATFORM_NVCC__", True),
    ],
)
def test_hips_headers_are_not_nvidias_on_the_amd_side(name: str, stays: bool) -> None:
    row = {"definitions": ["A=1", name], "configured": "recorded"}
    assert provided.unit_definitions(row, translated=True) == (("A=1", name) if stays else ("A=1",))
    assert name in provided.unit_definitions(row, translated=False)


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CUDA",
         "THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_HIP"),
        ("THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP",
         "THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP"),
        ("THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP", "THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP"),
    ],
)  # fmt: skip
def test_the_system_of_thrust_is_hip_on_the_amd_side(cuda: str, hip: str) -> None:
    row = {"definitions": [cuda], "configured": "recorded"}
    assert provided.unit_definitions(row, translated=True) == (hip,)
    assert cuda in provided.unit_definitions(row, translated=False)


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("CUDA_NO_HALF", "HIP_NO_HALF"),
        ("CUDA_NO_HALF=1", "HIP_NO_HALF=1"),
        ("__CUDA_NO_HALF_OPERATORS__", "__HIP_NO_HALF_OPERATORS__"),
        ("__CUDA_NO_HALF_CONVERSIONS__=1", "__HIP_NO_HALF_CONVERSIONS__=1"),
        ("__CUDA_NO_HALF2_OPERATORS__", "__HIP_NO_HALF2_OPERATORS__"),
        ("MY_CUDA_NO_HALF", "MY_CUDA_NO_HALF"),
    ],
)
def test_what_keeps_half_out_of_its_header_does_on_both_sides(cuda: str, hip: str) -> None:
    row = {"definitions": [cuda], "configured": "recorded"}
    assert provided.unit_definitions(row, translated=True) == (hip,)
    assert cuda in provided.unit_definitions(row, translated=False)


def test_extensions_of_pytorch_have_what_its_builds_for_rocm_define() -> None:
    """``COMMON_HIPCC_FLAGS`` of ``torch.utils.cpp_extension``."""
    row = {"definitions": ["A=1"], "header_packages": ["torch-2.9.1-abc"]}
    made = provided.unit_definitions(row, translated=True)
    assert made[:3] == ("A=1", "USE_ROCM=1", "HIPBLAS_V2")
    assert provided.unit_definitions(row, translated=False) == ("A=1",)


@pytest.mark.parametrize(
    ("of_cuda", "of_both"),
    [("#include <cuda_bf16.h>", True), ("  operator BFloat16();", True), ("int other;", False)],
)
def test_bfloat16_of_pytorch_converts_on_both_sides(of_cuda: str, of_both: bool) -> None:
    condition = "#if defined(__CUDACC__) && !defined(USE_ROCM)"
    text = f"{condition}\n{of_cuda}\n#endif\n{condition} && defined(__CUDA_ARCH__)\n#endif\n"
    changed = text.replace(f"{condition}\n", "#if defined(__CUDACC__)\n")
    assert provided.for_clang(text) == (changed if of_both else text)


@pytest.mark.parametrize("translated", [False, True])
def test_units_that_include_rmm_have_what_its_cmake_target_defines(translated: bool) -> None:
    row = {"definitions": ["A=1"], "header_packages": ["librmm-cu13-25.10.0-abc"]}
    made = provided.unit_definitions(row, translated=translated)
    assert made == ("A=1", "LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE")


def test_a_header_that_a_header_outside_of_the_tree_includes_is_provided() -> None:
    said = "/usr/include/boost/mpi/config.hpp:22:10: fatal error: mpi.h: No such file or directory"
    failure = CompileFailure(Reason.MISSING_HEADER, said, "g++")
    row = {"path": "a.cu", "header_packages": ["boost"]}
    wider = provided.with_unopened_header(row, failure)
    assert wider is not None
    assert packages()["libopenmpi-dev"].key in wider["header_packages"]
    assert wider["header_packages"][0] == "boost"
    assert provided.with_unopened_header(wider, failure) is None
    assert row["header_packages"] == ["boost"]


@pytest.mark.parametrize(
    ("reason", "header"),
    [(Reason.MISSING_HEADER, "own_part.h"), (Reason.COMPILE_ERROR, "mpi.h")],
)
def test_other_failures_ask_for_no_package(reason: Reason, header: str) -> None:
    said = f"a.cu:1:10: fatal error: {header}: No such file or directory"
    failure = CompileFailure(reason, said, "g++")
    assert provided.with_unopened_header({"path": "a.cu"}, failure) is None


def test_an_assignment_to_constants_is_deleted() -> None:
    head = "GenericStringRef& operator=(const GenericStringRef& rhs)"
    written = f"struct A {{ {head} {{ s = rhs.s; }} const int s; }};\n"
    assert provided.for_clang(written) == f"struct A {{ {head} = delete; const int s; }};\n"
    other = written.replace("StringRef", "Other")
    assert provided.for_clang(other) == other


@pytest.mark.nvidia
def test_checks_that_nvcc_cannot_evaluate_are_left_out(tmp_path: Path) -> None:
    row = {"definitions": ["A"], "configured": "recorded"}
    given = provided.unit_definitions(row, translated=False)
    assert {"FMT_CONSTEVAL=", "FMT_USE_CONSTEVAL=0"} <= set(given)
    assert provided.unit_definitions({"definitions": ["A"]}, translated=False) == ("A",)
    assert provided.unit_definitions(row, translated=True) == ("A",)
    # Both ways in which fmt asks.
    text = (
        "#ifndef FMT_CONSTEVAL\n#error older\n#endif\n#if FMT_USE_CONSTEVAL\n#error newer\n#endif\n"
    )
    (tmp_path / "a.cu").write_text(f"{text}__global__ void k() {{}}\n")
    unit = Unit(tmp_path, PurePosixPath("a.cu"), definitions=given)
    assert find_nvidia().compile(unit)
