"""Rows whose source has no port: the AMD side is lifted, says so, runs under CUDA's own host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.dataset.row import is_rejected
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.lifted import LiftedBackend
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.references import ReferenceRun, ReferenceRuns
from cass_ray.execute.references_json import to_json
from cass_ray.pipeline.pieces.blocks import finished_columns
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import WORK_SCHEMA, Row
from cass_ray.pipeline.stages.execute import ExecuteStage
from cass_ray.pipeline.stages.lifted_side import LIFTER, OriginalPrograms
from cass_ray.pipeline.stages.order import Pool, StageContext, make_stages, wanted_stages
from cass_ray.pipeline.stages.reference import REFERENCE_COLUMN, ReferenceStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.store import Store

pytestmark = [pytest.mark.amd, pytest.mark.nvidia]

MAIN = """
int main() {
  unsigned host[32], *in, *out;
  for (unsigned i = 0; i < 32; ++i) host[i] = 5 * i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  low_bits<<<1, 32>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (unsigned value : host) std::printf("%u ", value);
}
"""
KERNEL = """
#include <cstdio>
__global__ void low_bits(const unsigned* in, unsigned* out) {
  unsigned result;
  BODY
  out[threadIdx.x] = result;
}
"""
PTX = """asm("szext.clamp.u32 %0, %1, %2;" : "=r"(result) : "r"(in[threadIdx.x]), "r"(3u));"""
"""The rules have no translation of it. PTX: zero-extends the number of the lowest three bits."""
PLAIN = "result = in[threadIdx.x] & 7;"
ONLY_NVCC = PLAIN + "\n#ifdef __HIP__\n#error no port\n#endif"
LEFT_OUT = PLAIN + "\n}\n#ifndef __HIP__\n__global__ void more(int* p) { *p = 1; }\n#endif\n"
LEFT_OUT += "__device__ void rest(unsigned* out, unsigned result) {"
EXPECTED = "".join(f"{5 * i % 8} " for i in range(32))


def program(body: str, main: str = MAIN) -> str:
    return KERNEL.replace("BODY", body) + main


class Built:
    """The rows of programs, as the compilers of a build with these settings leave them."""

    def __init__(self, folder: Path, *programs: str, **changes: Any) -> None:
        store = StoredTrees(Store(folder / "trees"))
        source = folder / "source"
        source.mkdir()
        for number, text in enumerate(programs):
            (source / f"program{number}.cu").write_text(text)
        self.trees = Workspace(store.get)
        given: dict[str, Any] = {"sources": ["shipped"], "out": Path("unused")}
        self.settings = BuildSettings(**given | {"lifted_rows": True} | changes)
        pools = [Pool.TRANSLATOR, Pool.NVIDIA_COMPILER, Pool.AMD_COMPILER]
        stages = make_stages(
            wanted_stages(self.settings, pools), StageContext(self.settings, self.trees)
        )
        found = parse_source(f"local:{source}").iterate(folder / "work", store)
        rows: list[Row] = [each.to_row() for each in found]
        for stage in stages:
            rows = stage.run(rows)
        self.rows = rows


@pytest.mark.parametrize(
    ("body", "stage", "reason"),
    [
        (PTX, "translate", "untranslatable"),
        (ONLY_NVCC, "compile_amd", "compile_error"),
        ("#ifdef __HIP__\n#include <no/such.h>\n#endif\n" + PLAIN, "compile_amd", "missing_header"),
        (LEFT_OUT, "align", "kernels_differ"),
    ],
)
def test_what_has_no_port_is_lifted_and_says_why(
    tmp_path: Path, body: str, stage: str, reason: str
) -> None:
    (row,) = Built(tmp_path, program(body)).rows

    assert not is_rejected(row), row["diagnostic"]
    assert (row["level"], row["verified"]) == ("assembly", "compiled")
    assert (row["hip_source"], row["hip_host"]) == ("", "")
    assert "low_bits" in row["kernels"]
    assert "amdgcn-amd-amdhsa--gfx1100" in row["hip_device"]
    assert row["amd_toolchain"]["name"] == LIFTER
    assert row["amd_toolchain"]["flags"].startswith("sm_80 to gfx1100")
    side = row["lifted_side"]
    assert (side["arch"], side["stage"], side["reason"]) == ("sm_80", stage, reason)
    assert side["diagnostic"]
    kept = pa.Table.from_pylist([finished_columns(row)])
    assert kept.column("lifted_side").cast(PAIR_SCHEMA.field("lifted_side").type)
    assert pa.Table.from_pylist([row], schema=WORK_SCHEMA).num_rows == 1


def test_nothing_is_lifted_unless_asked_for(tmp_path: Path) -> None:
    (row,) = Built(tmp_path, program(PTX), lifted_rows=False).rows
    assert (row["stage"], row["reason"]) == ("translate", "untranslatable")
    assert "not lifted" not in row["diagnostic"]


def test_pairs_of_sources_stay_what_they_are(tmp_path: Path) -> None:
    pair, lifted = Built(tmp_path, program(PLAIN), program(PTX)).rows
    assert (pair["level"], pair.get("lifted_side")) == ("source", None)
    assert "low_bits" in pair["hip_source"]
    assert lifted["level"] == "assembly"


def test_what_cannot_be_lifted_either_is_rejected_as_before(tmp_path: Path) -> None:
    unknown = 'asm volatile("discard.global.L2 [%0], 128;" :: "l"(out) : "memory");'
    (row,) = Built(tmp_path, program(PTX + unknown)).rows
    assert (row["stage"], row["reason"]) == ("translate", "untranslatable")
    assert "szext" in row["diagnostic"]
    assert "not lifted either" in row["diagnostic"]


def test_what_nvcc_refuses_is_its_failure(tmp_path: Path) -> None:
    (row,) = Built(tmp_path, program(PTX + " undeclared();")).rows
    assert (row["stage"], row["reason"]) == ("compile_nvidia", "compile_error")


def test_further_architectures_are_lifted_too(tmp_path: Path) -> None:
    (row,) = Built(tmp_path, program(PTX), amd_architectures=["gfx1100", "gfx942"]).rows
    (device,) = row["devices"]
    assert (device["arch"], device["verified"]) == ("gfx942", "compiled")
    assert "gfx942" in device["device"]


def executed(built: Built, backend: Rdna3Backend, reference: str = "") -> Row:
    originals = OriginalPrograms(built.trees, built.settings)
    stage = ExecuteStage(backend, original_programs=originals)
    (row,) = stage.run([{**built.rows[0], REFERENCE_COLUMN: reference}])
    return row


def test_without_a_reference_it_ran_and_no_more(tmp_path: Path, backend: Rdna3Backend) -> None:
    row = executed(Built(tmp_path, program(PTX)), backend)
    assert (row["executed"], row["verified"]) == (True, "compiled")
    assert row["evidence"]["reference"] == "none"
    assert any("low_bits" in each for each in row["evidence"]["launches"])


def test_under_the_host_code_of_the_original_it_prints_what_ptx_says(
    tmp_path: Path, backend: Rdna3Backend
) -> None:
    built = Built(tmp_path, program(PTX))

    row = executed(built, backend, to_json(said(EXPECTED)))
    assert not is_rejected(row), row["diagnostic"]
    assert [run["exact"] for run in row["evidence"]["runs"]] == [True]

    row = executed(built, backend, to_json(said(EXPECTED.replace("5 2 7", "5 2 8"))))
    assert (row["stage"], row["reason"]) == ("execute", "output_differs")


def said(text: str) -> ReferenceRuns:
    """What an Nvidia GPU would have printed twice."""
    run = ReferenceRun(Inputs(), (text.encode(),) * 2, 0, None)
    return ReferenceRuns("nvidia", "a card", (run,))


def test_a_program_without_main_is_not_run(tmp_path: Path, backend: Rdna3Backend) -> None:
    row = executed(Built(tmp_path, program(PTX, main="")), backend)
    assert (row["verified"], row.get("evidence")) == ("compiled", None)


def test_the_lifter_is_no_reference_for_itself(tmp_path: Path) -> None:
    built = Built(tmp_path, program(PTX))
    stage = ReferenceStage(LiftedBackend(threads=1), built.trees, stand_in=True)
    assert stage.run(built.rows) == built.rows
