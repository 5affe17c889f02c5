"""What CUDA's halves take and HIP's do not decide between."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

KERNEL = "#include <hip/hip_fp16.h>\nstruct S {{ __half2 v[2]; }};\n"
KERNEL += "__global__ void k(__half2* h, __half* s, S* t) {{\n  {}\n}}\n"


@pytest.mark.amd
@pytest.mark.parametrize(
    "statement",
    [
        "h[2] = {s[0], s[1]};",
        "h[threadIdx.x] = {__float2half(1.0f), s[1]};",
        "t->v[1] = { s[0],\n    s[1] };",
        "__half2 a; a ={s[3], s[3]}; h[0] = a;",
        "for (int i = 0; i < 4; ++i) h[i] = {s[i], s[2 * i]}; *h = {s[0], s[0]};",
    ],
)
def test_a_list_is_assigned_to_a_pair_of_halves(statement: str, tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(KERNEL.format(statement))
    unit = Unit(tmp_path, PurePosixPath("a.hip"))
    _, mended = compile_repaired(unit, find_amd().compile_device)
    assert "half2{" in mended
    assert mended.replace("__half2{", "{").replace("half2{", "{") == KERNEL.format(statement)
