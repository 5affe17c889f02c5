"""Reports of checking mode name the line of the source, as its author wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.run import app

pytestmark = pytest.mark.amd

HEAD = "#include <cstdio>\n"
MAIN = """
int main() {
  int* p;
  cudaMalloc(&p, 64 * sizeof(int));
  k<<<1, 64>>>(p);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
PROGRAMS = {
    "beyond the end": (
        HEAD + "__global__ void k(int* p) {\n  int i = threadIdx.x;\n  p[i + 64] = i;\n}" + MAIN,
        "program.cu:4",
    ),
    "behind what the rules write in more lines": (
        "#include <cstdio>\n#include <cuda_runtime.h>\n\n"
        "__device__ int other(int x) {\n  return min(x, 3u) + __shfl_sync(~0u, x, 1);\n}\n"
        "__global__ void k(int* p) {\n  int i = threadIdx.x;\n\n  p[i + 64] = other(i);\n}" + MAIN,
        "program.cu:10",
    ),
    "in a function that is inlined": (
        HEAD + "__device__ void put(int* p, int i) {\n  p[i + 64] = i;\n}\n"
        "__global__ void k(int* p) {\n  put(p, threadIdx.x);\n}" + MAIN,
        "program.cu:3",
    ),
    "in a header": (
        HEAD + '#include "own.cuh"\n__global__ void k(int* p) {\n  put(p, threadIdx.x);\n}' + MAIN,
        "own.cuh:3",
    ),
    "on a line of a macro": (
        HEAD + "#define PUT(p, i) \\\n  p[i + 64] = i\n"
        "__global__ void k(int* p) {\n  int i = threadIdx.x;\n  PUT(p, i);\n}" + MAIN,
        "program.cu:6",
    ),
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_an_access_out_of_bounds_has_its_line(kind: str, tmp_path: Path) -> None:
    text, place = PROGRAMS[kind]
    program = tmp_path / "program.cu"
    program.write_text(text)
    header = "#pragma once\n__device__ void put(int* p, int i) {\n  p[i + 64] = i;\n}\n"
    (tmp_path / "own.cuh").write_text(header)
    done = CliRunner().invoke(app, [str(program), "--check"])
    assert done.exit_code != 0
    assert "out-of-bounds access" in done.stderr
    assert f"\n  source {place}\n" in done.stderr, done.stderr


def test_without_checking_mode_nothing_is_built_with_lines(tmp_path: Path) -> None:
    program = tmp_path / "program.cu"
    program.write_text(HEAD + '__global__ void k(int*) { printf("at 0x1: x\\n"); }' + MAIN)
    done = CliRunner().invoke(app, [str(program)])
    assert done.exit_code == 0
    assert "source program.cu" not in done.stderr
