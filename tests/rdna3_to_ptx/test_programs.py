"""The way from RDNA3 to PTX, there and back again.

A HIP kernel's RDNA3 becomes PTX, ptxas makes SASS of it, and the lifter, which is checked against
a real GPU, makes RDNA3 of that: what comes out must compute what went in does.
"""

from __future__ import annotations

import multiprocessing
import random
import struct
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.lift import lift_cubin
from cass_ray.rdna3_to_ptx import UnknownInstruction, assemble, to_ptx
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.unit import Unit
from tests.rdna3_to_ptx.run_kernel import COUNT, run_kernel

PROGRAMS = Path(__file__).parent / "programs"
KERNELS = (
    "integers", "wide", "floats", "doubles", "divergent", "shared", "lanes", "atomics", "frames",
    "variables",
)  # fmt: skip

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]


@pytest.fixture(scope="module")
def tools() -> tuple[AmdToolchain, NvidiaToolchain]:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        return find_amd(), find_nvidia()
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def code(tools: tuple[AmdToolchain, NvidiaToolchain]) -> tuple[bytes, bytes]:
    """The code object of clang, and the one that has been to Nvidia and back."""
    amd, nvidia = tools
    unit = Unit(PROGRAMS, PurePosixPath("to_ptx.hip"))
    assembly = amd.compile(unit, optimization="-O2").device_assembly
    there = to_ptx(assembly)
    back = lift_cubin(assemble(there.text, nvidia))
    return amd.assemble(assembly, "gfx1100"), back.code_object


@pytest.fixture(scope="module")
def runner() -> Iterator[ProcessPoolExecutor]:
    runtime_library()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        yield process


@pytest.mark.parametrize("kernel", KERNELS)
def test_there_and_back(
    kernel: str, code: tuple[bytes, bytes], runner: ProcessPoolExecutor
) -> None:
    chance = random.Random(kernel)
    if kernel in ("floats", "doubles"):
        given = struct.pack(f"<{COUNT}f", *(chance.uniform(-9, 9) for _ in range(COUNT)))
    else:
        given = struct.pack(f"<{COUNT}i", *(chance.randrange(-99, 10**6) for _ in range(COUNT)))
    original, returned = code
    wanted = runner.submit(run_kernel, original, kernel, given).result()
    assert any(wanted)
    assert runner.submit(run_kernel, returned, kernel, given).result() == wanted


def test_unknown_instruction_is_named() -> None:
    assembly = """
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
\t.type\tf,@function
f:
\tv_cvt_pk_u8_f32 v0, v1, v2, v3
\ts_endpgm
.Lfunc_end0:
\t.size\tf, .Lfunc_end0-f
\t.amdhsa_kernel f
\t\t.amdhsa_wavefront_size32 1
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .name: f
    .wavefront_size: 32
    .args: []
...
\t.end_amdgpu_metadata
"""
    with pytest.raises(UnknownInstruction, match=r"f: v_cvt_pk_u8_f32 .* not in the table"):
        to_ptx(assembly)
