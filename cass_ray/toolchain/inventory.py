"""Every tool that cass-ray can use on this machine, and what a missing one would enable."""

from __future__ import annotations

import re
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.config import StrictModel
from cass_ray.toolchain.amd.link import RUNTIME_REMEDY
from cass_ray.toolchain.archive.library_root import LIBRARIES_REMEDY, find_library_root
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.root import open_hip_root
from cass_ray.toolchain.locate import locate_amd, locate_nvidia
from cass_ray.toolchain.opencl.locate import find_opencl_amd, find_opencl_nvidia
from cass_ray.toolchain.sandbox import executable, isolation
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError
from cass_ray.toolchain.sandbox.process import Limits, run
from cass_ray.toolchain.search_paths import SearchPaths

_QUERY_LIMITS = Limits(wall_seconds=20.0, address_space_bytes=None)


class ToolStatus(StrictModel):
    """One tool: whether it is there and works, what it enables, how to get it."""

    name: str
    works: bool
    version: str = ""
    path: str = ""
    origin: str = ""
    enables: str
    remedy: str = ""
    required: bool = False


def find_all(
    search_paths: SearchPaths | None = None, cache: Path | None = None
) -> list[ToolStatus]:
    """The table of ``cass doctor``; nothing is downloaded."""
    search_paths, cache = search_paths or SearchPaths(), cache or default_directory()
    return [
        _sandbox(search_paths),
        *_programs(),
        _host_compiler(search_paths),
        _nvidia(search_paths, cache),
        *_amd(search_paths, cache),
        _libraries(cache),
        _opencl(search_paths, cache),
        _hipify(search_paths, "hipify-perl"),
        _hipify(search_paths, "hipify-clang"),
        _nvidia_gpu(search_paths),
        _amd_gpu(search_paths),
    ]


def _sandbox(search_paths: SearchPaths) -> ToolStatus:
    enables = "compiling and running programs that nobody has read"
    path = str(search_paths.which("bwrap") or "")
    try:
        isolated = isolation.isolates()
    except IsolationUnavailableError as error:
        remedy = str(error)
        return ToolStatus(
            name="sandbox (bubblewrap)",
            works=False,
            path=path,
            enables=enables,
            remedy=remedy,
            required=True,
        )
    return ToolStatus(
        name="sandbox (bubblewrap)",
        works=True,
        version=_first_line(["bwrap", "--version"]) if isolated else "off: compiling unisolated",
        path=path,
        origin="PATH" if isolated else isolation.ALLOW_UNISOLATED,
        enables=enables,
        required=True,
    )


def _programs() -> list[ToolStatus]:
    """A line where programs can be compiled and not run; else nothing to say."""
    if not isolation.available() or not (problem := executable.problem()):
        return []
    enables = "running what was compiled, and with it every verdict"
    name = "sandbox for programs"
    return [ToolStatus(name=name, works=False, enables=enables, remedy=problem, required=False)]


def _host_compiler(search_paths: SearchPaths) -> ToolStatus:
    path = search_paths.which("g++")
    return ToolStatus(
        name="host compiler (g++)",
        works=path is not None,
        version=_first_line([str(path), "-dumpfullversion"]) if path else "",
        path=str(path or ""),
        origin="PATH" if path else "",
        enables="the host side of CUDA programs",
        remedy="" if path else "apt-get install g++",
        required=True,
    )


def _nvidia(search_paths: SearchPaths, cache: Path) -> ToolStatus:
    name, enables = "Nvidia (nvcc, nvdisasm)", "CUDA to host assembly, PTX and SASS"
    try:
        located = locate_nvidia(search_paths, cache)
    except (ToolMissing, IsolationUnavailableError) as error:
        return ToolStatus(name=name, works=False, enables=enables, remedy=str(error), required=True)
    return ToolStatus(
        name=name,
        works=True,
        version=located.toolchain.version,
        path=str(located.toolchain.nvcc),
        origin=located.origin,
        enables=enables,
        required=True,
    )


def _amd(search_paths: SearchPaths, cache: Path) -> list[ToolStatus]:
    name, enables = "AMD (clang, lld, HIP headers)", "HIP to host assembly and RDNA3 assembly"
    try:
        located = locate_amd(search_paths, cache, fetch=False)
    except (ToolMissing, IsolationUnavailableError) as error:
        remedy = str(error)
        runtime = next(search_paths.hip_runtimes(None), None)
        compiler = ToolStatus(name=name, works=False, enables=enables, remedy=remedy, required=True)
        return [compiler, _runtime(runtime.path if runtime else None)]
    toolchain = located.toolchain
    libraries = ", ".join(open_hip_root(toolchain.rocm_path).libraries)
    compiler = ToolStatus(
        name=name,
        works=True,
        version=toolchain.version + (f" with {libraries}" if libraries else ""),
        path=str(toolchain.clang),
        origin=located.origin,
        enables=enables,
        required=True,
    )
    return [compiler, _runtime(toolchain.runtime_library)]


def _opencl(search_paths: SearchPaths, cache: Path) -> ToolStatus:
    name, enables = "OpenCL (libclc, device libraries)", "OpenCL to SASS and RDNA3 assembly"
    try:
        nvidia = find_opencl_nvidia(locate_nvidia(search_paths, cache).toolchain, cache)
        find_opencl_amd(locate_amd(search_paths, cache, fetch=False).toolchain, cache, fetch=False)
    except (ToolMissing, IsolationUnavailableError) as error:
        return ToolStatus(name=name, works=False, enables=enables, remedy=str(error))
    return ToolStatus(
        name=name,
        works=True,
        version=nvidia.version,
        path=str(nvidia.libraries[1]),
        origin="prefix",
        enables=enables,
    )


def _runtime(library: Path | None) -> ToolStatus:
    return ToolStatus(
        name="HIP runtime (libamdhip64)",
        works=library is not None,
        path=str(library or ""),
        enables="linking HIP executables",
        remedy="" if library else RUNTIME_REMEDY,
    )


def _libraries(cache: Path) -> ToolStatus:
    root = find_library_root(cache)
    return ToolStatus(
        name="AMD's libraries for the CPU backend",
        works=root is not None,
        version=", ".join(root.libraries) if root else "",
        path=str(root.path) if root else "",
        origin="cache" if root else "",
        enables="running programs that call cuBLAS, cuFFT, cuRAND, cuSPARSE or cuSOLVER",
        remedy="" if root else LIBRARIES_REMEDY,
    )


def _hipify(search_paths: SearchPaths, program: str) -> ToolStatus:
    path = search_paths.which(program)
    return ToolStatus(
        name=program,
        works=path is not None,
        path=str(path or ""),
        origin="PATH" if path else "",
        enables=f"cass translate --engine {program}",
        remedy="" if path else "Install HIPIFY (package hipify-clang of ROCm holds both programs).",
    )


def _nvidia_gpu(search_paths: SearchPaths) -> ToolStatus:
    program = search_paths.which("nvidia-smi")
    query = ["--query-gpu=name,driver_version", "--format=csv,noheader"]
    answer = _output([str(program), *query]) if program else ""
    return ToolStatus(
        name="Nvidia GPU",
        works=bool(answer),
        version="; ".join(answer.splitlines()),
        path=str(program or "") if answer else "",
        enables="running CUDA programs (compiling needs none)",
        remedy="" if answer else "Nothing to install: this machine has no Nvidia GPU or driver.",
    )


def _amd_gpu(search_paths: SearchPaths) -> ToolStatus:
    program = search_paths.which("rocminfo")
    if program is None and (search_paths.root / "opt/rocm/bin/rocminfo").exists():
        program = search_paths.root / "opt/rocm/bin/rocminfo"
    answer = _output([str(program)]) if program else ""
    processors = sorted(set(re.findall(r"^\s*Name:\s+(gfx\w+)", answer, re.MULTILINE)))
    return ToolStatus(
        name="AMD GPU",
        works=bool(processors),
        version=", ".join(processors),
        path=str(program or "") if processors else "",
        enables="running HIP programs on AMD hardware (compiling needs none)",
        remedy="" if processors else "Nothing to install: this machine has no AMD GPU or driver.",
    )


def _output(command: list[str]) -> str:
    done = run(command, cwd=Path("/"), limits=_QUERY_LIMITS)
    return done.stdout_text.strip() if done.ok else ""


def _first_line(command: list[str]) -> str:
    return _output(command).split("\n", 1)[0]
