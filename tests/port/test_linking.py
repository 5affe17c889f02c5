"""Device code linked or loaded while a program runs; copies of two and three dimensions."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.linking import CHECK, LINK, inputs_of
from cass_ray.port.running import execute, port
from cass_ray.port.service import answer_for
from tests.port.conftest import PROGRAMS
from tests.port.test_driver import linked

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

PIECES = {
    "first.cu": "extern __device__ int twice(int);\n"
    'extern "C" __global__ void fill(int *out) { out[threadIdx.x] = twice(threadIdx.x) + 1; }\n',
    "second.cu": "__device__ int twice(int n) { return 2 * n; }\n",
}


@pytest.mark.parametrize("kind", ["ptx", "cubin"])
def test_pieces_are_linked_and_copies_have_their_shape(
    lifter: ContainerLifter, tmp_path: Path, kind: str
) -> None:
    """``pieces.cpp`` knows each number and each error."""
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for name, text in PIECES.items():
        source = tmp_path / name
        source.write_text(text)
        command = [lifter.nvidia.nvcc, "-rdc=true", f"-{kind}", "-arch=sm_80"]
        made = inputs / f"{source.stem}.{kind}"
        subprocess.run([*command, source, "-o", made], check=True, capture_output=True)
    program = linked(lifter, PROGRAMS / "pieces.cpp", tmp_path / "pieces")
    ported = port(read_executable(program), lifter)
    options = RunOptions(seconds=120, inputs=inputs)
    given = [kind, f"first.{kind}", f"second.{kind}"]
    done = execute(ported, given, runtime_library(), options)
    assert (done.stdout_text, done.returncode) == ("", 0), done.stderr_text


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_a_library_of_the_runtime(
    lifter: ContainerLifter, build: Callable[..., Path], tmp_path: Path, processor: str
) -> None:
    command = [lifter.nvidia.nvcc, "-arch=sm_80", "-cubin", PROGRAMS / "loaded.cu"]
    subprocess.run([*command, "-o", tmp_path / "image"], check=True, capture_output=True)
    chosen = ContainerLifter(lifter.nvidia, lifter.amd, processor)
    ported = port(read_executable(build("library.cu")), chosen)
    options = RunOptions(seconds=120, inputs=tmp_path, devices=(processor,))
    done = execute(ported, ["image"], runtime_library(), options)
    assert (done.stdout_text, done.returncode) == ("", 0), done.stderr_text


def test_without_nvlink_it_says_what_to_do(lifter: ContainerLifter, tmp_path: Path) -> None:
    without = ContainerLifter(replace(lifter.nvidia, nvcc=tmp_path / "nvcc"), lifter.amd)
    result, _, message, code, _ = answer_for(LINK, without)
    assert (result, code) == (221, b"")  # CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    assert "nvlink" in message


@pytest.mark.parametrize("rest", [b"\0", b"\x01\0\0\0\xff\0\0\0" + bytes(8), b"\x09" + bytes(15)])
def test_a_damaged_request_is_refused(lifter: ContainerLifter, rest: bytes) -> None:
    """The program writes it: a length beyond its end, a kind that there is not."""
    with pytest.raises(PortError, match="damaged"):
        inputs_of(LINK + rest)
    assert answer_for(CHECK + rest, lifter)[0] == 218  # CUDA_ERROR_INVALID_PTX
