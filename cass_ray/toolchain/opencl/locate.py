"""Find what OpenCL needs beside the CUDA and AMD toolchains: bitcode libraries.

- Nvidia: libclc's ``nvptx64--nvidiacl.bc`` (package ``libclc-19``), CUDA's ``libdevice.10.bc``, and
  our math built-ins (``opencl_lib/nvptx_math.cl``), compiled once.
- AMD: ``opencl.bc`` of AMD's device libraries. ROCm has it; beside our own HIP root it comes from
  Debian's ``rocm-device-libs``, which is downloaded and unpacked, not installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.opencl.driver import wanted_driver
from cass_ray.toolchain.opencl.toolchain import NVIDIA_TARGET, STANDARD, OpenclAmd, OpenclNvidia
from cass_ray.toolchain.search_paths import real_clang

LIBCLC_VARIABLE = "CASS_LIBCLC"
"""Environment variable: the folder with ``nvptx64--nvidiacl.bc``."""

LIBCLC_REMEDY = (
    "Install LLVM's OpenCL library: apt-get install libclc-19 (the version of clang); or set"
    f" {LIBCLC_VARIABLE} to the folder that holds {NVIDIA_TARGET}.bc."
)
DEVICE_LIBRARY_REMEDY = "Install ROCm, or AMD's device libraries: apt-get install rocm-device-libs."
_MATH = Path(__file__).with_name("nvptx_math.cl")
_LIBCLC_FOLDERS = (Path("/usr/lib/clc"), Path("/usr/share/clc"), Path("/usr/local/share/clc"))
_DEVICE_LIBRARY_FOLDERS = (
    Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"),
    Path("/usr/lib/amdgcn/bitcode"),
)
_PACKAGE = "rocm-device-libs"
_OPENCL_LIBRARY_BYTES = 100_000
"""AMD's ``opencl.bc`` is megabytes; the placeholder of our HIP root, which is for HIP, is less."""


def find_opencl_nvidia(
    nvidia: NvidiaToolchain | None = None, cache: Path | None = None
) -> OpenclNvidia:
    """The Nvidia side. Raises :class:`ToolMissing`."""
    nvidia, cache = nvidia or find_nvidia(), cache or default_directory()
    clang, version = _clang(nvidia, cache)
    libclc = _libclc()
    libdevice = next(nvidia.home.glob("nvvm/libdevice/libdevice*.bc"), None)
    if libdevice is None:
        raise ToolMissing("libdevice", f"{nvidia.home}/nvvm/libdevice is not there.")
    math = _math_library(clang, version, cache)
    return OpenclNvidia(
        clang=clang,
        nvidia=nvidia,
        libraries=(math, libclc, libdevice),
        version=f"{version}, CUDA {nvidia.version}",
        driver=wanted_driver(),
    )


def find_opencl_amd(
    amd: AmdToolchain | None = None, cache: Path | None = None, *, fetch: bool = True
) -> OpenclAmd:
    """The AMD side; ``opencl.bc`` is downloaded if needed, unless ``fetch`` is false.

    Raises :class:`ToolMissing`.
    """
    amd, cache = amd or find_amd(), cache or default_directory()
    bitcode = amd.rocm_path / "amdgcn" / "bitcode"
    if _is_opencl_library(bitcode / "opencl.bc"):
        return OpenclAmd(amd, bitcode)
    return OpenclAmd(amd, _with_opencl_library(bitcode, cache, fetch=fetch))


def _clang(nvidia: NvidiaToolchain, cache: Path) -> tuple[Path, str]:
    """LLVM's own clang, which has the NVPTX target, before ROCm's, which may lack it."""
    if nvidia.clang is None:
        clang = find_clang(cache=cache)
        return clang.clang, clang.version
    words = re.search(r"clang version ([\d.]+)", nvidia.clang_version)
    return real_clang(nvidia.clang), words[1] if words else ""


def _libclc() -> Path:
    named = os.environ.get(LIBCLC_VARIABLE)
    folders = (Path(named),) if named else _LIBCLC_FOLDERS
    for folder in folders:
        path = folder / f"{NVIDIA_TARGET}.bc"
        if path.exists():
            return path
    raise ToolMissing("libclc for Nvidia GPUs", LIBCLC_REMEDY)


def _math_library(clang: Path, version: str, cache: Path) -> Path:
    """Our math built-ins as bitcode of the very clang that will link them."""

    def fill(target: Path) -> None:
        command = [str(clang), "-x", "cl", STANDARD, "-cl-no-stdinc", "-O2", "-emit-llvm", "-c"]
        command += ["-target", NVIDIA_TARGET, "-march=sm_75", str(_MATH)]
        command += ["-o", str(target / "math.bc")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolMissing(
                "clang for NVPTX", "Install clang-19 with the NVPTX target.", done.stderr.strip()
            )

    key = digest([version, str(clang), _MATH.read_text()])[:16]
    return unpack_once(cache / "opencl-math" / key, fill) / "math.bc"


def _with_opencl_library(bitcode: Path, cache: Path, *, fetch: bool) -> Path:
    """A copy of ``bitcode`` whose ``opencl.bc`` is AMD's."""

    def fill(target: Path) -> None:
        for file in bitcode.glob("*.bc"):
            shutil.copy(file, target)
        for folder in _DEVICE_LIBRARY_FOLDERS:
            if _is_opencl_library(folder / "opencl.bc"):
                shutil.copy(folder / "opencl.bc", target)
                return
        if not fetch:
            raise ToolMissing("AMD's OpenCL device library", DEVICE_LIBRARY_REMEDY)
        _download(target)

    key = digest([str(bitcode), *sorted(file.name for file in bitcode.glob("*.bc"))])[:16]
    return unpack_once(cache / "opencl-bitcode" / key, fill)


def _download(target: Path) -> None:
    """``opencl.bc`` out of Debian's package."""
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        try:
            subprocess.run(
                ["apt-get", "download", "-qq", _PACKAGE],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            )
            package = next(folder.glob("*.deb"))
            subprocess.run(["dpkg-deb", "-x", str(package), str(folder / "unpacked")], check=True)
        except (subprocess.CalledProcessError, OSError, StopIteration) as error:
            message = getattr(error, "stderr", "") or str(error)
            raise ToolMissing(
                "AMD's OpenCL device library", DEVICE_LIBRARY_REMEDY, message
            ) from None
        library = next((folder / "unpacked").rglob("opencl.bc"))
        shutil.copy(library, target)


def _is_opencl_library(path: Path) -> bool:
    return path.exists() and path.stat().st_size > _OPENCL_LIBRARY_BYTES
