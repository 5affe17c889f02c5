"""The shim's structures and error texts against Nvidia's own headers and library."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.cache import default_directory
from cass_ray.emulator.build import runtime_library
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.shim import SOURCES, shim_library
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.hip.root import build_hip_root

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

STRUCTURES = {
    "FunctionAttributes": "cudaFuncAttributes",
    "PointerAttributes": "cudaPointerAttributes",
    "KernelNodeParameters": "cudaKernelNodeParams",
    "MemsetParameters": "cudaMemsetParams",
    "LaunchConfiguration": "cudaLaunchConfig_t",
    "MemoryLocation": "cudaMemLocation",
    "MemoryPoolProperties": "cudaMemPoolProps",
    "DeviceProperties": "cudaDeviceProp",
    "ResourceDescription": "cudaResourceDesc",
    "TextureDescription": "cudaTextureDesc",
    "ResourceViewDescription": "cudaResourceViewDesc",
}
SAME_IN_HIP = {
    "hipMemcpy3DParms": "cudaMemcpy3DParms",
    "hipPitchedPtr": "cudaPitchedPtr",
    "hipExtent": "cudaExtent",
    "hipHostNodeParams": "cudaHostNodeParams",
    "hipChannelFormatDesc": "cudaChannelFormatDesc",
    "dim3": "dim3",
}
UNKNOWN_HERE = {"hipMemcpy3DParms": ("srcArray", "srcPos", "srcPtr", "dstArray", "dstPos",
                                     "dstPtr", "extent", "kind"),
                "hipPitchedPtr": ("ptr", "pitch", "xsize", "ysize"),
                "hipExtent": ("width", "height", "depth"),
                "hipHostNodeParams": ("fn", "userData"),
                "hipChannelFormatDesc": ("x", "y", "z", "w", "f"),
                "dim3": ("x", "y", "z")}  # fmt: skip


def fields(structure: str) -> list[str]:
    """Names of a structure's fields as ``abi.hpp`` declares them, in order."""
    text = (SOURCES / "abi.hpp").read_text()
    body = text.split(f"struct {structure} {{", 1)[1].split("\n};", 1)[0]
    body = re.sub(r"#.*", "", body)
    found = []
    for declaration in body.split(";"):
        found += re.findall(r"(\w+)(?:\[\d+\])?\s*(?:,|$)", declaration.strip())
    return found


def declared(lifter: ContainerLifter, structure: str) -> list[str]:
    """Names of a structure's fields as CUDA's header declares them, one a line."""
    folders = lifter.nvidia.include_directories
    header = next(
        folder / "driver_types.h" for folder in folders if (folder / "driver_types.h").exists()
    )
    text = header.read_text().split(f" {structure}\n{{", 1)[1].split("\n};", 1)[0]
    return re.findall(r"(\w+)(?:\[\d+\])?;", text)


def layout(structures: dict[str, str], names: dict[str, list[str]], *, ours: bool) -> str:
    """A C++ program that prints sizes and offsets, of our names or of CUDA's."""
    lines = []
    for mine, theirs in structures.items():
        kind = mine if ours else theirs
        lines.append(f'std::printf("{mine} %zu\\n", sizeof({kind}));')
        lines += [
            f'std::printf("{mine}.{name} %zu\\n", offsetof({kind}, {name}));'
            for name in names[mine]
        ]
    return "int main() {\n" + "\n".join(lines) + "\n}\n"


def output(text: str, flags: list[str], folder: Path) -> list[str]:
    source, program = folder / "layout.cpp", folder / "layout"
    source.write_text("#include <cstddef>\n#include <cstdio>\n" + text)
    command = ["g++", "-std=c++20", "-w", *flags, str(source), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split("\n")  # noqa: E501  # fmt: skip


def test_structures_have_cudas_layout(lifter: ContainerLifter, tmp_path: Path) -> None:
    names = {mine: fields(mine) for mine in STRUCTURES} | {
        mine: list(listed) for mine, listed in UNKNOWN_HERE.items()
    }
    assert names["DeviceProperties"] == declared(lifter, "cudaDeviceProp")
    all_of_them = STRUCTURES | SAME_IN_HIP
    root = build_hip_root(find_clang().clang, default_directory())
    ours = '#include "abi.hpp"\nusing namespace cass::cuda;\n'
    ours += layout(all_of_them, names, ours=True)
    hip = ["-D__HIP_PLATFORM_AMD__=1", f"-I{SOURCES}", "-isystem", str(root.include)]
    theirs = "#include <driver_types.h>\n#include <texture_types.h>\n#include <vector_types.h>\n"
    theirs += layout(all_of_them, names, ours=False)
    cuda = [f"-I{folder}" for folder in lifter.nvidia.include_directories]
    assert output(ours, hip, tmp_path) == output(theirs, cuda, tmp_path)


@pytest.fixture(scope="module")
def shim(lifter: ContainerLifter) -> ctypes.CDLL:
    return ctypes.CDLL(str(shim_library(13, runtime_library())))


@pytest.fixture(scope="module")
def nvidias(lifter: ContainerLifter) -> ctypes.CDLL:
    for folder in lifter.nvidia.library_directories:
        if (folder / "libcudart.so.13").exists():
            return ctypes.CDLL(str(folder / "libcudart.so.13"))
    pytest.skip("no libcudart.so.13 in the toolkit")


@pytest.mark.parametrize("call", ["cudaGetErrorName", "cudaGetErrorString"])
def test_error_texts_are_nvidias(shim: ctypes.CDLL, nvidias: ctypes.CDLL, call: str) -> None:
    texts: list[Callable[[int], bytes]] = []
    for library in (shim, nvidias):
        function = library[call]
        function.restype = ctypes.c_char_p
        texts.append(function)
    assert [texts[0](code) for code in range(1100)] == [texts[1](code) for code in range(1100)]


def test_all_of_nvidias_entry_points_are_there(shim: ctypes.CDLL, lifter: ContainerLifter) -> None:
    folder = next(iter(lifter.nvidia.library_directories))
    command = ["nm", "-D", "--defined-only", str(folder / "libcudart.so.13")]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = [line.split()[2].partition("@")[0] for line in listed.splitlines() if " T " in line]
    assert len(names) > 400
    assert [name for name in names if not hasattr(shim, name)] == ["__cudaRegisterUnifiedTable"]


def test_library_for_cuda_12(lifter: ContainerLifter) -> None:
    path = shim_library(12, runtime_library())
    library = ctypes.CDLL(str(path))
    version = ctypes.c_int()
    assert library.cudaRuntimeGetVersion(ctypes.byref(version)) == 0
    assert version.value == 12000
    # CUDA 12 puts a suffix on the name of the call whose structure it changed.
    properties = ctypes.create_string_buffer(b"\xaa" * 1040, 1040)
    assert library.cudaGetDeviceProperties_v2(properties, 0) == 0
    assert properties.raw[1032:] == b"\xaa" * 8
    assert properties.raw[0:3] != b"\xaa" * 3
    listed = subprocess.run(
        ["readelf", "-dV", str(path)], check=True, capture_output=True, text=True
    ).stdout
    assert "Library soname: [libcudart.so.12]" in listed
    assert "Name: libcudart.so.12" in listed
