"""Reading executables and the containers in them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cass_ray.cli import app
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_executable
from cass_ray.port.fatbin import FatBinaryContainer, containers, cubins
from cass_ray.port.lifting import ContainerLifter
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run

TWO_KERNELS = """
__global__ void one(int *x) { *x += 1; }
__global__ void two(int *x) { *x += 2; }
int main() { return 0; }
"""


def container(content: bytes) -> bytes:
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(content)) + content


def test_containers_follow_each_other_at_multiples_of_eight() -> None:
    section = container(b"abc").ljust(24, b"\0") + container(b"defghijk") + bytes(8)
    assert [item.data[16:] for item in containers(section)] == [b"abc", b"defghijk"]


def test_key_is_checksum_and_size() -> None:
    # The check value of CRC-32 for "123456789", from its published parameters.
    assert FatBinaryContainer(b"123456789").key == "cbf43926-9"


@given(st.binary(max_size=200))
def test_any_bytes_are_containers_or_an_error(data: bytes) -> None:
    try:
        found = list(containers(data))
    except PortError:
        return
    assert sum(len(item.data) for item in found) <= len(data)


def test_cut_container_is_an_error() -> None:
    with pytest.raises(PortError, match="cut short"):
        list(containers(container(b"abcdefgh")[:-1]))


def test_not_an_executable(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("#!/bin/sh\n")
    with pytest.raises(PortError, match="not a 64-bit executable"):
        read_executable(path)


def test_executable_without_device_code() -> None:
    with pytest.raises(PortError, match="no CUDA device code"):
        read_executable(Path("/bin/true"))


@settings(deadline=None)
@given(st.integers(0, 4000), st.integers(0, 255))
def test_damaged_executable_is_an_error_or_read(position: int, value: int) -> None:
    data = bytearray(Path("/bin/true").read_bytes())
    data[position % len(data)] = value
    path = Path("/dev/shm/cass-port-damaged")
    path.write_bytes(data)
    try:
        with pytest.raises(PortError):
            read_executable(path)
    finally:
        path.unlink()


@pytest.mark.nvidia
def test_reads_what_nvcc_makes(build: Callable[..., Path], lifter: ContainerLifter) -> None:
    program = read_executable(build("two.cu", TWO_KERNELS))
    assert program.runtime == 13
    assert program.libraries == ()
    # nvcc links a stub without kernels in front of the program's own code.
    by_architecture = cubins(program.containers[-1], lifter.nvidia)
    assert list(by_architecture) == [80]
    names = {section.name for section in Cubin.parse(by_architecture[80][0]).code_sections}
    assert names == {".text._Z3onePi", ".text._Z3twoPi"}


@pytest.mark.nvidia
def test_static_runtime_is_told_apart(lifter: ContainerLifter, tmp_path: Path) -> None:
    source, made = tmp_path / "static.cu", tmp_path / "static"
    source.write_text(TWO_KERNELS)
    nvidia = lifter.nvidia
    folders = [f"-L{folder}" for folder in nvidia.library_directories]
    command = [nvidia.nvcc, "-arch=sm_80", *folders, source, "-o", made]
    assert run(command, cwd=tmp_path, limits=COMPILE_LIMITS).ok
    done = CliRunner().invoke(app, ["port", str(made)])
    assert done.exit_code == 1
    assert "nvcc -cudart shared" in done.output
