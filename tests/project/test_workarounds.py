"""Builds of projects are right where clang alone is not: divisions, scalars in other lanes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.project.prefix import write_prefix
from cass_ray.toolchain.amd.divisions import write_driver
from cass_ray.toolchain.amd.workarounds import SPILLS_TO_MEMORY, as_flags
from cass_ray.toolchain.locate import find_amd
from tests.toolchain.amd.test_divisions import program
from tests.toolchain.amd.test_workarounds import MANY_SCALARS

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
    """Without optimization there is no kernel whose scalars all fit."""
    (tmp_path / "unrelated.hip").write_text(UNRELATED)
    settings = prefix / "share" / "cass" / "hipcc.env"
    assert write_driver(tmp_path, find_amd().clang, "20.1.0") == find_amd().clang
    text = settings.read_text()
    lines = text.splitlines()
    own = [f"CLANG={find_amd().clang}" if line.startswith("CLANG=") else line for line in lines]
    spills = as_flags(SPILLS_TO_MEMORY) if "-O0" in ways else ()
    made = []
    for name, its, further in (("ours", lines, ()), ("clangs", own, spills)):
        settings.write_text("\n".join(its) + "\n")
        output = tmp_path / name
        hipcc(prefix, *ways, *further, "-fuse-cuid=none", tmp_path / "unrelated.hip", "-o", output)
        made.append(output.read_bytes())
    settings.write_text(text)
    assert made[0] == made[1]


@pytest.mark.amd
def test_scalars_that_do_not_fit_take_no_lanes(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "many.hip").write_text(MANY_SCALARS)
    listing = tmp_path / "many.s"
    hipcc(prefix, "-O2", "-S", "--cuda-device-only", tmp_path / "many.hip", "-o", listing)
    text = listing.read_text()
    assert "s_add_i32" in text
    assert "SGPR spill to VGPR lane" not in text
