"""The way from RDNA3 to PTX, there and back again.

A HIP kernel's RDNA3 becomes PTX, ptxas makes SASS of it, and the lifter, which is checked against
a real GPU, makes RDNA3 of that: what comes out must compute what went in does.
"""

from __future__ import annotations

import ctypes
import random
import struct
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
from tests.lift.vectors.run_lifted import Hip

PROGRAMS = Path(__file__).parent / "programs"
COUNT = 250  # not a multiple of a wave: the last one is partial
WORDS = 1024
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
def hip() -> Hip:
    runtime_library()
    return Hip()


def run(hip: Hip, code_object: bytes, kernel: str, given: bytes) -> bytes:
    module, function = hip.load(code_object), ctypes.c_void_p()
    hip.call("hipModuleGetFunction", ctypes.byref(function), module, kernel.encode())
    places = []
    for content in (given, bytes(4 * WORDS)):
        place = ctypes.c_void_p()
        hip.call("hipMalloc", ctypes.byref(place), ctypes.c_size_t(len(content)))
        hip.call("hipMemcpy", place, content, ctypes.c_size_t(len(content)), 1)
        places.append(place)
    arguments = [*places, ctypes.c_int(COUNT)]
    pointers = (ctypes.c_void_p * 3)(
        *(ctypes.cast(ctypes.pointer(item), ctypes.c_void_p) for item in arguments)
    )
    hip.call("hipModuleLaunchKernel", function, 2, 1, 1, 128, 1, 1, 0, None, pointers, None)
    hip.call("hipDeviceSynchronize")
    made = ctypes.create_string_buffer(4 * WORDS)
    hip.call("hipMemcpy", made, places[1], ctypes.c_size_t(4 * WORDS), 2)
    return made.raw


@pytest.mark.parametrize("kernel", KERNELS)
def test_there_and_back(kernel: str, code: tuple[bytes, bytes], hip: Hip) -> None:
    chance = random.Random(kernel)
    if kernel in ("floats", "doubles"):
        given = struct.pack(f"<{COUNT}f", *(chance.uniform(-9, 9) for _ in range(COUNT)))
    else:
        given = struct.pack(f"<{COUNT}i", *(chance.randrange(-99, 10**6) for _ in range(COUNT)))
    original, returned = code
    wanted = run(hip, original, kernel, given)
    assert any(wanted)
    assert run(hip, returned, kernel, given) == wanted


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
