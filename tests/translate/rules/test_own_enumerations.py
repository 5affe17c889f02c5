"""Enumerations of a program's own with names of CUDA's."""

from __future__ import annotations

import pytest

import cass_ray
from cass_ray.translate.declared import declared_names
from cass_ray.translate.protocol import Context
from cass_ray.translate.rules import RulesTranslator

HEAD = "#include <hip/hip_runtime.h>\n"


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        # TensorRT's plugin/common/cublasWrapper.h: hipBLAS has one mode of mathematics for several.
        (
            "enum M { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_OP_N = f(1, 2) };",
            "enum M { HIPBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH = 1, HIPBLAS_OP_N = f(1, 2) };",
        ),
        (
            "enum class S : int\n{\nCUBLAS_STATUS_SUCCESS,\nCUBLAS_STATUS_LICENSE_ERROR = 16\n};",
            "enum class S : int\n{\nHIPBLAS_STATUS_SUCCESS,\nCUBLAS_STATUS_LICENSE_ERROR = 16\n};",
        ),
        (
            "enum { A = (1), CUBLAS_STATUS_LICENSE_ERROR, // last\n};",
            "enum { A = (1), CUBLAS_STATUS_LICENSE_ERROR, // last\n};",
        ),
        # What is not an enumerator is renamed, beside an enumeration and in its values.
        (
            "enum E { X = CUBLAS_TENSOR_OP_MATH, Y = CUBLAS_DEFAULT_MATH };",
            "enum E { X = HIPBLAS_DEFAULT_MATH, Y = HIPBLAS_DEFAULT_MATH };",
        ),
        ("enum E : int; int x = CUBLAS_OP_T;", "enum E : int; int x = HIPBLAS_OP_T;"),
        ("enum E { CUBLAS_OP_N", "enum E { HIPBLAS_OP_N"),
    ],
)
def test_enumerators(cuda: str, hip: str) -> None:
    assert cass_ray.translate(cuda).source == HEAD + hip


@pytest.mark.parametrize(
    "header",
    [
        # TensorRT's plugin/common/cudnnWrapper.h; MIOpen has another interface.
        "enum Status\n{\n CUDNN_STATUS_SUCCESS = 0,\n CUDNN_STATUS_NOT_INITIALIZED = 1,\n};\n",
        "typedef enum { /* a */ CUDNN_STATUS_SUCCESS, CUDNN_STATUS_NOT_INITIALIZED } S;\n",
        "enum class S : int {\n CUDNN_STATUS_NOT_INITIALIZED, // 0\n CUDNN_STATUS_SUCCESS\n};\n",
    ],
)
def test_names_without_a_counterpart_are_the_programs_own(header: str) -> None:
    use = "int f() { return CUDNN_STATUS_SUCCESS + CUDNN_STATUS_NOT_INITIALIZED; }\n"
    assert not cass_ray.translate(header + use).findings
    context = Context(frozenset(), declared_names([header]))
    assert not RulesTranslator().translate(use, context=context).findings
    others = "enum E { X = CUDNN_STATUS_SUCCESS, Y = f(CUDNN_STATUS_NOT_INITIALIZED) };\n"
    assert len(cass_ray.translate(others).findings) == 2


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        # cutlass/util/exceptions.h
        (
            "cudaError_t cudaError() const { return e; }",
            "hipError_t cudaError() const { return e; }",
        ),
        ("return x.cudaError();", "return x.cudaError();"),
        ("cudaError e = cudaError();", "hipError_t e = hipError_t();"),
        ("cudaError f(cudaError e);", "hipError_t f(hipError_t e);"),
    ],
)
def test_a_function_with_a_types_name(cuda: str, hip: str) -> None:
    assert hip in RulesTranslator().translate(cuda).source
