"""Status codes that HIP's libraries never return: programs have a ``case`` for each of them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator

# cusolver_common.h of CUDA 13; the first eleven are HIP's, too.
SOLVER = [
    "SUCCESS",
    "NOT_INITIALIZED",
    "ALLOC_FAILED",
    "INVALID_VALUE",
    "ARCH_MISMATCH",
    "MAPPING_ERROR",
    "EXECUTION_FAILED",
    "INTERNAL_ERROR",
    "MATRIX_TYPE_NOT_SUPPORTED",
    "NOT_SUPPORTED",
    "ZERO_PIVOT",
    "INVALID_LICENSE",
    "IRS_PARAMS_NOT_INITIALIZED",
    "IRS_PARAMS_INVALID",
    "IRS_PARAMS_INVALID_PREC",
    "IRS_PARAMS_INVALID_REFINE",
    "IRS_PARAMS_INVALID_MAXITER",
    "IRS_INTERNAL_ERROR",
    "IRS_NOT_SUPPORTED",
    "IRS_OUT_OF_RANGE",
    "IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES",
    "IRS_INFOS_NOT_INITIALIZED",
    "IRS_INFOS_NOT_DESTROYED",
    "IRS_MATRIX_SINGULAR",
    "INVALID_WORKSPACE",
]
BLAS = [
    "SUCCESS",
    "NOT_INITIALIZED",
    "ALLOC_FAILED",
    "INVALID_VALUE",
    "ARCH_MISMATCH",
    "MAPPING_ERROR",
    "EXECUTION_FAILED",
    "INTERNAL_ERROR",
    "NOT_SUPPORTED",
    "LICENSE_ERROR",
]


def named(function: str, kind: str, names: list[str]) -> str:
    cases = "".join(f'    case {name}: return "{name}";\n' for name in names)
    return f"const char* {function}({kind} s) {{\n  switch (s) {{\n{cases}  }}\n  return 0;\n}}\n"


@pytest.mark.amd
@pytest.mark.parametrize(
    ("header", "kind", "names"),
    [
        ("cusolverDn.h", "cusolverStatus_t", [f"CUSOLVER_STATUS_{name}" for name in SOLVER]),
        ("cublas_v2.h", "cublasStatus_t", [f"CUBLAS_STATUS_{name}" for name in BLAS]),
    ],
)
def test_a_case_for_each_status_compiles(
    tmp_path: Path, header: str, kind: str, names: list[str]
) -> None:
    source = f"#include <{header}>\n{named('name_of', kind, names)}__global__ void k() {{}}\n"
    made = make_translator("rules").translate(source)
    assert not made.errors
    (tmp_path / "a.hip").write_text(made.source)
    host = find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip"))).host_assembly
    assert all(f'"{name}"' in host for name in names)


def test_a_comparison_with_a_status_that_is_never_returned() -> None:
    source = (
        "#include <cusolverDn.h>\nbool f(int s) { return s == CUSOLVER_STATUS_INVALID_LICENSE; }\n"
    )
    made = make_translator("rules").translate(source)
    assert "s == (int)111" in made.source
