"""Operators on vector types are left to HIP where they do what HIP's do, and nowhere else."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.repair.loop import apply_fixes, at_declarations, diagnostics

NAMES = "operands of type 'Scalar3' (aka 'const HIP_vector_type<double, 3>')"
HIPS = "/r/include/hip/amd_detail/amd_hip_vector_types.h:577:65: note: candidate function\n"
BEFORE = "HOSTDEVICE inline Scalar3 "


def mended(operator: str, rest: str, note: str = "./math.h:2:27: note: candidate function") -> str:
    text = f"int a;\n{BEFORE}operator{operator}{rest}\n"
    said = f"box.h:9:1: error: use of overloaded operator '{operator}' is ambiguous (with {NAMES})"
    items = diagnostics(f"{said}\n{HIPS}{note}\n")
    return apply_fixes(text, at_declarations(items))[0]


PARAMETERS = "(const Scalar3& a, const Scalar3& b)"


@pytest.mark.parametrize(
    ("operator", "rest"),
    [
        ("/", f"{PARAMETERS}\n{{\n return make_scalar3(a.x / b.x, a.y / b.y, a.z / b.z);\n}}"),
        ("*", f"{PARAMETERS} {{ return h::make_scalar3(a.x*b.x, a.y*b.y, a.z*b.z); }}"),
        ("+", f"{PARAMETERS} {{ return Scalar3{{a.x + b.x, a.y + b.y, a.z + b.z}}; }}"),
        ("-", "(Scalar3 p, Scalar3 q) { return {p.x - q.x, p.y - q.y, p.z - q.z}; }"),
        ("+=", "(Scalar3& a, const Scalar3& b) { a.x+=b.x; a.y+=b.y; a.z+=b.z; return a; }"),
    ],
)
def test_an_element_wise_operator_is_left_to_hip(operator: str, rest: str) -> None:
    guarded = f"#ifndef __HIP_PLATFORM_AMD__  // HIP has this operator too\n{BEFORE}operator"
    made = mended(operator, rest)
    assert guarded in made
    assert f"{rest}\n#endif\n" in made


@pytest.mark.parametrize(
    ("operator", "rest"),
    [
        # A cross product, another order, another operation, fewer elements, a sum.
        ("*", f"{PARAMETERS} {{ return make(a.y*b.z - a.z*b.y, a.z*b.x, a.x*b.y); }}"),
        ("/", f"{PARAMETERS} {{ return make(b.x / a.x, b.y / a.y, b.z / a.z); }}"),
        ("+", f"{PARAMETERS} {{ return make(a.x - b.x, a.y - b.y, a.z - b.z); }}"),
        ("+", f"{PARAMETERS} {{ return make(a.x + b.x, a.y + b.y); }}"),
        ("*", f"{PARAMETERS} {{ return a.x*b.x + a.y*b.y + a.z*b.z; }}"),
        ("*", f"{PARAMETERS} {{ return 2 * make(a.x*b.x, a.y*b.y, a.z*b.z); }}"),
        ("*", f"{PARAMETERS};"),
    ],
)
def test_another_operator_stays(operator: str, rest: str) -> None:
    assert "#ifndef" not in mended(operator, rest)


def test_an_operator_that_is_not_beside_hips_stays() -> None:
    rest = f"{PARAMETERS} {{ return make(a.x*b.x, a.y*b.y, a.z*b.z); }}"
    assert "#ifndef" not in mended("*", rest, "./math.h:2:27: note: built-in candidate operator*")
    assert "#ifndef" not in mended("*", rest, "")


TREE = """#pragma once
#include <hip/hip_runtime.h>
__host__ __device__ inline double3 operator*(const double3& a, const double3& b) {
  return make_double3(BODY);
}
"""
PRODUCT = "a.x * b.x, a.y * b.y, a.z * b.z"


@pytest.mark.amd
@pytest.mark.parametrize(("body", "compiles"), [(PRODUCT, True), ("a.x, b.y, a.z", False)])
def test_a_unit_whose_header_has_it_compiles(tmp_path: Path, body: str, compiles: bool) -> None:
    (tmp_path / "m.h").write_text(TREE.replace("BODY", body))
    source = '#include "m.h"\n__global__ void k(double3* p) { p[0] = p[0] * p[1]; }\n'
    (tmp_path / "a.hip").write_text(source)
    unit = Unit(tmp_path, PurePosixPath("a.hip"), (PurePosixPath("."),))
    if compiles:
        made, _ = compile_repaired(unit, find_amd().compile)
        assert "v_mul_f64" in made.device_assembly
        assert (tmp_path / "m.h").read_text() == TREE.replace("BODY", body)
        return
    with pytest.raises(CompileFailure, match="ambiguous"):
        compile_repaired(unit, find_amd().compile)
