"""``__restrict__`` of what is no pointer for clang."""

from __future__ import annotations

import pytest

from cass_ray.translate.engines.registry import make_translator


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("half __restrict__ (*shared)[64]", "half (*shared)[64]"),
        ("unsigned int __restrict__ (*r)[4]", "unsigned int (*r)[4]"),
        ("float __restrict__ x[4]", "float x[4]"),
        ("const __restrict__ float x[4]", "const float x[4]"),
        ("unsigned int __restrict__ *x", "unsigned int *x"),
        ("float* __restrict__ *x", "float* __restrict__ *x"),
        ("float* __restrict__ x", "float* __restrict__ x"),
        ("float* __restrict__ x[4]", "float* __restrict__ x[4]"),
        ("float (*__restrict__ x)[4]", "float (*__restrict__ x)[4]"),
    ],
)
def test_arrays(parameter: str, expected: str) -> None:
    source = f"__global__ void k({parameter}) {{}}\n"
    made = make_translator("rules").translate(source, filename="a.cu").source
    assert f"void k({expected}) {{}}" in " ".join(made.split("\n")).replace("  ", " ")
