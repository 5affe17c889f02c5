"""Every kind of finding has a number, and a place in the documentation."""

from __future__ import annotations

import re

import pytest

from cass_ray.translate.diagnostics import DIAGNOSTICS, OTHER, diagnostic_of, documentation
from cass_ray.translate.project.build_files import translate_cmake, translate_setup
from cass_ray.translate.rules import RulesTranslator
from tests.folders import REPOSITORY


def test_the_page_is_what_the_table_says() -> None:
    assert (REPOSITORY / "docs" / "diagnostics.md").read_text() == documentation()


def test_numbers_are_unique_and_in_order() -> None:
    codes = [item.code for item in (OTHER, *DIAGNOSTICS)]
    assert codes == sorted(set(codes))
    assert all(re.fullmatch(r"CASS[123]\d{3}", code) for code in codes)
    assert all(item.page == f"docs/diagnostics.md#{item.code.lower()}" for item in DIAGNOSTICS)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('__global__ void f() { asm("wgmma.fence.sync.aligned;"); }', "CASS1001"),
        ("#include <cutlass/gemm/device/gemm.h>\n", "CASS1002"),
        ("cutlass::half_t value;", "CASS1003"),
        ("nvcuda::wmma::mma_sync(d, a, b, c);", "CASS1007"),
        ("__global__ void g();\n__global__ void f() { g<<<1, 1>>>(); }", "CASS1010"),
        ("/* never ends\nint x;", "CASS1011"),
        ("cuda::barrier<cuda::thread_scope_device> b;", "CASS1012"),
        ("#include <TH/TH.h>\nint n = THCudaTensor_size(state, x, 0);", "CASS1027"),
        ("__global__ void f(float* p) { *p = jnf(2, *p); }", "CASS1030"),
        ("__global__ void f(half* p) { half a = p[1]; p[0] = a <= p[2]; }", "CASS1030"),
        ("cudaNobodyKnows(1);", "CASS1000"),
    ],
)
def test_the_kind_of_a_finding(source: str, code: str) -> None:
    findings = RulesTranslator().translate(source, filename="a.cu").findings
    assert code in {diagnostic_of(item).code for item in findings}, findings


def test_the_kind_of_a_finding_in_a_build_file() -> None:
    cmake = "project(a LANGUAGES CUDA)\ntarget_link_libraries(a CUDA::nppc)\n"
    assert [diagnostic_of(f).code for f in translate_cmake(cmake).findings] == ["CASS1013"]
    setup = "setup(ext_modules=[CUDAExtension('a', ['a.cu'])])\n"
    assert [diagnostic_of(f).code for f in translate_setup(setup).findings] == ["CASS1015"]
