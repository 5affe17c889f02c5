"""The baseline compiles real programs and names the step that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.pipeline import contenders, corpus
from benchmarks.pipeline.measurements import settings_for

GOOD = """\
#include <cstdio>

__global__ void twice(float *values) {
    values[threadIdx.x] *= 2.0f;
}

int main() {
    float *values = nullptr;
    cudaMalloc(&values, 32 * sizeof(float));
    twice<<<1, 32>>>(values);
    std::printf("%d\\n", static_cast<int>(cudaDeviceSynchronize()));
    cudaFree(values);
}
"""


@pytest.mark.nvidia
@pytest.mark.amd
def test_pairs_are_kept_and_failures_name_their_step(tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    source.mkdir()
    (source / "good.cu").write_text(GOOD)
    (source / "bad.cu").write_text(GOOD.replace("*values) {", "*values) { undeclared();"))
    settings = settings_for(
        [f"local:{source}"], tmp_path / "out", ["sm_80"], near_duplicates={"enabled": False}
    )
    programs = corpus.staged_programs(settings, tmp_path / "work")
    names = {program.id: program.main for program in programs}
    built = contenders.build_paper_way(programs, settings, tmp_path / "paper", threads=1)
    assert [names[i] for i in built.kept] == ["good.cu"]
    assert {names[i]: step for i, step in built.failed.items()} == {"bad.cu": "nvcc (host)"}
    output = tmp_path / "paper" / "output"
    assembly = {path.name for path in output.rglob("*") if path.is_file()}
    assert {"sm_80.host.s", "sm_80.cubin", "sm_80.sass", "hip.host.s", "hip.device.s"} <= assembly
    assert built.cost.cpu_seconds > 0
