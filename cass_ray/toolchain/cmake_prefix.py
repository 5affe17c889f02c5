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

_TEXTS = Path(__file__).parent / "cmake"
BUNDLER = Path(__file__).parent / "amd" / "clang-offload-bundler"
_PROGRAMS = tuple(
    BUNDLER.with_name(name) for name in (BUNDLER.name, "clang-linker-wrapper", "llvm-mc")
)
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
        text = _text("targets").replace("@space@", space).replace("@names@", names)
        if package == "hip-lang":
            text += "set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)\n"
        else:
            text += _text("package_variables") + f'set(hip_VERSION "{version}")\n'
        place = folder / "lib" / "cmake" / package
        _write(place / f"{package}-config.cmake", text)
        _write(place / f"{package}-config-version.cmake", version_file(version))
    for program in _PROGRAMS:
        _write(folder / "bin" / program.name, program.read_text())
        (folder / "bin" / program.name).chmod(0o755)
    _link_binutils(folder / "bin", toolchain.clang)
    compiler = folder / "llvm" / "bin" / "clang++"
    clang = shlex.quote(str(device_compiler(folder, toolchain)))
    _write(compiler, f'#!/bin/sh\nexec {clang} --driver-mode=g++ "$@"\n')
    compiler.chmod(0o755)
    text = _text("toolchain").replace("@clang@", str(compiler))
    text = text.replace("@workarounds@", " ".join(toolchain.workarounds))
    file = folder / "toolchain.cmake"
    _write(file, text.replace("@architecture@", architecture))
    return file


def version_file(version: str) -> str:
    """What tells ``find_package`` which requests ``version`` of a package satisfies."""
    return _text("version").replace("@version@", version)


def find_objcopy(clang: Path) -> Path | None:
    """What takes sections of objects: LLVM's, of the package ``llvm``, else that of binutils, which
    every host compiler brings."""
    return _llvms_or_binutils("objcopy", clang)


def find_archiver(clang: Path) -> Path | None:
    """What makes static libraries, likewise."""
    return _llvms_or_binutils("ar", clang)


def _llvms_or_binutils(name: str, clang: Path) -> Path | None:
    beside = clang.resolve().with_name(f"llvm-{name}")
    if beside.exists():
        return beside
    program = shutil.which(f"llvm-{name}") or shutil.which(name)
    return Path(program) if program else None


def _link_binutils(folder: Path, clang: Path) -> None:
    """``llvm-objcopy`` for the bundler, which says so where there is none, and ``llvm-ar`` for
    ``--emit-static-lib``."""
    for name, program in (("objcopy", find_objcopy(clang)), ("ar", find_archiver(clang))):
        if program is None:
            (folder / f"llvm-{name}").unlink(missing_ok=True)
        else:
            _link(folder / f"llvm-{name}", program)


def device_compiler(folder: Path, toolchain: AmdToolchain) -> Path:
    """What is called to compile for AMD GPUs with the prefix ``folder``; written if need be."""
    return write_driver(folder / "llvm" / "bin", toolchain.clang, toolchain.version)


def _text(name: str) -> str:
    return (_TEXTS / f"{name}.cmake").read_text(encoding="utf-8")


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
