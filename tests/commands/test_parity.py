"""``cass parity`` on the CPU backend: counters of two programs whose ratio is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.parity import app

pytestmark = pytest.mark.amd

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void add(int *value) { atomicAdd(value, 1); }
int main() {
  int *value, result = 0;
  hipMalloc(&value, sizeof *value);
  hipMemset(value, 0, sizeof *value);
  for (int i = 0; i < LAUNCHES; ++i) add<<<1, 32>>>(value);
  hipMemcpy(&result, value, sizeof result, hipMemcpyDeviceToHost);
  std::printf("%d\\n", result / LAUNCHES);
}
"""


def program(folder: Path, launches: int) -> str:
    path = folder / f"add{launches}.hip"
    path.write_text(PROGRAM.replace("LAUNCHES", str(launches)))
    return str(path)


def test_twice_the_launches_is_twice_the_cost(tmp_path: Path) -> None:
    sides = [program(tmp_path, 3), program(tmp_path, 6)]
    done = CliRunner().invoke(app, [*sides, "--backend", "rdna3", "--json"])
    assert done.exit_code == 0, done.output
    measured = json.loads(done.stdout)
    assert measured["seconds"] is None
    assert measured["counters"]["launches"]["ratio"] == 2.0
    assert measured["counters"]["instructions"]["ratio"] == 2.0


def test_a_program_that_fails_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.hip"
    broken.write_text("__global__ void idle() {}\nint main() { idle<<<1, 1>>>(); return 3; }\n")
    done = CliRunner().invoke(app, [program(tmp_path, 3), str(broken), "--backend", "rdna3"])
    assert done.exit_code == 1
    assert "candidate" in done.output


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [str(tmp_path / "none.cu")])
    assert done.exit_code == 2
