"""Kernels with many branches: functions of bounded size for LLVM, and the same results."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import gather
from cass_ray.lift import lift_cubin, names_for_host
from cass_ray.lift.analysis import outlining
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from tests.lift.test_programs import assert_as_clang, by_nvcc, run

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

PROGRAM = Unit(Path(__file__).parent / "programs", PurePosixPath("many_branches.cu"))
CHECKED = ("guarded", "leaving", "cases", "deeper", "meeting")
_FUNCTION = re.compile(r"^define [^@]*@\S*?(?P<name>[\w.]+)\"?\((?P<rest>.*?)^\}", re.M | re.S)


def blocks_by_function(text: str) -> dict[str, int]:
    """Basic blocks of each function of LLVM IR."""
    return {
        found["name"]: len(re.findall(r"^[\w.]+:", found["rest"], re.M))
        for found in _FUNCTION.finditer(text)
    }


@pytest.mark.parametrize(
    ("architecture", "target"), [("sm_80", "gfx1100"), ("sm_120", "gfx1100"), ("sm_80", "gfx942")]
)
def test_functions_are_of_bounded_size_and_results_right(
    architecture: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlining, "MOST_WITHOUT_OUTLINING", 200)
    monkeypatch.setattr(outlining, "MOST_IN_REGION", 80)
    sources = translated(gather(PROGRAM), make_translator())
    host = find_amd().compile(sources.write(tmp_path / "hip"), target, optimization="-O1")
    cubin = find_nvidia().compile(PROGRAM, (architecture,)).cubins[architecture]
    lifted = lift_cubin(
        cubin, target, names=names_for_host(Cubin.parse(cubin), host.device_assembly)
    )
    blocks = blocks_by_function(lifted.llvm_ir)
    assert sum(blocks.values()) > 1_000
    assert sum(".piece" in name for name in blocks) > 8
    assert max(blocks.values()) < 2 * outlining.MOST_IN_REGION
    found = run(host.host_assembly, lifted.assembly, tmp_path / "lifted", target)
    assert found.splitlines() == [f"{name}: 0 wrong, error 0" for name in CHECKED]


@pytest.mark.parametrize("name", ["counters.cu", "divisions.cu", "function_table.cu"])
def test_whatever_is_cut_does_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlining, "MOST_WITHOUT_OUTLINING", 1)
    monkeypatch.setattr(outlining, "MOST_IN_REGION", 6)
    assert_as_clang(name, "gfx1100", by_nvcc("sm_80", "sm_120"), tmp_path)
