"""Which processors a toolchain compiles for: by the device library's file for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cass_ray.toolchain.amd.targets import target_problem
from cass_ray.toolchain.locate import find_amd


@pytest.mark.amd
def test_what_the_toolchain_has_and_what_it_lacks(tmp_path: Path) -> None:
    found = find_amd()
    assert target_problem(found, "gfx942") == ""
    bare = replace(found, rocm_path=tmp_path)
    problem = target_problem(bare, "gfx1030")
    assert problem.startswith("gfx1030 needs ROCm's device libraries: install ")
    assert "CASS_ROCM_PATH" in problem
    (tmp_path / "amdgcn/bitcode").mkdir(parents=True)
    (tmp_path / "amdgcn/bitcode/oclc_isa_version_1030.bc").touch()
    assert target_problem(bare, "gfx1030") == ""


def test_an_unknown_one() -> None:
    with pytest.raises(ValueError, match="gfx942"):
        target_problem(None, "gfx943")  # type: ignore[arg-type]
