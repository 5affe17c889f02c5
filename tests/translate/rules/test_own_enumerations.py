"""Enumerations of a program's own with names of CUDA's."""

from __future__ import annotations

import pytest

import cass_ray

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
