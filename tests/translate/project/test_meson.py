"""Meson's build files: what stands for CUDA's libraries."""

from __future__ import annotations

import pytest

from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.project.meson import translate_meson

HIP = "dependency('hip', method: 'cmake', modules: ['hip::host']"
BLAS = "dependency('hipblas', method: 'cmake', modules: ['roc::hipblas']"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = cc.find_library('cudart', dirs: a, required: false)", f"a = {HIP}, required: false)"),
        ("a = cc.find_library('cuda')", f"a = {HIP})"),
        ("cc.find_library('cublas',\n  required : true)", f"{BLAS}, required : true)"),
        ("a = dependency('cuda', version: '>=11')", f"a = {HIP})"),
        (
            "dependency('cuda', modules: ['cudart', 'cublas'])",
            f"declare_dependency(dependencies: [{HIP}), {BLAS})])",
        ),
        ("cc.find_library('cudarts')", "cc.find_library('cudarts')"),
        ("# cc.find_library('cuda')", "# cc.find_library('cuda')"),
        ("dependency('cudafoo')", "dependency('cudafoo')"),
    ],
)
def test_libraries_of_cuda_are_packages_of_rocm(text: str, expected: str) -> None:
    assert translate_meson(text).source == expected


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("project('a', 'cpp', 'cuda', version: '1')", 1),
        ("project('a', 'cpp')\nadd_languages('cuda', required: false)", 1),
        ("project('a', 'cpp')\noption = 'cuda'", 0),
    ],
)
def test_the_language_that_meson_does_not_have_is_named(text: str, errors: int) -> None:
    found = translate_meson(text)
    assert [diagnostic_of(each).code for each in found.findings] == ["CASS2003"] * errors
    assert found.source == text
