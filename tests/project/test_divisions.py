"""Builds of projects divide right where clang alone does not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.project.prefix import write_prefix
from cass_ray.toolchain.amd.divisions import write_driver
from cass_ray.toolchain.locate import find_amd
from tests.toolchain.amd.test_divisions import program

UNRELATED = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void sines(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < n; ++j) out[i] += sinf(out[i + j] * 2.f) / (out[i] + 3.f);
  if (i == 0) printf("%d\\n", n);
}
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    return write_prefix(folder, find_amd(), runtime_library(), "gfx1100", None)


def hipcc(prefix: Path, *arguments: str | Path) -> None:
    command = [prefix / "bin" / "hipcc", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.amd
@pytest.mark.parametrize("ways", [(), ("-fgpu-rdc",), ("-O1", "-g")])
def test_hipcc_divides_right(prefix: Path, tmp_path: Path, ways: tuple[str, ...]) -> None:
    source, executable = tmp_path / "program.hip", tmp_path / "program"
    source.write_bytes(program().files["program.hip"])
    hipcc(prefix, *ways, "-w", source, "-o", executable)
    done = subprocess.run([executable], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "compared\n"), done.stderr


@pytest.mark.amd
@pytest.mark.parametrize("ways", [("-c", "-O3"), ("-c", "-O0"), ("-c", "-O2", "-g")])
def test_code_without_divisions_is_the_compilers_own(
    prefix: Path, tmp_path: Path, ways: tuple[str, ...]
) -> None:
    (tmp_path / "unrelated.hip").write_text(UNRELATED)
    settings = prefix / "share" / "cass" / "hipcc.env"
    assert write_driver(tmp_path, find_amd().clang, "20.1.0") == find_amd().clang
    made = []
    for name in ("ours", "clangs"):
        hipcc(prefix, *ways, "-fuse-cuid=none", tmp_path / "unrelated.hip", "-o", tmp_path / name)
        made.append((tmp_path / name).read_bytes())
        lines = settings.read_text().splitlines()
        own = [f"CLANG={find_amd().clang}" if line.startswith("CLANG=") else line for line in lines]
        settings.write_text("\n".join(own) + "\n")
    settings.write_text("\n".join(lines) + "\n")
    assert made[0] == made[1]
