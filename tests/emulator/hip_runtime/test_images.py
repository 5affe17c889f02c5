"""Device code that this runtime cannot run: said clearly, and the program goes on."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.toolchain.amd.toolchain import AmdOutput, AmdToolchain
from cass_ray.toolchain.unit import Unit
from tests.emulator.hip_runtime.conftest import RunProgram
from tests.emulator.test_code_object import MI200, assemble_code_object

pytestmark = pytest.mark.amd

_KERNEL = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void one(int* out) { *out = 1; }
int main() {
  int* out = nullptr;
  if (hipMalloc(&out, sizeof *out) != hipSuccess) return 99;
  one<<<1, 1>>>(out);
  std::printf("%s\\n", hipGetErrorName(hipGetLastError()));
  return 7;
}
"""


def _compiled(toolchain: AmdToolchain, folder: Path) -> AmdOutput:
    (folder / "one.hip").write_text(_KERNEL)
    return toolchain.compile(Unit(folder, PurePosixPath("one.hip")))


def test_files_that_are_no_code_for_this_device(
    run_program: RunProgram, toolchain: AmdToolchain, library: Path, tmp_path: Path
) -> None:
    good = toolchain.assemble(_compiled(toolchain, tmp_path).device_assembly)
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    contents = {
        "whole": good,
        "half": good[: len(good) // 2],
        "header": good[:64],
        "letters": good[:20],
        "empty": b"",
        "text": b"int main() {}\n" * 100,
        "host": library.read_bytes(),
        "mi200": assemble_code_object(tmp_path, MI200, "gfx90a"),
    }
    for name, content in contents.items():
        (inputs / name).write_bytes(content)
    options = RunOptions(seconds=60, inputs=inputs)
    completed = run_program("images.cpp", list(contents), options)
    answers = dict(line.split() for line in completed.stdout_text.splitlines())
    assert answers.pop("whole") == "hipSuccess", completed.stderr_text
    assert answers.pop("mi200") == "hipErrorNoBinaryForGpu"
    assert answers.pop("host") == "hipErrorNoBinaryForGpu"
    assert set(answers.values()) == {"hipErrorInvalidImage"}, answers
    assert "gfx90a" in completed.stderr_text
    assert completed.returncode == len(contents) - 1


def test_a_program_for_another_device_says_so(
    toolchain: AmdToolchain, library: Path, tmp_path: Path
) -> None:
    host = _compiled(toolchain, tmp_path).host_assembly
    executable = tmp_path / "bin" / "program"
    executable.parent.mkdir()
    toolchain.recombine(host, MI200, executable, architecture="gfx90a", runtime_library=library)
    completed = execute(executable, [], library, RunOptions(seconds=60, devices=("gfx1100",)))
    assert completed.stdout_text == "hipErrorNoBinaryForGpu\n", completed.stderr_text
    assert "gfx90a" in completed.stderr_text
    assert completed.returncode == 7
