"""For which vendors a port is when nobody says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.project import app

PROGRAM = """\
#include <cstdio>
__global__ void twice(int* out) { out[threadIdx.x] *= 2; }
int main() {
  int *out, host[4] = {1, 2, 3, 4};
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(out, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<1, 4>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\\n", host[0], host[1], host[2], host[3]);
}
"""
MAKEFILE = "NVCC = nvcc\ntwice: twice.cu\n\t$(NVCC) -o $@ $<\ncheck: twice\n\t./twice\n"


def port(root: Path, *arguments: str) -> tuple[str, str]:
    """What ``cass project`` said, and the patch; its tests passed with the program's output."""
    out = root.with_name("out")
    asked = [str(root), "-o", str(out), "--no-reference", "--test", "make check", *arguments]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
    [target] = json.loads((out / "report.json").read_text())["targets"]
    assert "2 4 6 8" in target["test"]["log"]
    return done.stderr, (out / "port.patch").read_text()


def project(tmp_path: Path, **files: str) -> Path:
    root = tmp_path / "project"
    for name, text in {"twice.cu": PROGRAM, "Makefile": MAKEFILE, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def removed(patch: str) -> list[str]:
    return [line for line in patch.splitlines() if line.startswith("-") and line[1:3] != "--"]


@pytest.mark.amd
def test_a_switch_keeps_cuda(tmp_path: Path) -> None:
    said, patch = port(project(tmp_path), "--build", "make")
    assert removed(patch) == []
    assert "ifeq ($(HIP),1)" in patch
    assert "AMD alone" not in said


@pytest.mark.amd
def test_a_build_that_moves_sources_is_for_amd_alone(tmp_path: Path) -> None:
    """The copy lies where it does not find the header that gives CUDA's names HIP's meaning."""
    moving = (
        "NVCC = nvcc\ntwice: twice.cu\n\tmkdir -p made/deep && cp $< made/deep\n"
        "\t$(NVCC) -o $@ made/deep/twice.cu\ncheck: twice\n\t./twice\n"
    )
    said, patch = port(project(tmp_path, Makefile=moving), "--build", "make")
    assert "does not build; now for AMD alone" in said
    assert "ifeq" not in patch
    assert any("cudaMalloc" in line for line in removed(patch))


@pytest.mark.amd
def test_a_build_without_a_switch_is_for_amd_alone(tmp_path: Path) -> None:
    script = "#!/bin/sh\nset -e\nnvcc -o twice twice.cu\n"
    root = project(tmp_path, **{"build.sh": script})
    (root / "Makefile").unlink()
    out = root.with_name("out")
    asked = [str(root), "-o", str(out), "--no-reference", "--build", "sh build.sh"]
    done = CliRunner().invoke(app, [*asked, "--test", "./twice"])
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
    assert "build.sh has no switch" in done.stderr
    assert any("nvcc" in line for line in removed((out / "port.patch").read_text()))


@pytest.mark.amd
def test_a_name_that_is_taken_is_said(tmp_path: Path) -> None:
    said, patch = port(project(tmp_path, **{"cuda_hip.h": "// mine\n"}), "--build", "make")
    assert "cuda_hip.h is in the project already" in said
    assert "ifeq" not in patch


@pytest.mark.amd
def test_what_is_asked_for_is_not_replaced(tmp_path: Path) -> None:
    root = project(tmp_path, **{"cuda_hip.h": "// mine\n"})
    asked = [str(root), "-o", str(tmp_path / "out"), "--style", "shared", "--build", "make"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 1
    assert "cuda_hip.h is in the project already" in done.stderr
