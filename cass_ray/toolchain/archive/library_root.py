"""AMD's own libraries (rocBLAS, rocFFT …) for programs that run on the CPU backend.

Debian's binaries of ROCm, unpacked into one folder of the user's cache, with our
``libamdhip64.so.6`` in the place of AMD's. They want a newer C library than this machine may have:
the root holds one, and a program that is linked with these libraries is linked with its dynamic
loader as well (:meth:`LibraryRoot.link_flags`).

Each package leaves a marker when it is unpacked, so that an interrupted installation goes on where
it stopped, and a library is offered only when all of its part is there.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.architectures import emulated_architectures
from cass_ray.cache import digest
from cass_ray.toolchain.archive.debian_archive import Package, fetch, packages, unpack

LIBRARIES_REMEDY = "Run cass setup libraries (1.2 GB to fetch, 7 GB on disk), or one part of it."

BASE = "base"
"""The C and C++ libraries and others that all of them stand on."""

PARTS = {
    "rand": ("hiprand", "rocrand"),
    "fft": ("hipfft", "rocfft"),
    "blas": ("hipblas", "rocblas"),
    "sparse": ("hipsparse", "rocsparse"),
    "solver": ("hipsolver", "rocsolver", "hipblas", "rocblas"),
}
"""Part -> the libraries that it offers, in the order of their size."""

LIBRARY_ENVIRONMENT = {"ROCFFT_RTC_PROCESS": "0"}
"""rocFFT compiles kernels in the program's own process: its helper wants libraries by path."""

_CALLED = re.compile(
    r"\b(?:(hip(?:blas|fft|rand|sparse|solver))[A-Z]|(roc(?:blas|fft|rand|sparse|solver))_)\w*"
)
"""Functions of their host interfaces; those for device code are written otherwise."""

_NEEDS = {"solver": ("blas", "sparse")}
"""hipSOLVER loads rocSPARSE by name, rocSOLVER is linked with rocBLAS."""

_RECIPE = "1"
_MARKERS = ".packages"
_LOADER = "ld-linux-x86-64.so.2"
_ALL_TARGETS = (
    *("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1030"),
    *("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"),
)
_KEPT_TARGETS = tuple(name for name in emulated_architectures() if name in _ALL_TARGETS)
_LEAVE_OUT = (
    "./usr/share/doc",
    *(f"*{name}*" for name in _ALL_TARGETS if name not in _KEPT_TARGETS),
)
"""Kernels of processors that the backend does not run take gigabytes."""


@dataclass(frozen=True)
class LibraryRoot:
    """An installation; ``parts`` are those that are whole."""

    path: Path
    parts: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return self.path / "lib"

    @property
    def loader(self) -> Path:
        """The loader that their C library belongs to."""
        return self.folder / _LOADER

    @property
    def libraries(self) -> tuple[str, ...]:
        """What ``-l`` may name."""
        return tuple(dict.fromkeys(name for part in self.parts for name in PARTS[part]))

    def link_flags(self, runtime_library: Path) -> list[str]:
        """What a program needs to be linked with to find and to load the libraries.

        An old-style run path (``DT_RPATH``), because only that one holds for the libraries' own
        dependencies, and for what they open by name.
        """
        runtime = runtime_library.resolve().parent
        return [
            f"-L{self.folder}",
            f"-Wl,--disable-new-dtags,-rpath,{runtime},-rpath,{self.folder}",
            f"-Wl,--dynamic-linker={self.loader}",
            "-Wl,--allow-shlib-undefined",
        ]


def libraries_called(host_assembly: str) -> tuple[str, ...]:
    """Which of AMD's libraries the host code of a program refers to."""
    names = {match[1] or match[2] for match in _CALLED.finditer(host_assembly)}
    return tuple(sorted(names))


def visible_libraries(cache: Path) -> tuple[Path, ...]:
    """What a sandboxed program needs to see to load any of the libraries."""
    root = find_library_root(cache)
    return (root.path.resolve(),) if root else ()


def find_library_root(cache: Path) -> LibraryRoot | None:
    """What :func:`install_libraries` has installed; None where that is nothing."""
    path = _folder(cache)
    try:
        there = frozenset(os.listdir(path / _MARKERS))  # noqa: PTH208
    except OSError:
        return None
    if not _whole(there, BASE):
        return None
    parts = tuple(part for part in PARTS if all(_whole(there, each) for each in closure([part])))
    return LibraryRoot(path, parts) if parts else None


def closure(parts: Sequence[str]) -> list[str]:
    """``parts`` with all that they need."""
    packages = {BASE}
    for part in parts:
        packages |= {part, *_NEEDS.get(part, ())}
    return [part for part in (BASE, *PARTS) if part in packages]


def missing_packages(cache: Path, parts: Sequence[str]) -> list[Package]:
    """What is still to be fetched for ``parts``."""
    path = _folder(cache)
    return [
        package
        for part in closure(parts)
        for package in packages(part)
        if not _marker(path, package).exists()
    ]


def install_libraries(
    cache: Path, parts: Sequence[str], progress: Callable[[Package], None] = lambda package: None
) -> LibraryRoot:
    """Fetch and unpack ``parts`` and what they need; what is there already stays.

    ``progress`` is called before each package is fetched. Raises
    :class:`~cass_ray.toolchain.archive.debian_archive.ArchiveError`.
    """
    path = _folder(cache)
    path.mkdir(parents=True, exist_ok=True)
    with (path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _link(path / "lib", "usr/lib/x86_64-linux-gnu")
        # libhipblas.so looks for the others in $ORIGIN/../lib.
        _link(path / "usr/lib/lib", "x86_64-linux-gnu")
        with tempfile.TemporaryDirectory(dir=path.parent) as work:

            def receive(package: Package, file: Path) -> None:
                unpack(file, path, leave_out=_LEAVE_OUT)
                _finish(path, package)
                file.unlink()

            fetch(missing_packages(cache, parts), Path(work), receive, progress=progress)
    root = find_library_root(cache)
    assert root is not None
    return root


def free_bytes(cache: Path) -> int:
    """Room on the disk of the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(cache).free


def _folder(cache: Path) -> Path:
    return cache / "rocm-libraries" / digest([_RECIPE, *_KEPT_TARGETS])[:16]


def _whole(there: frozenset[str], part: str) -> bool:
    return all(_marker_name(package) in there for package in packages(part))


def _marker(path: Path, package: Package) -> Path:
    return path / _MARKERS / _marker_name(package)


def _marker_name(package: Package) -> str:
    return f"{package.name}-{package.sha256[:16]}"


def _finish(path: Path, package: Package) -> None:
    """Mark ``package`` as unpacked, with the name for ``-l`` that only -dev packages have."""
    for name in dict.fromkeys(name for names in PARTS.values() for name in names):
        versions = sorted((path / "lib").glob(f"lib{name}.so.[0-9]"))
        if versions:
            _link(path / "lib" / f"lib{name}.so", versions[0].name)
    marker = _marker(path, package)
    marker.parent.mkdir(exist_ok=True)
    marker.touch()


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_symlink():
        path.symlink_to(target)
