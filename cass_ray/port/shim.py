"""Build CUDA's libraries over HIP from their sources here, once for each state of them.

``runtime/`` is ``libcudart.so``, ``driver/`` ``libcuda.so.1``; ``common/`` is in both.
"""

from __future__ import annotations

import fcntl
import functools
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.emulator.build import BuildFailed
from cass_ray.emulator.build_headers import precompile, shared_headers
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.hip.root import build_hip_root

COMMON_SOURCES = Path(__file__).parent / "common"
SOURCES = Path(__file__).parent / "runtime"
DRIVER_SOURCES = Path(__file__).parent / "driver"
DRIVER_NAME = "libcuda.so.1"
_FLAGS = (
    "-std=c++20",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wno-deprecated-declarations",  # HIP's contexts, which are for programs of CUDA's driver
    "-D__HIP_PLATFORM_AMD__=1",
)
_LINK = ("-shared", "-static-libstdc++", "-static-libgcc", "-Wl,-z,now", "-Wl,--undefined-version")


@dataclass(frozen=True)
class _Library:
    name: str
    sources: tuple[Path, ...]
    read: tuple[Path, ...]
    """All files that the sources include, and themselves."""
    exports: Path
    flags: tuple[str, ...] = ()


def shim_library(version: int, hip_runtime: Path) -> Path:
    """``libcudart.so.VERSION`` that calls ``hip_runtime`` (a libamdhip64.so).

    Raises :class:`~cass_ray.emulator.build.BuildFailed` with the compiler's message, and
    :class:`~cass_ray.toolchain.errors.ToolMissing` where there is no clang or no HIP headers.
    """
    library = _Library(
        f"libcudart.so.{version}",
        _sources(SOURCES),
        (*_files(SOURCES), *_files(COMMON_SOURCES)),
        SOURCES / "exports.map",
        (f"-DCASS_CUDA_VERSION={version}",),
    )
    return _built(library, hip_runtime, default_directory())


def driver_library(hip_runtime: Path) -> Path:
    """``libcuda.so.1`` that calls ``hip_runtime``. Raises what :func:`shim_library` does."""
    library = _Library(
        DRIVER_NAME,
        _sources(DRIVER_SOURCES),
        (*_files(DRIVER_SOURCES), *_files(SOURCES), *_files(COMMON_SOURCES)),
        DRIVER_SOURCES / "exports.map",
    )
    return _built(library, hip_runtime, default_directory())


def _sources(folder: Path) -> tuple[Path, ...]:
    return (*sorted(folder.glob("*.cpp")), *sorted(COMMON_SOURCES.glob("*.cpp")))


def _files(folder: Path) -> tuple[Path, ...]:
    return tuple(path for path in sorted(folder.iterdir()) if path.is_file())


def _built(library: _Library, hip_runtime: Path, cache: Path) -> Path:
    hip_runtime = hip_runtime.resolve()
    target = _place(library, hip_runtime, cache)
    if target.exists():
        return target
    clang = find_clang()
    include = str(build_hip_root(clang.clang, cache).include)
    target.parent.mkdir(parents=True, exist_ok=True)
    compiler = (_driver(clang.clang), *_FLAGS, *library.flags, "-isystem", include)
    with (target.parent / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():  # else another process has built it
            _build(library, compiler, clang.linker, hip_runtime, target)
    return target


@functools.cache
def _place(library: _Library, hip_runtime: Path, cache: Path) -> Path:
    """Where ``library`` lies: each run asks, so that this process reads its sources once."""
    clang = find_clang()
    contents = [part for path in library.read for part in (path.name, path.read_bytes())]
    tools = (clang.version, str(build_hip_root(clang.clang, cache).include), str(hip_runtime))
    key = digest([*tools, library.name, *_FLAGS, *library.flags, *contents])
    return cache / "port-runtime" / key[:24] / library.name


def _build(
    library: _Library, compiler: tuple[str, ...], linker: Path, hip_runtime: Path, target: Path
) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        script = folder / "exports.map"
        script.write_text(library.exports.read_text().replace("@VERSION@", library.name))
        output = folder / library.name
        headers = shared_headers([path.read_text()] for path in library.read)
        shared = precompile(compiler[0], compiler[1:], headers, folder)
        rest = [*map(str, library.sources), *_LINK, f"-Wl,-soname,{library.name}"]
        rest += [f"-Wl,--version-script={script}", f"--ld-path={linker}", str(hip_runtime)]
        rest += [f"-Wl,-rpath,{hip_runtime.parent}", "-o", str(output)]
        for command in ([*compiler, *shared, *rest], [*compiler, *rest]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                output.replace(target)
                return
        raise BuildFailed(f"{' '.join(command)}\n{done.stderr.strip()}")


def _driver(clang: Path) -> str:
    """The C++ driver beside ``clang``: ``clang++-19`` for ``clang-19``."""
    beside = clang.with_name(clang.name.replace("clang", "clang++", 1))
    return str(beside if "++" not in clang.name and beside.exists() else clang)
