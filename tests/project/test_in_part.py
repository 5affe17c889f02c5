"""Projects of which a part does not build: what their tests want decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cass_ray.commands.project import app
from cass_ray.project.missing import targets_left_out

MAKEFILE = """\
all: broken squares
broken: broken.cu
	nvcc -o $@ $<
squares: squares.cu
	nvcc -o $@ $<
"""
SQUARES = """\
#include <cstdio>
__global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }
int main() {
  int here[3] = {1, 2, 3}, *there;
  cudaMalloc(&there, sizeof here);
  cudaMemcpy(there, here, sizeof here, cudaMemcpyHostToDevice);
  square<<<1, 3>>>(there);
  cudaMemcpy(here, there, sizeof here, cudaMemcpyDeviceToHost);
  return here[0] != 1 || here[1] != 4 || here[2] != 9;
}
"""
MISSING = "#include <no_such_header_of_mpi.h>\nint main() {}\n"


def port(root: Path, *, test: str, build: str = "make") -> tuple[Result, dict[str, Any]]:
    out = root.parent / "out"
    arguments = [str(root), "-o", str(out), "--no-reference", "--check-seconds", "0"]
    arguments += ["--build", build, "--test", test, "--arch", "gfx1100"]
    done = CliRunner().invoke(app, arguments)
    (target,) = json.loads((out / "report.json").read_text())["targets"]
    return done, target


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "squares.cu").write_text(SQUARES)
    (folder / "broken.cu").write_text(MISSING)
    (folder / "check.py").write_text("print('no kernel is launched here')\n")
    return folder


@pytest.mark.amd
def test_what_the_tests_want_is_built(root: Path) -> None:
    done, target = port(root, test="./squares")
    assert done.exit_code == 0, done.output
    assert (target["build"]["outcome"], target["test"]["outcome"]) == ("in part", "passed")
    assert any("not all of the project was built: broken" in line for line in target["advice"])
    # What an earlier build left is none of the next one's.
    (root / "squares.cu").write_text(SQUARES.replace("int main() {", "int main() { missing();"))
    done, target = port(root, test="./squares")
    assert done.exit_code == 1
    assert (target["build"]["outcome"], target["test"]["outcome"]) == ("failed", "skipped")


@pytest.mark.amd
@pytest.mark.parametrize(
    "test", ["./broken", "python check.py", "true", "./squares && ./broken"], ids=str
)
def test_tests_that_fail_or_launch_nothing_are_none(root: Path, test: str) -> None:
    done, target = port(root, test=test)
    assert done.exit_code == 1
    assert (target["build"]["outcome"], target["test"]["outcome"]) == ("failed", "skipped")


def test_targets_that_make_left_out() -> None:
    log = (
        "gmake[2]: *** [CMakeFiles/a.dir/build.make:75: CMakeFiles/a.dir/x/usage.cu.o] Error 1\n"
        "gmake[1]: *** [CMakeFiles/Makefile2:115: CMakeFiles/a.dir/all] Error 2\n"
        "gmake: *** [Makefile:136: all] Error 2\n"
        "make: *** [broken] Error 1\n"
        "make: *** Waiting for unfinished jobs....\n"
        "make: Target 'all' not remade because of errors.\n"
    )
    assert targets_left_out(log) == ("usage.cu.o", "broken")
