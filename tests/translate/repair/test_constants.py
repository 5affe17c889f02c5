"""Constants of a type that are read through a parameter."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

SOURCE = """\
#include <hip/hip_runtime.h>
struct Lens { static constexpr float scale = 4; static constexpr int size = 3; float f; };
__global__ void k(float* p, int n) { p[n] = 1; }
"""


@pytest.mark.amd
@pytest.mark.parametrize(
    ("body", "mended"),
    [
        ("constexpr float part = 1.f / lens.scale; return part;",
         "const float part = 1.f / lens.scale; return part;"),
        ("return 1; constexpr int n = 2 * lens.size, m = 4; return n + m;",
         "return 1; const int n = 2 * lens.size, m = 4; return n + m;"),
    ],
)  # fmt: skip
def test_they_are_constants_while_the_program_runs(body: str, mended: str, tmp_path: Path) -> None:
    text = f"{SOURCE}__device__ float g(const Lens& lens) {{ {body} }}\n"
    (tmp_path / "a.hip").write_text(text)
    _, source = compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), find_amd().compile)
    assert source == text.replace(body, mended)
