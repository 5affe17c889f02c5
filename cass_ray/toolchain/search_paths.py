"""Where toolchains may be on a machine, in the order in which they are tried."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

CUDA_VARIABLES = ("CASS_CUDA_HOME", "CUDA_HOME", "CUDA_PATH")
ROCM_VARIABLES = ("CASS_ROCM_PATH", "ROCM_PATH", "HIP_PATH")
CLANG_VARIABLE = "CASS_CLANG"
RUNTIME_VARIABLE = "CASS_HIP_RUNTIME"

CLANG_MAJORS = (19, 20, 18, 22)
"""Clang versions that compile the HIP headers, best tried first."""


@dataclass(frozen=True)
class ToolLocation:
    """A path and how it was found: ``CUDA_HOME``, ``PATH``, ``prefix`` or ``Python package``."""

    path: Path
    origin: str


def _nvidia_packages() -> tuple[Path, ...]:
    """Folders of NVIDIA's Python name space package."""
    specification = find_spec("nvidia")
    if specification is None or specification.submodule_search_locations is None:
        return ()
    return tuple(Path(location) for location in specification.submodule_search_locations)


@dataclass(frozen=True)
class SearchPaths:
    """A machine as the locator sees it: environment, file system and Python packages.

    ``root`` is where the usual prefixes (``/usr/local``, ``/opt`` …) are looked for.
    """

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    root: Path = Path("/")
    nvidia_packages: tuple[Path, ...] = field(default_factory=_nvidia_packages)

    def which(self, program: str) -> Path | None:
        """``program`` on the ``PATH`` of the environment."""
        location = shutil.which(program, path=self.environment.get("PATH", ""))
        return Path(location) if location else None

    def cuda_homes(self) -> Iterator[ToolLocation]:
        """CUDA installations: folders with ``bin/nvcc``."""
        yield from _with(self._cuda_candidates(), "bin/nvcc")

    def cuda_tool(self, name: str, home: Path) -> Path | None:
        """Program ``name`` of the CUDA installation ``home``; where it has none, of another one."""
        beside = [home, *(location.path for location in self.cuda_homes())]
        programs = [folder / "bin" / name for folder in beside]
        return next((path for path in programs if path.exists()), self.which(name))

    def rocm_roots(self) -> Iterator[ToolLocation]:
        """ROCm installations: folders with the HIP headers and their own clang."""
        for location in _with(self._rocm_candidates(), "include/hip/hip_version.h"):
            if rocm_clang(location.path) is not None:
                yield location

    def clangs(self) -> Iterator[ToolLocation]:
        """``clang++`` programs that do not belong to ROCm."""
        seen: set[Path] = set()
        for location in self._clang_candidates():
            program = real_clang(location.path)
            named = location.origin == CLANG_VARIABLE
            if (named or program.exists()) and program not in seen:
                seen.add(program)
                yield ToolLocation(program, location.origin)

    def hip_runtimes(self, rocm: Path | None) -> Iterator[ToolLocation]:
        """HIP runtime libraries to link executables against."""
        if named := self.environment.get(RUNTIME_VARIABLE):
            yield ToolLocation(Path(named), RUNTIME_VARIABLE)
        if rocm is not None and (rocm / "lib/libamdhip64.so").exists():
            yield ToolLocation(rocm / "lib/libamdhip64.so", "ROCm")

    def _cuda_candidates(self) -> Iterator[ToolLocation]:
        yield from self._named(CUDA_VARIABLES)
        if program := self.which("nvcc"):
            home = program.resolve().parent.parent
            # Some machines have a wrapper script on the PATH, far from the installation it calls.
            if (home / "include/cuda_runtime.h").exists():
                yield ToolLocation(home, "PATH")
        yield ToolLocation(self.root / "usr/local/cuda", "prefix")
        yield from self._versioned("usr/local", "cuda-*")
        yield ToolLocation(self.root / "opt/cuda", "prefix")
        for package in self.nvidia_packages:
            for folder in sorted(package.glob("cu[0-9]*"), key=_version_key, reverse=True):
                yield ToolLocation(folder, "Python package")

    def _rocm_candidates(self) -> Iterator[ToolLocation]:
        yield from self._named(ROCM_VARIABLES)
        if program := self.which("hipcc"):
            yield ToolLocation(program.resolve().parent.parent, "PATH")
        yield ToolLocation(self.root / "opt/rocm", "prefix")
        yield from self._versioned("opt", "rocm-*")

    def _clang_candidates(self) -> Iterator[ToolLocation]:
        yield from self._named((CLANG_VARIABLE,))
        for major in CLANG_MAJORS:
            if program := self.which(f"clang++-{major}"):
                yield ToolLocation(program, "PATH")
        if program := self.which("clang++"):
            yield ToolLocation(program, "PATH")
        for major in CLANG_MAJORS:
            yield ToolLocation(self.root / f"usr/lib/llvm-{major}/bin/clang++", "prefix")

    def _named(self, variables: tuple[str, ...]) -> Iterator[ToolLocation]:
        for variable in variables:
            if value := self.environment.get(variable):
                yield ToolLocation(Path(value), variable)

    def _versioned(self, folder: str, pattern: str) -> Iterator[ToolLocation]:
        """Installations that carry their version in the name, newest first."""
        paths = sorted((self.root / folder).glob(pattern), key=_version_key, reverse=True)
        for path in paths:
            yield ToolLocation(path, "prefix")


def rocm_clang(rocm: Path) -> Path | None:
    """ROCm's own ``clang++``."""
    for folder in ("llvm/bin", "lib/llvm/bin"):
        if (rocm / folder / "clang++").exists():
            return rocm / folder / "clang++"
    return None


def real_clang(program: Path) -> Path:
    """``clang++`` in the folder where its own tools and headers are, behind links.

    Without ``/proc``, as in the sandbox, clang finds its headers from the path it is called by.
    """
    real = program.resolve().parent / "clang++"
    return real if real.exists() else program


def _with(candidates: Iterator[ToolLocation], member: str) -> Iterator[ToolLocation]:
    """Candidates that hold ``member``, each real folder once."""
    seen: set[Path] = set()
    for location in candidates:
        real = location.path.resolve()
        if real not in seen and (real / member).exists():
            seen.add(real)
            yield ToolLocation(real, location.origin)


def _version_key(path: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", path.name))
