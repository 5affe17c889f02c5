"""A prefix for CMake's HIP language where there is no ROCm: packages, compiler, headers, runtime.

Translated projects say ``project(… LANGUAGES HIP)`` and ``find_package(hip)``, as projects for ROCm
do. CMake then looks for two packages below the ROCm root (``CMakeDetermineHIPCompiler``):
``hip-lang``, which gives the runtime library to every HIP target, and ``hip`` with the targets
``hip::host``, ``hip::device`` and ``hip::amdhip64``. This module lays both over the HIP root and
writes a toolchain file that names all of it::

    python -m cass_ray.toolchain.cmake_prefix FOLDER
    cmake -S PROJECT_HIP -B build -DCMAKE_TOOLCHAIN_FILE=FOLDER/toolchain.cmake

What is built runs on the library that it was linked with: ROCm's runtime, or the CPU backend.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from cass_ray.toolchain.amd.compiler_driver import write_driver
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE, AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.root import header_version
from cass_ray.toolchain.locate import find_amd

_TARGETS = """\
get_filename_component(_hip_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET @space@::amdhip64)
  add_library(@space@::amdhip64 SHARED IMPORTED)
  set_target_properties(@space@::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_hip_prefix}/lib/libamdhip64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_hip_prefix}/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_hip_prefix}/include"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_LINK_OPTIONS "-Wl,-rpath,${_hip_prefix}/lib")
  foreach(_hip_name @names@)
    add_library(@space@::${_hip_name} INTERFACE IMPORTED)
    set_target_properties(@space@::${_hip_name} PROPERTIES
      INTERFACE_LINK_LIBRARIES @space@::amdhip64)
  endforeach()
endif()
"""
_PACKAGE_VARIABLES = """\
set(hip_FOUND TRUE)
set(hip_INCLUDE_DIR "${_hip_prefix}/include")
set(hip_INCLUDE_DIRS "${_hip_prefix}/include")
set(hip_LIB_INSTALL_DIR "${_hip_prefix}/lib")
set(hip_BIN_INSTALL_DIR "${_hip_prefix}/bin")
set(hip_LIBRARIES hip::host)
set(HIP_INCLUDE_DIRS "${_hip_prefix}/include")
set(HIP_PLATFORM "amd")
set(HIP_COMPILER "clang")
"""
_VERSION = """\
set(PACKAGE_VERSION "@version@")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
"""
_TOOLCHAIN = """\
set(CMAKE_HIP_COMPILER "@clang@")
set(CMAKE_HIP_COMPILER_ROCM_ROOT "${CMAKE_CURRENT_LIST_DIR}")
list(APPEND CMAKE_PREFIX_PATH "${CMAKE_CURRENT_LIST_DIR}")
if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
  set(CMAKE_HIP_ARCHITECTURES @architecture@)
endif()
# To identify the compiler CMake names no processor; clang's default is one of another generation.
set(CMAKE_HIP_COMPILER_ID_TEST_FLAGS_FIRST "--offload-arch=@architecture@")
set(CMAKE_HIP_FLAGS_INIT "--rocm-path=${CMAKE_CURRENT_LIST_DIR} -B${CMAKE_CURRENT_LIST_DIR}/bin")
string(APPEND CMAKE_HIP_FLAGS_INIT " @workarounds@")
# Projects leave out tests where it is defined, for they take it that CMake cross-compiles. CMake
# itself reads this file by CMakeSystem.cmake from here on, as try_compile and later runs do.
unset(CMAKE_TOOLCHAIN_FILE)
unset(CMAKE_TOOLCHAIN_FILE CACHE)
"""
BUNDLER = Path(__file__).parent / "amd" / "clang-offload-bundler"
_PROGRAMS = (BUNDLER, BUNDLER.with_name("clang-linker-wrapper"))
"""Programs that clang calls by their names, where LLVM came without them."""


def write_cmake_prefix(
    folder: Path,
    toolchain: AmdToolchain,
    runtime: Path,
    architecture: str = DEFAULT_ARCHITECTURE,
) -> Path:
    """Make the prefix ``folder`` for ``toolchain`` and ``runtime``; returns its toolchain file.

    ``architecture`` is what is built for where a project names none.
    """
    folder = folder.resolve()
    version = ".".join(str(part) for part in header_version(toolchain.rocm_path / "include"))
    for name in ("include", "amdgcn", "share"):
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            continue
        _link(folder / name, toolchain.rocm_path / name)
    _link(folder / "lib" / "libamdhip64.so", runtime.resolve())
    _link(folder / "lib" / "libamdhip64.so.6", runtime.resolve())
    packages = {"hip-lang": ("hip-lang", "device"), "hip": ("hip", "host device")}
    for package, (space, names) in packages.items():
        text = _TARGETS.replace("@space@", space).replace("@names@", names)
        if package == "hip-lang":
            text += "set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)\n"
        else:
            text += _PACKAGE_VARIABLES + f'set(hip_VERSION "{version}")\n'
        place = folder / "lib" / "cmake" / package
        _write(place / f"{package}-config.cmake", text)
        _write(place / f"{package}-config-version.cmake", _VERSION.replace("@version@", version))
    for program in _PROGRAMS:
        _write(folder / "bin" / program.name, program.read_text())
        (folder / "bin" / program.name).chmod(0o755)
    _link_objcopy(folder / "bin", toolchain.clang)
    compiler = folder / "llvm" / "bin" / "clang++"
    clang = shlex.quote(str(device_compiler(folder, toolchain)))
    _write(compiler, f'#!/bin/sh\nexec {clang} --driver-mode=g++ "$@"\n')
    compiler.chmod(0o755)
    text = _TOOLCHAIN.replace("@clang@", str(compiler))
    text = text.replace("@workarounds@", " ".join(toolchain.workarounds))
    file = folder / "toolchain.cmake"
    _write(file, text.replace("@architecture@", architecture))
    return file


def find_objcopy(clang: Path) -> Path | None:
    """What takes sections of objects: LLVM's, of the package ``llvm``, else that of binutils, which
    every host compiler brings."""
    beside = clang.resolve().with_name("llvm-objcopy")
    if beside.exists():
        return beside
    found = shutil.which("llvm-objcopy") or shutil.which("objcopy")
    return Path(found) if found else None


def _link_objcopy(folder: Path, clang: Path) -> None:
    """``llvm-objcopy`` for the bundler, which says so where there is none."""
    objcopy = find_objcopy(clang)
    if objcopy is None:
        (folder / "llvm-objcopy").unlink(missing_ok=True)
    else:
        _link(folder / "llvm-objcopy", objcopy)


def device_compiler(folder: Path, toolchain: AmdToolchain) -> Path:
    """What is called to compile for AMD GPUs with the prefix ``folder``; written if need be."""
    return write_driver(folder / "llvm" / "bin", toolchain.clang, toolchain.version)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def main(arguments: list[str]) -> int:
    """Make the prefix ``arguments[0]`` (with the runtime ``arguments[1]``), say how to use it."""
    if len(arguments) not in {1, 2}:
        print(
            "usage: python -m cass_ray.toolchain.cmake_prefix FOLDER [LIBAMDHIP64]",
            file=sys.stderr,
        )
        return 2
    try:
        toolchain = find_amd()
        runtime = Path(arguments[1]) if len(arguments) == 2 else toolchain.runtime_library
        if runtime is None or not runtime.exists():
            raise ToolMissing(
                "The HIP runtime library (libamdhip64.so)",
                "Install ROCm's, or name one as the second argument: cass doctor --json shows"
                " where the CPU backend's is.",
            )
        file = write_cmake_prefix(Path(arguments[0]), toolchain, runtime)
    except ToolMissing as error:
        print(error, file=sys.stderr)
        return 3
    print(f"cmake -S PROJECT -B BUILD -DCMAKE_TOOLCHAIN_FILE={file}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
