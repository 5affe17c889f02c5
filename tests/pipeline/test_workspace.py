"""Main files as compilers see them: the same in every build."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from cass_ray.pipeline.row_units import unit_of
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.sandbox import isolation
from cass_ray.translate.engines.registry import make_translator
from tests.toolchain.nvidia.test_toolchain import TOOLCHAIN

# Nothing that other units see: cicc names what is internal after the file and its time.
PROGRAM = """static __device__ float more(float x) { return x + 1; }
template <float (*op)(float)> static __global__ void kernel(float *p) { *p = op(*p); }
namespace { struct Start { Start() { kernel<more><<<1, 1>>>(nullptr); } } start; }
"""


def row() -> dict[str, Any]:
    empty = dict.fromkeys(("include_directories", "definitions", "header_packages", "forced"))
    return {"path": "src/u.cu", "tree": "", "cuda_source": PROGRAM, "hip_source": "", **empty}


def workspace() -> Workspace:
    return Workspace(lambda _: b"")


def test_each_main_file_was_written_at_the_same_time() -> None:
    trees = workspace()
    for root in (trees.original(row()), trees.translated(row(), make_translator("rules"))):
        place = root / "src/u.cu"
        written = place.stat().st_mtime_ns
        os.utime(place, (5, 5))
        trees.original(row())
        trees.translated(row(), make_translator("rules"))
        assert place.stat().st_mtime_ns == written


@pytest.mark.nvidia
@pytest.mark.skipif(TOOLCHAIN is None, reason="no CUDA compiler among the Python packages")
@pytest.mark.skipif(not isolation.available(), reason=isolation.problem())
def test_names_of_kernels_are_those_of_every_build(monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> list[str]:
        assert TOOLCHAIN is not None
        trees = workspace()
        unit = unit_of(row(), trees, None)
        ptx = TOOLCHAIN.compile(unit, want_ptx=True).ptx["sm_80"]
        return re.findall(r"\.entry (\w+)", ptx)

    first = names()
    assert "_INTERNAL_" in first[0]
    assert names() == first
    monkeypatch.setattr("cass_ray.pipeline.workspace._WRITTEN", 5.0)
    assert names() != first, "the time is part of the names"
