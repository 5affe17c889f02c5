"""The driver's device pointers count bytes and point to anything, as CUDA's numbers do."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

SOURCE = "#include <hip/hip_runtime.h>\nstruct M { hipDeviceptr_t base; hipDeviceptr_t all[2]; };\n"
SOURCE += "__global__ void k(int* p) { *p = 1; }\n"


@pytest.mark.amd
@pytest.mark.parametrize(
    ("statement", "mended"),
    [
        ("hipMemMap(m.base + n, n, 0, {}, 0);",
         "hipMemMap((char*)(m.base) + n, n, 0, {}, 0);"),
        ("hipDeviceptr_t p = m.all[1] + 4 * n;",
         "hipDeviceptr_t p = (char*)(m.all[1]) + 4 * n;"),
        ("m.base += n;", "reinterpret_cast<char*&>(m.base) += n;"),
        ("q->base = q->base - n;", "q->base = (char*)(q->base) - n;"),
        ("hipMemcpyHtoD(f() + n, q, n);", "hipMemcpyHtoD((char*)(f()) + n, q, n);"),
        ("hipDeviceptr_t p = reinterpret_cast<hipDeviceptr_t>(static_cast<const int*>(c));",
         "hipDeviceptr_t p = ((hipDeviceptr_t)(static_cast<const int*>(c)));"),
        ("const void* p = c + n;", "const void* p = (char*)(c) + n;"),
        ("auto p = reinterpret_cast < address_t > (c);", "auto p = ((address_t)(c));"),
    ],
)  # fmt: skip
def test_bytes_are_counted(statement: str, mended: str, tmp_path: Path) -> None:
    declared = "hipDeviceptr_t f();\nusing address_t = hipDeviceptr_t;\n"
    text = f"{SOURCE}{declared}void g(M m, M* q, size_t n, const void* c) {{ {statement} }}\n"
    (tmp_path / "a.hip").write_text(text)
    unit = Unit(tmp_path, PurePosixPath("a.hip"))
    _, source = compile_repaired(unit, find_amd().compile)
    assert source == text.replace(statement, mended)
