"""Find the toolchains of this machine, check each once by compiling a probe, report versions.

The order is that of :mod:`cass_ray.toolchain.search_paths`: environment, ``PATH``, usual prefixes,
Python packages. A candidate that is there and does not work is passed over; if none works, the
error says what each of them answered.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Generic, TypeVar

from cass_ray.architectures import (
    DEFAULT_NVIDIA_ARCHITECTURE,
    AmdTarget,
    amd_target,
    known_instead,
)
from cass_ray.cache import default_directory, digest
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.amd.clang import CLANG_REMEDY, NEWER_CLANG_REMEDY, Clang, find_clangs
from cass_ray.toolchain.amd.second_llvm import SECOND_CLANG_REMEDY, with_second_compiler
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.hip.root import build_hip_root, find_hip_root, open_hip_root
from cass_ray.toolchain.nvidia.link_names import with_link_names
from cass_ray.toolchain.nvidia.steps import NvccError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.probe import remembered, tool_version
from cass_ray.toolchain.search_paths import CLANG_MAJORS, SearchPaths
from cass_ray.toolchain.unit import CompileFailure, Unit

NVIDIA_REMEDY = (
    "Install it with pip install 'cass-ray[nvidia]' (make setup does), or install the CUDA toolkit"
    " 12.4 or newer and set CUDA_HOME."
)

T = TypeVar("T")

_CURAND = "curand_kernel.h"

_CUDA_PROBE = """\
__global__ void probe(float *values) { values[threadIdx.x] *= 2.0f; }
int main() { probe<<<1, 32>>>(nullptr); return cudaDeviceSynchronize() != cudaSuccess; }
"""
_HIP_PROBE = "#include <hip/hip_runtime.h>\n" + _CUDA_PROBE.replace("cuda", "hip")


class _NotFetchedYet(ToolMissing):
    """What is downloaded when it is first needed."""


@dataclass(frozen=True)
class Located(Generic[T]):
    """A toolchain and where it was found."""

    toolchain: T
    origin: str


def find_nvidia(
    search_paths: SearchPaths | None = None,
    cache: Path | None = None,
    *,
    architectures: Iterable[str] = (),
) -> NvidiaToolchain:
    """The first CUDA toolchain that compiles, for all of ``architectures``.

    Raises :class:`ToolMissing`.
    """
    return locate_nvidia(search_paths, cache, architectures=architectures).toolchain


def find_amd(
    search_paths: SearchPaths | None = None,
    cache: Path | None = None,
    *,
    fetch: bool = True,
    architectures: Iterable[str] = (),
) -> AmdToolchain:
    """The first AMD toolchain that compiles: ROCm's, else clang with our HIP root.

    Its clang knows all of ``architectures``: gfx950 takes a newer one than the others, or the
    second compiler (:mod:`cass_ray.toolchain.amd.second_llvm`).
    The HIP root is made (and its parts downloaded) if needed, unless ``fetch`` is false.
    Raises :class:`ToolMissing`.
    """
    return locate_amd(search_paths, cache, fetch=fetch, architectures=architectures).toolchain


def locate_nvidia(
    search_paths: SearchPaths | None = None,
    cache: Path | None = None,
    *,
    architectures: Iterable[str] = (),
) -> Located[NvidiaToolchain]:
    """:func:`find_nvidia` with the origin."""
    search_paths, cache = search_paths or SearchPaths(), cache or default_directory()
    required = list(architectures)
    answers: list[str] = []
    too_old: ToolMissing | None = None
    for home in search_paths.cuda_homes():
        try:
            toolchain = _nvidia_at(home.path, search_paths, cache)
            _check_nvidia(toolchain, cache)
            unknown = [name for name in required if not toolchain.compiles_for(name)]
            if not unknown:
                return Located(toolchain, home.origin)
            too_old = too_old or _does_not_compile_for(toolchain, unknown[0])
            answers.append(f"{home.path} ({home.origin}): does not compile for {unknown[0]}")
        except (CompileFailure, NvccError, ToolMissing) as error:
            answers.append(f"{home.path} ({home.origin}): {error}")
    tool, remedy = (
        (too_old.tool, too_old.remedy) if too_old else ("The CUDA compiler (nvcc)", NVIDIA_REMEDY)
    )
    raise ToolMissing(tool, remedy, "\n".join(answers))


def _does_not_compile_for(toolchain: NvidiaToolchain, architecture: str) -> ToolMissing:
    others = known_instead(architecture, toolchain.targets)
    remedy = (
        f"With nvcc {toolchain.version}: {others}. Another CUDA toolkit may know it: CUDA_HOME."
    )
    return ToolMissing(f"A CUDA compiler (nvcc) for {architecture}", remedy)


def locate_amd(
    search_paths: SearchPaths | None = None,
    cache: Path | None = None,
    *,
    fetch: bool = True,
    architectures: Iterable[str] = (),
) -> Located[AmdToolchain]:
    """:func:`find_amd` with the origin."""
    search_paths, cache = search_paths or SearchPaths(), cache or default_directory()
    targets = [amd_target(name) for name in architectures]
    answers: list[str] = []
    unfetched: _NotFetchedYet | None = None
    clangs = list(find_clangs(search_paths, cache, answers))
    for clang in clangs:
        too_new = [target for target in targets if target.oldest_clang > clang.major]
        if too_new:
            answers.append(
                f"{clang.clang} ({clang.origin}): clang {clang.version} does not know"
                f" {too_new[0].name}, which needs {too_new[0].needs}"
            )
            continue
        try:
            toolchain = _amd_with(clang, search_paths, cache, fetch=fetch)
            _check_amd(toolchain, cache)
            return Located(toolchain, clang.origin)
        except _NotFetchedYet as error:
            unfetched = error
        except (CompileFailure, ToolMissing) as error:
            answers.append(f"{clang.clang} ({clang.origin}): {error}")
    if unfetched is not None:
        raise unfetched
    if clangs and all(
        target.read_as or target.oldest_clang <= clangs[0].major for target in targets
    ):
        try:
            return _with_newer_code(clangs[0], targets, search_paths, cache, fetch=fetch)
        except (CompileFailure, ToolMissing) as error:
            answers.append(str(error))
    newest = max((target.oldest_clang for target in targets), default=0)
    remedy = NEWER_CLANG_REMEDY if newest > min(CLANG_MAJORS) else CLANG_REMEDY
    raise ToolMissing("A compiler for AMD GPUs (clang)", remedy, "\n".join(answers))


def _nvidia_at(home: Path, search_paths: SearchPaths, cache: Path) -> NvidiaToolchain:
    """Describe the CUDA installation at ``home``."""
    nvcc = home / "bin/nvcc"

    def tool(name: str) -> Path:
        program = search_paths.cuda_tool(name, home)
        if program is None:
            raise ToolMissing(name, f"Install the CUDA package that holds {name}.")
        return program

    libraries = (home / "lib64", home / "lib", home / "targets/x86_64-linux/lib")
    return NvidiaToolchain(
        nvcc=nvcc,
        cuobjdump=tool("cuobjdump"),
        nvdisasm=tool("nvdisasm"),
        include_directories=(home / "include", *_headers_it_lacks(home, search_paths, cache)),
        library_directories=with_link_names(libraries, cache),
        version=remembered(
            cache, "nvcc version", [nvcc], lambda: tool_version(nvcc, r"release [\d.]+, V([\d.]+)")
        ),
    )


def _headers_it_lacks(home: Path, search_paths: SearchPaths, cache: Path) -> Iterator[Path]:
    """Folder with cuRAND's headers where only the Python packages have them.

    A copy: the packages' folder holds CUDA's other headers too, of another version perhaps.
    """
    if (home / "include" / _CURAND).exists():
        return
    for package in search_paths.nvidia_packages:
        for file in sorted(package.glob(f"cu*/include/{_CURAND}")):
            headers = sorted(file.parent.glob("curand*.h"))
            key = digest([path.read_bytes() for path in headers])[:16]

            def fill(target: Path, headers: list[Path] = headers) -> None:
                for header in headers:
                    shutil.copy2(header, target)

            yield unpack_once(cache / "curand" / key, fill)
            return


def _amd_with(clang: Clang, search_paths: SearchPaths, cache: Path, *, fetch: bool) -> AmdToolchain:
    """``clang`` with ROCm's headers and libraries, or with our HIP root."""
    if clang.rocm is not None:
        root = open_hip_root(clang.rocm)
    else:
        hip_root = find_hip_root(clang.clang, cache)
        if hip_root is None and not fetch:
            raise _NotFetchedYet(
                "The package of HIP headers",
                "Nothing is to be installed: the first command that compiles for AMD downloads it"
                " (cass run, cass translate --check).",
            )
        root = hip_root or build_hip_root(clang.clang, cache)
    runtime = next(search_paths.hip_runtimes(clang.rocm), None)
    return AmdToolchain(
        clang=clang.clang,
        linker=clang.linker,
        rocm_path=root.path,
        version=f"{clang.version}, HIP {root.version}",
        cache=cache,
        runtime_library=runtime.path if runtime else None,
    )


def _with_newer_code(
    clang: Clang,
    targets: Iterable[AmdTarget],
    search_paths: SearchPaths,
    cache: Path,
    *,
    fetch: bool,
) -> Located[AmdToolchain]:
    """``clang``, and the second compiler for code of targets that it does not know."""
    toolchain = _amd_with(clang, search_paths, cache, fetch=fetch)
    _check_amd(toolchain, cache)
    second = with_second_compiler(toolchain, search_paths)
    for target in targets:
        if target.oldest_clang > second.codegen.major:
            raise ToolMissing(f"A clang for {target.name}", SECOND_CLANG_REMEDY)
    return Located(second, clang.origin)


def _check_nvidia(toolchain: NvidiaToolchain, cache: Path) -> None:
    """Compile a probe to SASS."""

    def compile_probe() -> str:
        with tempfile.TemporaryDirectory(prefix=temporary_prefix("probe")) as folder:
            toolchain.compile(
                _probe_unit(Path(folder), "probe.cu", _CUDA_PROBE), (DEFAULT_NVIDIA_ARCHITECTURE,)
            )
        return "compiles"

    tools = [toolchain.nvcc, toolchain.cuobjdump, toolchain.nvdisasm]
    remembered(cache, "nvcc compiles", tools, compile_probe)


def _check_amd(toolchain: AmdToolchain, cache: Path) -> None:
    """Compile a probe for both sides and assemble it."""

    def compile_probe() -> str:
        with tempfile.TemporaryDirectory(prefix=temporary_prefix("probe")) as folder:
            output = toolchain.compile(_probe_unit(Path(folder), "probe.hip", _HIP_PROBE))
            toolchain.assemble(output.device_assembly)
        return "compiles"

    tools = [toolchain.clang, toolchain.linker, toolchain.rocm_path]
    remembered(cache, "clang compiles HIP", tools, compile_probe)


def _probe_unit(folder: Path, name: str, source: str) -> Unit:
    (folder / name).write_text(source)
    return Unit(folder, PurePosixPath(name))
