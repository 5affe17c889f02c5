"""``main`` without a value to return."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit

KERNEL = "__global__ void k(int* p) { *p = 1; }\n"


@pytest.mark.amd
def test_main_returns_zero(tmp_path: Path) -> None:
    text = f"{KERNEL}int main(int n, char**) {{ if (n > 1) return; return ; }}\n"
    (tmp_path / "a.hip").write_text(text)
    _, source = compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), find_amd().compile)
    assert source == text.replace("return;", "return 0;").replace("return ;", "return 0 ;")


@pytest.mark.amd
def test_other_functions_stay(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(f"{KERNEL}int other() {{ return; }}\n")
    with pytest.raises(CompileFailure, match="should return a value"):
        compile_repaired(Unit(tmp_path, PurePosixPath("a.hip")), find_amd().compile)
