"""Execution as a pipeline stage: what becomes of a row, and its evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cass_ray.cache import ContentCache
from cass_ray.dataset.row import AMD, Verified, is_rejected
from cass_ray.execute.backends.base import BuiltProgram, Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.drivers.driver import ARGUMENT_LISTS, driver_inputs
from cass_ray.execute.references import measure, stored_references
from cass_ray.execute.references_json import from_json, to_json
from cass_ray.pipeline.stages.driven_rows import hip_program, kernels_to_drive
from cass_ray.pipeline.stages.execute import ExecuteStage
from cass_ray.pipeline.stages.reference import REFERENCE_COLUMN
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.translate.engines.registry import make_translator
from tests.execute.conftest import HONEST, hip
from tests.translate.rules.wavefront_defects import naive_hip

pytestmark = pytest.mark.amd


@pytest.fixture(scope="module")
def reference(backend: Rdna3Backend, honest: BuiltProgram) -> str:
    return to_json(measure(backend, honest, [Inputs(), Inputs(("50", "2"))]))


def row_of(backend: Rdna3Backend, source: str, reference: str = "") -> dict[str, Any]:
    texts = backend.compile(hip(source))
    return {
        "id": "none",
        "path": "program.cu",
        "cuda_source": HONEST,
        "cuda_device": "",
        "hip_source": source,
        "hip_host": texts.host,
        "hip_device": texts.device,
        "verified": Verified.COMPILED.value,
        "executed": False,
        "reason": None,
        REFERENCE_COLUMN: reference,
    }


def test_an_equal_pair_is_executed(backend: Rdna3Backend, reference: str) -> None:
    (row,) = ExecuteStage(backend).run([row_of(backend, HONEST, reference)])
    assert row["verified"] == Verified.EXECUTED.value
    assert row["executed"] is True
    evidence = row["evidence"]
    assert [run["arguments"] for run in evidence["runs"]] == [[], ["50", "2"]]
    assert all(run["exact"] and run["numeric"] for run in evidence["runs"])
    assert evidence["amd_backend"].startswith("rdna3: ")
    assert any("<<<(8, 1, 1), (128, 1, 1)>>>" in launch for launch in evidence["launches"])
    assert evidence["coverage"] > 0.5
    (kernel,) = json.loads(evidence["counters"])["kernels"].values()
    assert kernel["launches"] == 2
    assert kernel["atomics"] > 0


def test_a_wrong_port_is_rejected(backend: Rdna3Backend, reference: str) -> None:
    wrong = HONEST.replace("if (i < n)", "if (i < n - 1)")
    (row,) = ExecuteStage(backend).run([row_of(backend, wrong, reference)])
    assert is_rejected(row)
    assert (row["stage"], row["reason"]) == ("execute", "output_differs")
    assert "instead of" in row["diagnostic"]


def test_a_crash_is_a_failed_run(backend: Rdna3Backend, reference: str) -> None:
    crash = HONEST.replace("int* in;", "int* in; *(volatile int*)8 = 1;")
    (row,) = ExecuteStage(backend).run([row_of(backend, crash, reference)])
    assert row["reason"] == "run_failed"


def test_without_a_reference_it_only_ran(backend: Rdna3Backend) -> None:
    (row,) = ExecuteStage(backend).run([row_of(backend, HONEST)])
    assert row["verified"] == Verified.COMPILED.value
    assert row["executed"] is True
    assert row["evidence"]["nvidia_backend"] == ""


def test_a_library_that_both_sides_lack_rejects_no_row(
    backend: Rdna3Backend, reference: str
) -> None:
    """The reference is there where the original was linked: then the port alone is at fault."""
    calls = HONEST.replace("int main(", 'extern "C" int absent();\nint main(').replace(
        "int* in;", "int* in; if (absent()) return 1;"
    )
    assert calls.count("absent()") == 2
    (row,) = ExecuteStage(backend).run([row_of(backend, calls)])
    assert not is_rejected(row)
    assert (row["verified"], row["executed"]) == (Verified.COMPILED.value, False)
    (row,) = ExecuteStage(backend).run([row_of(backend, calls, reference)])
    assert (row["stage"], row["reason"]) == ("execute", "compile_error")


def test_a_library_that_this_machine_lacks_rejects_no_row(
    backend: Rdna3Backend, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_it(*_: object, **__: object) -> None:
        raise ToolMissing("AMD's library hipblas", "cass setup libraries")

    monkeypatch.setattr(Rdna3Backend, "build", without_it)
    (row,) = ExecuteStage(backend).run([row_of(backend, HONEST, reference)])
    assert row["verified"] == Verified.COMPILED.value
    assert not is_rejected(row)


def test_kernels_without_main_stay_compiled(backend: Rdna3Backend) -> None:
    kernels = HONEST.replace("int main(", "int helper(")
    (row,) = ExecuteStage(backend).run([row_of(backend, kernels)])
    assert (row["verified"], row["executed"]) == (Verified.COMPILED.value, False)


KERNELS = """
#include <cuda_runtime.h>
__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


def driven_row(backend: Rdna3Backend, trees: Workspace, port: str) -> dict[str, Any]:
    """Kernels without ``main``; the reference is the right port's run under the same driver."""
    right = row_of(backend, make_translator().translate(KERNELS, filename="program.cu").source)
    right |= {"cuda_source": KERNELS, "path": "program.cu", "tree": "", "include_directories": []}
    program = hip_program(right, kernels_to_drive(right), trees, make_translator(), backend.compile)
    reference = to_json(measure(backend, backend.build(program), driver_inputs()))
    wrong = row_of(backend, port.replace("cuda_runtime.h", "hip/hip_runtime.h"))
    return right | {"hip_device": wrong["hip_device"], REFERENCE_COLUMN: reference}


@pytest.mark.parametrize(("bound", "agrees"), [("i < n", True), ("i < n - 1", False)])
def test_kernels_without_main_run_under_a_driver(
    backend: Rdna3Backend, bound: str, agrees: bool
) -> None:
    def no_trees(digest: str) -> bytes:
        raise KeyError(digest)

    trees = Workspace(no_trees)
    row = driven_row(backend, trees, KERNELS.replace("i < n", bound))
    (done,) = ExecuteStage(backend, trees, make_translator()).run([row])
    assert not is_rejected(done)
    assert done["executed"] is agrees
    assert done["verified"] == ("executed" if agrees else "compiled")
    if agrees:
        arguments = [tuple(run["arguments"]) for run in done["evidence"]["runs"]]
        assert arguments == list(ARGUMENT_LISTS)


def test_results_are_cached(
    backend: Rdna3Backend, reference: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = ExecuteStage(backend, cache=ContentCache(tmp_path))
    row = row_of(backend, HONEST, reference)
    (first,) = stage.run([row])
    monkeypatch.setattr(stage, "_verify", None)
    (second,) = stage.run([row])
    assert first["evidence"] == second["evidence"]


def test_references_survive_the_way_between_nodes(reference: str) -> None:
    assert to_json(from_json(reference)) == reference


def test_stored_references_are_from_a_real_gpu() -> None:
    references = stored_references()
    assert len(references) >= 70
    for reference in references.values():
        assert reference.stored
        assert "NVIDIA" in reference.identity
        assert any(not run.problem for run in reference.runs)


def with_device(row: dict[str, Any], architecture: str) -> dict[str, Any]:
    """``row`` with the device code of its HIP source for ``architecture`` as a further one."""
    made = Rdna3Backend(threads=1, architecture=architecture).compile(hip(row["hip_source"]))
    device = {"vendor": AMD, "arch": architecture, "device": made.device, "toolchain": None}
    device |= {"verified": Verified.COMPILED.value, "evidence": None, "diagnostic": ""}
    assert made.host == row["hip_host"]  # what the further architecture runs under
    return {**row, "hip_arch": backend_architecture(row), "devices": [device]}


def backend_architecture(row: dict[str, Any]) -> str:
    target = row["hip_device"].split('.amdgcn_target "', 1)[1].split('"', 1)[0]
    return str(target.rpartition("-")[2])


def test_what_agrees_on_both_widths_is_portable(backend: Rdna3Backend, reference: str) -> None:
    row = with_device(row_of(backend, HONEST, reference), "gfx942")
    (row,) = ExecuteStage(backend).run([row])
    (device,) = row["devices"]
    assert (row["verified"], device["verified"]) == ("executed", "executed")
    assert row["portable"] is True
    assert "gfx942" in device["evidence"]["amd_backend"]
    assert all(run["exact"] for run in device["evidence"]["runs"])
    assert (
        ExecuteStage(backend).run([row_of(backend, HONEST, reference)])[0].get("portable") is None
    )


def test_what_is_right_on_32_lanes_only_is_not_portable(backend: Rdna3Backend) -> None:
    source = naive_hip("ballot")
    built = backend.build(hip(source))
    row = row_of(backend, source, to_json(measure(backend, built, [Inputs()])))
    (row,) = ExecuteStage(backend).run([with_device(row, "gfx942")])
    (device,) = row["devices"]
    assert (row["verified"], device["verified"]) == ("executed", "compiled")
    assert row["portable"] is False
    assert "line 1:" in device["diagnostic"]


def test_what_no_backend_runs_stays_compiled(backend: Rdna3Backend, reference: str) -> None:
    row = with_device(row_of(backend, HONEST, reference), "gfx1101")
    (row,) = ExecuteStage(backend).run([row])
    assert (row["verified"], row["devices"][0]["verified"]) == ("executed", "compiled")
    assert row["portable"] is None
