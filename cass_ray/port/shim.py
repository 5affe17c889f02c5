"""Build ``libcudart.so`` over HIP from ``runtime/``, once for each state of its sources."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.emulator.build import BuildFailed
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.hip.root import build_hip_root

SOURCES = Path(__file__).parent / "runtime"
_FLAGS = (
    "-std=c++20",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-D__HIP_PLATFORM_AMD__=1",
)
_LINK = ("-shared", "-static-libstdc++", "-static-libgcc", "-Wl,-z,now", "-Wl,--undefined-version")


def shim_library(version: int, hip_runtime: Path, cache: Path | None = None) -> Path:
    """``libcudart.so.VERSION`` that calls ``hip_runtime`` (a libamdhip64.so).

    Raises :class:`~cass_ray.emulator.build.BuildFailed` with the compiler's message, and
    :class:`~cass_ray.toolchain.errors.ToolMissing` where there is no clang or no HIP headers.
    """
    cache = cache or default_directory()
    clang = find_clang()
    root = build_hip_root(clang.clang, cache)
    hip_runtime = hip_runtime.resolve()
    sources = [path for path in sorted(SOURCES.iterdir()) if path.is_file()]
    contents = [part for path in sources for part in (path.name, path.read_bytes())]
    key = digest([clang.version, str(root.include), str(hip_runtime), str(version), *contents])
    library = cache / "port-runtime" / key[:24] / f"libcudart.so.{version}"
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as name:
        folder = Path(name)
        script = folder / "exports.map"
        script.write_text((SOURCES / "exports.map").read_text().replace("@VERSION@", library.name))
        made = folder / library.name
        command = [_driver(clang.clang), *_FLAGS, f"-DCASS_CUDA_VERSION={version}"]
        command += ["-isystem", str(root.include), *map(str, sorted(SOURCES.glob("*.cpp")))]
        command += [*_LINK, f"-Wl,-soname,{library.name}", f"-Wl,--version-script={script}"]
        command += [f"--ld-path={clang.linker}", str(hip_runtime)]
        command += [f"-Wl,-rpath,{hip_runtime.parent}", "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildFailed(f"{' '.join(command)}\n{done.stderr.strip()}")
        made.replace(library)
    return library


def _driver(clang: Path) -> str:
    """The C++ driver beside ``clang``: ``clang++-19`` for ``clang-19``."""
    beside = clang.with_name(clang.name.replace("clang", "clang++", 1))
    return str(beside if "++" not in clang.name and beside.exists() else clang)
