"""The library and the headers that let extensions of one PyTorch run on the CPU backend."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.emulator.build import BuildFailed
from cass_ray.project.pytorch.cmake_package import write_cmake_package
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.hip.root import header_version
from cass_ray.toolchain.provided.store import AMD_HEADERS
from cass_ray.translate.protocol import Translator

LIBRARIES = ("libc10_hip.so", "libtorch_hip.so")
"""Names by which extensions link what PyTorch for ROCm has; one library of ours is both."""

_PACKAGE = Path(__file__).parent
_SOURCES = _PACKAGE / "csrc"
_STARTUP = _PACKAGE / "startup"
_LAUNCHER = _STARTUP / "cass_precompile.py"
_LAUNCHED = "launched"
_HOST_COMPILERS = ("c++", "g++", "cc", "gcc")
_PRECOMPILED = ".cass-precompiled"
_CUDA_HEADERS = ("ATen/cuda", "ATen/native/cuda", "c10/cuda")
_WRITTEN_BY_CUDA_BUILDS = {
    "c10/cuda/impl/cuda_cmake_macros.h": "#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n",
    "ATen/cuda/CUDAConfig.h": "#pragma once\n"
    + "".join(
        f"#define AT_{name}_ENABLED() 0\n"
        for name in ("CUDNN", "CUSPARSELT", "HIPSPARSELT", "ROCM", "MAGMA")
    )
    + '#define NVCC_FLAGS_EXTRA ""\n',
    "THC/THCAtomics.cuh": "#pragma once\n#include <ATen/cuda/Atomic.cuh>\n",
    "THC/THCDeviceUtils.cuh": "#pragma once\n#include <ATen/cuda/DeviceUtils.cuh>\n",
}
"""Headers that only a PyTorch built for CUDA has; its others come with each."""
_SUFFIXES = {".h", ".cuh", ".hpp"}
_COMPILER_LINES = 20


@dataclass(frozen=True)
class TorchInstall:
    """The PyTorch of an interpreter."""

    interpreter: Path
    folder: Path
    version: str


@dataclass(frozen=True)
class TorchBackend:
    """What a port of an extension is built and tested with."""

    install: TorchInstall
    library: Path
    include: Path
    hip_version: str

    @property
    def startup(self) -> Path:
        """The folder of modules that those interpreters load first."""
        return _STARTUP

    def variables(self, architecture: str, tree: Path) -> dict[str, str]:
        """Environment of the interpreters that build and test ``tree`` for ``architecture``.

        Threads of OpenMP wait without turning: PyTorch's operators on a busy machine took 15 times
        as long with those that do (two threads, two cores, a load of ten).
        """
        return {
            "OMP_WAIT_POLICY": "PASSIVE",
            "CASS_COMPILER_LAUNCHER": f"{self.install.interpreter} -I {_LAUNCHER}",
            "CASS_PRECOMPILED": str(tree.resolve() / _PRECOMPILED),
            "PYTHONPATH": str(_STARTUP),
            "PYTORCH_ROCM_ARCH": architecture,
            "CASS_TORCH_BACKEND": str(self.library),
            "CASS_TORCH_INCLUDE": str(self.include),
            "CASS_TORCH_HIP_VERSION": self.hip_version,
        }

    def visible(self) -> tuple[Path, ...]:
        """Folders that those interpreters read."""
        prefixes = {Path(sys.prefix), Path(sys.base_prefix), self.install.folder.parent}
        return (*sorted(prefixes), self.library.parent, self.include, _STARTUP)


def find_torch() -> TorchInstall | None:
    """The PyTorch of this interpreter, which is not imported."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    version = importlib.metadata.version("torch")
    return TorchInstall(Path(sys.executable), Path(spec.origin).parent, version)


def torch_backend(
    install: TorchInstall,
    toolchain: AmdToolchain,
    runtime: Path,
    translator: Translator,
    cache: Path,
) -> TorchBackend:
    """Translate PyTorch's CUDA headers and build the library; kept below ``cache``.

    Raises :class:`~cass_ray.emulator.build.BuildFailed` with the compiler's message: the part of
    PyTorch that this stands in for changes between its releases.
    """
    folder = cache / "torch"
    headers = translated_headers(install, translator)
    # Named by what is in it: the path is in every command line of a build, which compiles again
    # when it changes.
    names = [f"{name}\0{text}" for name, text in headers.items()]
    include = _kept(
        folder / f"include-{digest(names)[:24]}", lambda made: _write_headers(headers, made)
    )
    texts = [path.read_text() for path in sorted(_SOURCES.iterdir())]
    places = [
        *(install.version, str(install.folder)),
        *(str(path) for path in (toolchain.rocm_path, runtime.resolve(), include)),
    ]
    library = _kept(
        folder / f"library-{digest([*places, *texts])[:24]}",
        lambda made: _build(install, toolchain, runtime, include, made),
    )
    version = ".".join(str(part) for part in header_version(toolchain.rocm_path / "include"))
    return TorchBackend(install, library / LIBRARIES[0], include, version)


def _kept(folder: Path, make: Callable[[Path], None]) -> Path:
    """``folder``, which ``make`` fills, in a place of its own, where it is not there yet."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".made-", dir=folder.parent))
    made = scratch / "folder"
    try:
        made.mkdir()
        make(made)
        made.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was faster
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def link_backend(backend: TorchBackend, prefix: Path) -> Path:
    """Put the libraries where builds of extensions look for ROCm's.

    Returns a folder of host compilers that precompile PyTorch's headers.
    """
    for name in LIBRARIES:
        place = prefix / "lib" / name
        place.unlink(missing_ok=True)
        place.symlink_to(backend.library)
    write_cmake_package(
        prefix, backend.install.folder, backend.include, backend.library, backend.install.version
    )
    folder = prefix / _LAUNCHED
    folder.mkdir(exist_ok=True)
    for name in _HOST_COMPILERS:
        if compiler := shutil.which(name):
            script = folder / name
            script.write_text(f'#!/bin/sh\nexec $CASS_COMPILER_LAUNCHER {compiler} "$@"\n')
            script.chmod(0o755)
    return folder


def translated_headers(install: TorchInstall, translator: Translator) -> dict[str, str]:
    """PyTorch's own headers about CUDA, as HIP: PyTorch for ROCm makes them the same way.

    Ours are among them, which stand in for those of libraries that are not installed, and those
    by which PyTorch for ROCm calls its translated ones (``c10/hip/HIPStream.h``).
    """
    found = {
        path.relative_to(AMD_HEADERS).as_posix(): path.read_text()
        for path in sorted(AMD_HEADERS.rglob("*.h"))
    }
    include = install.folder / "include"
    for part in _CUDA_HEADERS:
        for path in sorted((include / part).rglob("*")):
            if path.suffix in _SUFFIXES:
                name = path.relative_to(include).as_posix()
                translation = translator.translate(path.read_text(), filename=path.name)
                found[name] = translation.source
                found.setdefault(_hip_name(name), f"#pragma once\n#include <{name}>\n")
    for name, text in _WRITTEN_BY_CUDA_BUILDS.items():
        if not (include / name).is_file():
            found[name] = text
            found.setdefault(_hip_name(name), f"#pragma once\n#include <{name}>\n")
    return found


def _hip_name(name: str) -> str:
    """What PyTorch for ROCm calls its header ``name``."""
    folder, _, file = name.rpartition("/")
    return f"{folder.replace('cuda', 'hip')}/{file.replace('CUDA', 'HIP')}"


def _write_headers(headers: Mapping[str, str], target: Path) -> None:
    for name, text in headers.items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def _build(
    install: TorchInstall, toolchain: AmdToolchain, runtime: Path, include: Path, folder: Path
) -> None:
    torch = install.folder
    flags = [
        *("-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-w"),
        *("-D__HIP_PLATFORM_AMD__=1", "-DUSE_ROCM=1", "-DHIPBLAS_V2"),
        *("-isystem", str(include), "-isystem", str(torch / "include")),
        *("-isystem", str(torch / "include/torch/csrc/api/include")),
        *("-isystem", str(toolchain.rocm_path / "include")),
    ]
    objects = []
    for source in sorted(_SOURCES.glob("*.cpp")):
        made = folder / f"{source.stem}.o"
        _run([str(toolchain.clang), *flags, "-c", str(source), "-o", str(made)], install)
        objects.append(str(made))
    runtime = runtime.resolve()
    link = [
        *("-shared", f"-Wl,-soname,{LIBRARIES[0]}", "-Wl,-Bsymbolic", "-Wl,-z,defs"),
        *(f"-L{torch / 'lib'}", "-lc10", "-ltorch_cpu", str(runtime)),
        *(f"-Wl,-rpath,{runtime.parent}", f"-Wl,-rpath,{torch / 'lib'}"),
        f"--ld-path={toolchain.linker}",
    ]
    library = folder / LIBRARIES[0]
    _run([str(toolchain.clang), *objects, *link, "-o", str(library)], install)
    for each in objects:
        Path(each).unlink()


def _run(command: list[str], install: TorchInstall) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        said = "\n".join(done.stderr.splitlines()[:_COMPILER_LINES])
        raise BuildFailed(f"the backend for PyTorch {install.version} does not build:\n{said}")
