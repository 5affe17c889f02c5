"""hipBLASLt for programs on the CPU backend: ours, over AMD's hipBLAS.

Debian, whose builds of AMD's libraries ``cass setup libraries`` installs, has no hipBLASLt.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.emulator.build import BuildFailed
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.archive.library_root import LibraryRoot
from cass_ray.toolchain.provided.store import AMD_HEADERS

NAME = "hipblaslt"
HEADERS = AMD_HEADERS / NAME
"""The folder of its header, as ``#include <hipblaslt/hipblaslt.h>`` names it."""

_LIBRARY = f"lib{NAME}.so"
SONAME = f"{_LIBRARY}.0"
_SOURCES = Path(__file__).parent / NAME
_FLAGS = (
    *("-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra"),
    *("-D__HIP_PLATFORM_AMD__=1", "-DHIPBLAS_V2"),
)


def blaslt_library(toolchain: AmdToolchain, runtime: Path, libraries: LibraryRoot) -> Path:
    """``libhipblaslt.so``, built where it is not there yet; ``libraries`` has hipBLAS.

    Raises :class:`~cass_ray.emulator.build.BuildFailed`.
    """
    files = [*sorted(_SOURCES.iterdir()), *sorted(HEADERS.iterdir())]
    places = (str(toolchain.rocm_path), str(runtime.resolve()), str(libraries.folder))
    key = digest([toolchain.version, *_FLAGS, *places, *(path.read_bytes() for path in files)])
    folder = toolchain.cache / NAME / key[:24]
    if not (folder / _LIBRARY).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            library = Path(scratch) / _LIBRARY
            _build(toolchain, runtime.resolve(), libraries, library)
            folder.mkdir(exist_ok=True)
            shutil.move(library, folder / _LIBRARY)
    return folder / _LIBRARY


def _build(toolchain: AmdToolchain, runtime: Path, libraries: LibraryRoot, target: Path) -> None:
    command = [str(toolchain.clang), "--driver-mode=g++", *_FLAGS, f"-Wl,-soname,{SONAME}"]
    command += ["-isystem", str(AMD_HEADERS), "-isystem", str(toolchain.rocm_path / "include")]
    command += [str(path) for path in sorted(_SOURCES.glob("*.cpp"))]
    command += [f"-L{libraries.folder}", "-lhipblas", str(runtime), "-static-libstdc++"]
    command += ["-Wl,--allow-shlib-undefined", f"--ld-path={toolchain.linker}", "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(f"hipBLASLt for the CPU backend does not build:\n{done.stderr}")
