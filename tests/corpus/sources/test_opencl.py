"""OpenCL sources, the shipped kernels, and how they pass filters and stages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.corpus.dialect import OPENCL, dialect_of, source_of
from cass_ray.corpus.parsing.kernels import kernel_definitions
from cass_ray.corpus.program import Program, ReadReject
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.screening.filters import FilterSettings, first_objection
from cass_ray.corpus.sources.opencl import SHIPPED_OPENCL_ROOT
from cass_ray.dataset.row import Origin, Reason, Stage
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.align import AlignStage
from cass_ray.pipeline.stages.amd import AmdStage
from cass_ray.pipeline.stages.nvidia import NvidiaStage
from cass_ray.pipeline.stages.translate import TranslateStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.store import Store
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.engines.registry import make_translator
from tests.corpus.conftest import write_files

Read = Callable[..., list[Program | ReadReject]]

SCALE = """\
#include "scale.h"
__kernel void scale(__global float *values, const float factor, const int count) {
  const int i = get_global_id(0);
  if (i < count) {
    values[i] = scaled(values[i], factor);
  }
}

/* padding so that the file is long enough */
"""
HEADER = "float scaled(float value, float factor) { return native_exp(value) * factor; }\n"


def test_folder_gives_its_cl_files_alone(read: Read, tmp_path: Path) -> None:
    write_files(
        tmp_path, {"a/scale.cl": SCALE, "a/scale.h": HEADER, "b.cu": "__global__ void k();"}
    )
    (program,) = read(f"opencl:{tmp_path}")
    assert isinstance(program, Program)
    row = program.to_row()
    assert (row["path"], row["origin"]) == ("a/scale.cl", Origin.OPENCL.value)
    assert (row["cuda_source"], row["opencl_source"]) == ("", SCALE)
    assert dialect_of(row) is OPENCL
    assert source_of(row) == SCALE
    assert row["tree"]


def test_local_source_leaves_cl_files_alone(read: Read, tmp_path: Path) -> None:
    write_files(tmp_path, {"scale.cl": SCALE, "b.cu": "__global__ void k() {}"})
    assert [item.path for item in read(f"local:{tmp_path}")] == ["b.cu"]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("__kernel void f(__global int *p) { p[0] = 1; }", ["f"]),
        ("kernel void f(global int *p) { p[0] = 1; }", ["f"]),
        (
            "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void g(__global int *p)\n{}",
            ["g"],
        ),
        ("__kernel void declared(__global int *p);", []),
        ("// __kernel void f() {}\nint kernel_size;", []),
    ],
)
def test_kernels_of_opencl(source: str, names: list[str]) -> None:
    assert kernel_definitions(source, OPENCL) == names


def test_filter_names_the_word_that_is_missing() -> None:
    row = {"cuda_source": "", "opencl_source": "int f(int x) { return x; }\n" * 12}
    assert first_objection(row, FilterSettings()) == (
        Reason.NO_KERNEL,
        "no __kernel function is defined in the file or its local includes",
    )


def test_shipped_kernels_are_many_and_pass_the_filters(read: Read) -> None:
    rows = [item.to_row() for item in read("shipped-opencl")]
    assert len(rows) >= 40
    assert len(rows) == len(list(SHIPPED_OPENCL_ROOT.rglob("*.cl")))
    assert len({row["id"] for row in rows}) == len(rows)
    objections = {row["path"]: first_objection(row, FilterSettings()) for row in rows}
    assert {path: verdict for path, verdict in objections.items() if verdict} == {}


@pytest.fixture(scope="module")
def stages(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[StoredTrees, NvidiaStage, AmdStage]:
    store = StoredTrees(Store(tmp_path_factory.mktemp("trees")))
    trees = Workspace(store.get)
    settings = BuildSettings(sources=["shipped-opencl"], out=Path("unused"))
    nvidia = NvidiaStage(find_nvidia(), trees, settings)
    return store, nvidia, AmdStage(find_amd(), trees, make_translator("rules"), settings)


@pytest.mark.nvidia
@pytest.mark.amd
def test_a_program_with_a_header_becomes_a_pair_without_host_code(
    stages: tuple[StoredTrees, NvidiaStage, AmdStage], tmp_path: Path
) -> None:
    from cass_ray.corpus.sources.registry import parse_source

    store, nvidia, amd = stages
    write_files(tmp_path, {"a/scale.cl": SCALE, "a/scale.h": HEADER})
    (program,) = parse_source(f"opencl:{tmp_path}").iterate(tmp_path, store)
    [row] = TranslateStage(make_translator("rules"), nvidia.workspace).run([program.to_row()])
    [row] = AlignStage().run(amd.run(nvidia.run([row])))
    assert not row["reason"], row["diagnostic"]
    assert row["kernels"] == ["scale"]
    assert "MUFU.EX2" in row["cuda_device"]
    assert "v_exp_f32" in row["hip_device"]
    assert (row["cuda_host"], row["hip_host"], row["hip_source"]) == ("", "", "")
    assert amd.toolchain.assemble(row["hip_device"]).startswith(b"\x7fELF")


@pytest.mark.nvidia
@pytest.mark.amd
def test_what_does_not_compile_is_rejected_with_the_tools_message(
    stages: tuple[StoredTrees, NvidiaStage, AmdStage], tmp_path: Path
) -> None:
    from cass_ray.corpus.sources.registry import parse_source

    store, nvidia, _ = stages
    write_files(tmp_path, {"a.cl": "__kernel void f(__global int *p) { p[0] = nowhere; }\n"})
    (program,) = parse_source(f"opencl:{tmp_path}").iterate(tmp_path, store)
    (row,) = nvidia.run([program.to_row()])
    assert (row["stage"], row["reason"]) == (Stage.COMPILE_NVIDIA.value, "compile_error")
    assert "undeclared identifier 'nowhere'" in row["diagnostic"]


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.amd
def test_every_shipped_kernel_pairs(
    read: Read, stages: tuple[StoredTrees, NvidiaStage, AmdStage]
) -> None:
    _, nvidia, amd = stages
    rows = [{**item.to_row(), "hip_source": ""} for item in read("shipped-opencl")]
    done = AlignStage().run(amd.run(nvidia.run(rows)))
    assert {row["path"]: row["diagnostic"] for row in done if row["reason"]} == {}
