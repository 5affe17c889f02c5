"""The harvest: counts against nvdisasm's listing, failures as rows, runs that continue."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import compile_unit
from benchmarks.lift.forms import count_rows
from benchmarks.lift.harvest import (
    NATIVELY,
    CubinRow,
    KernelRow,
    harvest,
    include_folders,
    measure,
    read_rows,
)
from benchmarks.lift.harvest_report import seconds_per_500
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit

_SOURCE = """
#if __CUDA_ARCH__ >= 900
__global__ void only_for_hopper(float *x) { x[threadIdx.x] *= 3.0f; }
#endif
__global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }
"""


def _written(root: Path, text: str) -> str:
    (root / "repository").mkdir()
    (root / "repository" / "a.cu").write_text(text)
    return "repository/a.cu"


@pytest.mark.nvidia
@pytest.mark.amd
def test_counts_are_those_of_the_disassembler(tmp_path: Path) -> None:
    file = _written(tmp_path, _SOURCE)
    row = measure(tmp_path, file, "90")
    unit = Unit(tmp_path / "repository", PurePosixPath("a.cu"))
    cubins, _ = compile_unit(find_nvidia(), unit, ["sm_90"], NATIVELY)
    listing = find_nvidia().disassemble([cubins["sm_90"]])[0]
    instructions = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+\S", listing, re.MULTILINE)
    assert row.instructions == len(instructions) == sum(k.sass_instructions for k in row.kernels)
    assert sum(row.standings.values()) == sum(row.forms.values()) == row.instructions
    assert {(k.name, k.state) for k in row.kernels} == {
        ("_Z15only_for_hopperPf", "lifted"),
        ("_Z5twicePf", "lifted"),
    }


@pytest.mark.nvidia
def test_the_front_end_is_that_of_the_architecture(tmp_path: Path) -> None:
    row = measure(tmp_path, _written(tmp_path, _SOURCE), "80")
    assert [kernel.name for kernel in row.kernels] == ["_Z5twicePf"]


@pytest.mark.nvidia
def test_what_nvcc_refuses_is_a_row_with_the_reason(tmp_path: Path) -> None:
    row = measure(tmp_path, _written(tmp_path, '#include "missing.h"\n'), "80")
    assert row.state == "refused"
    assert "missing.h" in row.detail


def test_a_second_run_makes_only_what_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    asked = []

    def one(file: str, architecture: str) -> CubinRow:
        asked.append((file, architecture))
        return CubinRow(file, architecture, "compiled")

    harvest(out, ["f/a.cu"], ["80"], one)
    with out.open("a") as file:
        file.write('{"file": "f/a.cu", "archi')  # cut off
    harvest(out, ["f/a.cu"], ["80", "90"], one)
    assert asked == [("f/a.cu", "80"), ("f/a.cu", "90")]
    assert [row["architecture"] for row in read_rows(out)] == ["80", "90"]


def test_include_folders_are_those_above_and_the_shared(tmp_path: Path) -> None:
    for folder in ("x/y", "lib/include", "lib/data"):
        (tmp_path / folder).mkdir(parents=True)
    found = include_folders(tmp_path, PurePosixPath("x/y/a.cu"))
    assert [str(path) for path in found] == ["x/y", "x", ".", "lib/include"]


def test_time_is_per_500_instructions_of_kernels_of_100() -> None:
    long = KernelRow("long", "lifted", "", 300, 250, 0.1, 0.2)
    short = KernelRow("short", "lifted", "", 100, 99, 9.0, 9.0)
    row = {"reading_seconds": 0.4, "kernels": [vars(long), vars(short)]}
    # (0.4 * 300 / 400 + 0.1 + 0.2) * 500 / 250
    assert [round(each, 6) for each in seconds_per_500(row)] == [1.2]


def test_forms_of_rows_are_those_of_cubins(tmp_path: Path) -> None:
    """A file that was measured again counts once, one without code not at all."""
    rows = [
        {"file": "a.cu", "architecture": "80", "instructions": 3, "forms": {"EXIT": 3}},
        {"file": "b.cu", "architecture": "80", "instructions": 0, "forms": {}},
        {"file": "b.cu", "architecture": "120", "instructions": 1, "forms": {"EXIT": 1}},
        {"file": "a.cu", "architecture": "80", "instructions": 2, "forms": {"EXIT": 1, "NOP": 1}},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    counted = count_rows(tmp_path)
    assert counted == {"sm_80": (1, {"EXIT": 1, "NOP": 1}), "sm_120": (1, {"EXIT": 1})}
