"""``cass translate`` of files of a project: their headers, and how its build compiles them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.run import app as run_app
from cass_ray.commands.translate import app
from cass_ray.commands.verify import app as verify_app
from cass_ray.corpus.reading.unit_of_file import project_of, unit_of_file
from cass_ray.pipeline.project_files import ProjectFiles
from cass_ray.translate.rules.engine import RulesTranslator

RUN = CliRunner()

CMAKE = """cmake_minimum_required(VERSION 3.18)
project(sums LANGUAGES CXX CUDA)
set(SUMS_BLOCK 64)
configure_file(config.h.in config.h)
add_library(sums kernels/sum.cu)
target_include_directories(sums PRIVATE lib/public ${CMAKE_CURRENT_BINARY_DIR})
target_compile_definitions(sums PRIVATE SUMS_SCALE=2)
"""
HEADER = """#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#define CUDA_LAST_CHECK CUDA_OK(cudaPeekAtLastError())
#define CUDA_OK(call) \\
  do { if (cudaError_t e = (call)) std::puts(cudaGetErrorString(e)); } while (0)
template <class T> __device__ T cudaTwice(T x) { return 2 * x; }
"""
SOURCE = """#include "config.h"
#include "sums/check.cuh"
#if SUMS_BLOCK != 64
#error "config.h is another one"
#endif
__global__ void sum(float *out, const float *in) {
  out[threadIdx.x] += SUMS_SCALE * cudaTwice(in[threadIdx.x]);
}
void launch(float *out, const float *in) {
  sum<<<1, SUMS_BLOCK>>>(out, in);
  CUDA_LAST_CHECK;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "sums"
    for path, text in {
        "CMakeLists.txt": CMAKE,
        "config.h.in": "#pragma once\n#define SUMS_BLOCK @SUMS_BLOCK@\n",
        "lib/public/sums/check.cuh": HEADER,
        "kernels/sum.cu": SOURCE,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_the_project_of_a_file(project: Path, tmp_path: Path) -> None:
    file = project / "kernels/sum.cu"
    assert project_of(file) == project
    assert project_of(tmp_path / "alone.cu") is None
    (project / "kernels/.git").mkdir()
    assert project_of(file) == project / "kernels"


def test_names_of_a_header_found_by_search_are_the_projects(project: Path) -> None:
    context = ProjectFiles(project).context("kernels/sum.cu")
    assert {"CUDA_OK", "CUDA_LAST_CHECK", "cudaTwice"} <= context.declared
    assert not RulesTranslator().translate(SOURCE, context=context).findings
    alone = ProjectFiles(project / "kernels", searched=False).context("sum.cu")
    assert "CUDA_OK" not in alone.declared


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("given", ["kernels/sum.cu", "kernels", "."])
def test_what_is_checked_is_what_the_project_compiles(
    project: Path, tmp_path: Path, given: str
) -> None:
    output = tmp_path / ("port.hip" if given.endswith(".cu") else "port")
    result = RUN.invoke(app, [str(project / given), "-o", str(output), "--check"])
    assert result.exit_code == 0, result.stderr
    assert "1 of 1 file(s) compile for AMD" in result.stderr
    assert "warning" not in result.stderr


@pytest.mark.nvidia
@pytest.mark.amd
def test_a_mistake_in_a_projects_file_is_said_of_the_port(project: Path, tmp_path: Path) -> None:
    source = project / "kernels/sum.cu"
    source.write_text(SOURCE.replace("in[threadIdx.x])", "in[threadIdx.x], 1)"))
    result = RUN.invoke(app, [str(source), "-o", str(tmp_path / "port.hip"), "--check"])
    assert result.exit_code == 1
    assert "kernels/port.hip:8:" in result.stderr
    assert "no matching function for call to 'cudaTwice'" in result.stderr


SAMPLE = """#include <cstdio>
#include <helper.cuh>
__global__ void fill(int *out) { out[threadIdx.x] = shifted(threadIdx.x); }
int main() {
  int *memory = nullptr, host[32];
  cudaMalloc(&memory, sizeof host);
  fill<<<1, 32>>>(memory);
  cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d\\n", host[0], host[31]);
}
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """As NVIDIA's samples are laid out: one folder of headers for all programs."""
    source = tmp_path / "samples/basic/fill/fill.cu"
    source.parent.mkdir(parents=True)
    source.write_text(SAMPLE)
    for folder in (source.parent, tmp_path / "samples"):
        (folder / "CMakeLists.txt").write_text("project(x)\n")
    header = tmp_path / "samples/Common/helper.cuh"
    header.parent.mkdir()
    header.write_text(
        "#include <cuda_runtime.h>\n__device__ int shifted(int x) { return x + 7; }\n"
    )
    return source


def test_a_unit_is_in_its_project_where_it_needs_that(sample: Path, tmp_path: Path) -> None:
    unit = unit_of_file(sample)
    assert (unit.root, str(unit.main)) == (tmp_path / "samples", "basic/fill/fill.cu")
    assert [str(each) for each in unit.include_directories] == ["Common"]
    sample.write_text(f"#include <thrust/sort.h>\n#include <own.h>\n{SAMPLE}")
    for place in (".venv/lib/own.h", "extern/thrust/sort.h"):
        (tmp_path / "samples" / place).parent.mkdir(parents=True)
        (tmp_path / "samples" / place).write_text("")
    assert unit_of_file(sample).include_directories == unit.include_directories
    sample.write_text(SAMPLE.replace("<helper.cuh>", '"beside.cuh"'))
    (sample.parent / "beside.cuh").write_text("")
    unit = unit_of_file(sample)
    assert (unit.root, str(unit.main), unit.include_directories) == (sample.parent, "fill.cu", ())
    sample.write_text(SAMPLE.replace("<helper.cuh>", '"../../Common/helper.cuh"'))
    assert unit_of_file(sample).root == tmp_path / "samples"


@pytest.mark.nvidia
@pytest.mark.amd
def test_a_program_that_includes_headers_of_its_project_is_run_and_verified(
    sample: Path, tmp_path: Path
) -> None:
    port = tmp_path / "port.hip"
    assert RUN.invoke(app, [str(sample), "-o", str(port), "--check"]).exit_code == 0
    assert RUN.invoke(run_app, [str(sample)]).stdout == "7 38\n"
    result = RUN.invoke(verify_app, [str(sample), str(port)])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("verified (lifted")
    port.write_text(port.read_text().replace("threadIdx.x)", "threadIdx.x + 1)"))
    assert RUN.invoke(verify_app, [str(sample), str(port)]).exit_code == 1


def test_installed_packages_are_no_part_of_a_project(project: Path, tmp_path: Path) -> None:
    packages = project / ".venv/lib/python3.12/site-packages/torch/include/a.cuh"
    packages.parent.mkdir(parents=True)
    packages.write_text("#include <cuda_runtime.h>\n")
    result = RUN.invoke(app, [str(project), "-o", str(tmp_path / "port")])
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "port/kernels/sum.cu").is_file()
    assert not (tmp_path / "port/.venv").exists()
