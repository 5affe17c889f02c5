"""A ROCm root for builds of strangers' projects: tools, headers, CMake packages, libraries.

Over what :mod:`cass_ray.toolchain.cmake_prefix` makes it lays ``hipcc``, ``hipconfig`` and
``amdclang++``, and CMake packages of AMD's libraries, so that build systems find what they find on
ROCm. What is built runs on the CPU backend.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from cass_ray.emulator import blaslt
from cass_ray.project.build_system import cache_entries
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.archive.library_root import LibraryRoot
from cass_ray.toolchain.cmake_prefix import device_compiler, write_cmake_prefix
from cass_ray.toolchain.hip.root import header_version

SCRIPTS = Path(__file__).parent / "rocm"
"""``hipcc`` and its kin."""
_HEADER_ONLY = {
    "rocprim": ("roc::rocprim", "roc::rocprim_hip"),
    "hipcub": ("hip::hipcub",),
    "rocthrust": ("roc::rocthrust",),
}
"""CMake package -> its targets, for libraries that are headers."""

_LINKED = {
    "hipblas": ("roc::hipblas",),
    "hipfft": ("hip::hipfft",),
    "hiprand": ("hip::hiprand",),
    "hipsparse": ("roc::hipsparse",),
    "hipsolver": ("roc::hipsolver",),
    "rocblas": ("roc::rocblas",),
    "rocfft": ("roc::rocfft",),
    "rocrand": ("roc::rocrand",),
    "rocsparse": ("roc::rocsparse",),
    "rocsolver": ("roc::rocsolver",),
}
_VERSIONED = {"roctx64": ".4"}
"""Libraries of Debian's packages for users alone, which have no name without a version."""
_NOT_HERE = ("rocm_smi64", "rccl", "MIOpen")
"""Libraries that no part of ``cass setup libraries`` has. Many link them without a call."""
_NOTHING = "/* {name} is not among the CPU backend's libraries: what calls it does not link. */\n"
_RUNTIME = {"hiprtc": ("hiprtc::hiprtc",)}
"""What the runtime library holds as well."""

_PACKAGE = """\
set({name}_FOUND TRUE)
set({name}_INCLUDE_DIR "{include}")
set({name}_INCLUDE_DIRS "{include}")
set({name}_LIBRARIES {first})
"""
_COMPILER = (Path(__file__).parent / "compiler.sh").read_text(encoding="utf-8")
_TARGET = """\
if(NOT TARGET {target})
  add_library({target} INTERFACE IMPORTED)
  set_target_properties({target} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "{include}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "{include}"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_LINK_OPTIONS "{options}"
    INTERFACE_LINK_LIBRARIES "{libraries}")
endif()
"""


def write_prefix(
    folder: Path,
    toolchain: AmdToolchain,
    runtime: Path,
    architecture: str,
    libraries: LibraryRoot | None,
) -> Path:
    """Make the root ``folder`` for builds for ``architecture``; returns it."""
    folder = folder.resolve()
    toolchain_file = write_cmake_prefix(folder, toolchain, runtime, architecture)
    _write_compiler(folder, toolchain, toolchain_file)
    version = ".".join(str(part) for part in header_version(toolchain.rocm_path / "include"))
    link = libraries.link_flags(runtime) if libraries else []
    settings = {
        "CLANG": str(device_compiler(folder, toolchain)),
        "LINKER": str(toolchain.linker),
        "ARCHITECTURE": architecture,
        "LINK_FLAGS": " ".join([*link, f"-Wl,-rpath,{folder / 'lib'}"]),
        "WORKAROUNDS": " ".join(toolchain.workarounds),
        "LD_FLAGS": " ".join(_linker_flags(link)),
        "HIP_VERSION": version,
    }
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in settings.items()]
    environment = folder / "share" / "cass" / "hipcc.env"
    _share(folder, toolchain)
    environment.parent.mkdir(parents=True, exist_ok=True)
    environment.write_text("".join(lines))
    for script in SCRIPTS.iterdir():
        # Not beside the tools that projects call: it is for g++ alone.
        target = folder / ("host" if script.name == "ld" else "bin") / script.name
        target.parent.mkdir(exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(script, target)
        target.chmod(0o755)
    lib64 = folder / "lib64"
    if not lib64.is_symlink():
        lib64.symlink_to("lib")
    for name in ("amdclang++", "amdclang"):
        alias = folder / "bin" / name
        alias.unlink(missing_ok=True)
        alias.symlink_to("hipcc")
    _write_packages(folder, libraries, link)
    if libraries is not None and "hipblas" in libraries.libraries:
        _lay_blaslt(folder, toolchain, runtime, libraries)
    for name in _RUNTIME:
        place = folder / "lib" / f"lib{name}.so"
        place.unlink(missing_ok=True)
        place.symlink_to("libamdhip64.so")
    for name in _NOT_HERE:
        (folder / "lib" / f"lib{name}.so").write_text(_NOTHING.format(name=name))
    if libraries is not None:
        for name in (*libraries.libraries, *_VERSIONED):
            version = _VERSIONED.get(name, "")
            library = libraries.folder / f"lib{name}.so{version}"
            for ending in {"", version}:  # a program that linked it asks for the version
                place = folder / "lib" / f"lib{name}.so{ending}"
                place.unlink(missing_ok=True)
                place.symlink_to(library)
    return folder


def _write_compiler(folder: Path, toolchain: AmdToolchain, toolchain_file: Path) -> None:
    """``llvm/bin/clang++``, which knows where its ROCm is without being told by flags.

    Projects set ``CMAKE_CUDA_FLAGS`` before they enable the language, and with that the flags that
    the toolchain file gives.
    """
    script = folder / "llvm" / "bin" / "clang++"
    script.parent.mkdir(parents=True, exist_ok=True)
    options = ["--driver-mode=g++", f"--rocm-path={folder}", f"-B{folder / 'bin'}"]
    options += ["-Wno-unused-command-line-argument"]
    clang = device_compiler(folder, toolchain)
    command = shlex.join([str(clang), *options, *toolchain.workarounds])
    script.write_text(_COMPILER.replace("@command@", command))
    script.chmod(0o755)
    with toolchain_file.open("a") as file:
        file.write(f'set(CMAKE_HIP_COMPILER "{script}")\n')


def tell_dependencies(prefix: Path, dependencies: Mapping[str, Path]) -> None:
    """Have CMake take these folders in the place of downloads, whatever the command is."""
    with (prefix / "toolchain.cmake").open("a") as file:
        for name, folder in cache_entries(dependencies):
            file.write(
                f'set({name} "{folder.as_posix()}" CACHE PATH "cass project --dependency")\n'
            )


def _linker_flags(link: list[str]) -> list[str]:
    """``link`` without what is for the compiler that calls the linker."""
    flags: list[str] = []
    for flag in link:
        flags += flag.removeprefix("-Wl,").split(",") if flag.startswith("-Wl,") else [flag]
    return flags


def _share(folder: Path, toolchain: AmdToolchain) -> None:
    """``share`` as a folder of its own, beside the version file that clang looks for."""
    share = folder / "share"
    if share.is_symlink():
        share.unlink()
        shutil.copytree(toolchain.rocm_path / "share", share)


def _lay_blaslt(
    folder: Path, toolchain: AmdToolchain, runtime: Path, libraries: LibraryRoot
) -> None:
    """Our hipBLASLt beside AMD's libraries: header, library, package."""
    include = folder / "include"
    if include.is_symlink():
        include.unlink()
    include.mkdir(exist_ok=True)
    for entry in (toolchain.rocm_path / "include").iterdir():
        place = include / entry.name
        place.unlink(missing_ok=True)
        place.symlink_to(entry)
    if not (include / blaslt.NAME).exists():
        shutil.copytree(blaslt.HEADERS, include / blaslt.NAME)
    built = blaslt.blaslt_library(toolchain, runtime, libraries)
    library = folder / "lib" / built.name
    for name in (built.name, blaslt.SONAME):
        shutil.copy(built, library.with_name(name))
    link = libraries.link_flags(runtime)
    _write_package(folder, blaslt.NAME, ("roc::hipblaslt",), str(include), [str(library)], link)


def _write_packages(folder: Path, libraries: LibraryRoot | None, link: list[str]) -> None:
    include = str(folder / "include")
    for name, targets in _HEADER_ONLY.items():
        _write_package(folder, name, targets, include, [], [])
    for name, targets in _RUNTIME.items():
        _write_package(folder, name, targets, include, [str(folder / "lib/libamdhip64.so")], [])
    for name, targets in _LINKED.items():
        if libraries is not None and name in libraries.libraries:
            library = str(libraries.folder / f"lib{name}.so")
            _write_package(folder, name, targets, include, [library], link)


def _write_package(
    folder: Path,
    name: str,
    targets: tuple[str, ...],
    include: str,
    libraries: list[str],
    options: list[str],
) -> None:
    text = _PACKAGE.format(name=name, include=include, first=targets[0])
    for target in targets:
        text += _TARGET.format(
            target=target,
            include=include,
            libraries=";".join(libraries),
            options=";".join(options),
        )
    place = folder / "lib" / "cmake" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}-config.cmake").write_text(text)
