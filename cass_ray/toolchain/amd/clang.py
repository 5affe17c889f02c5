"""Find a clang for AMD GPUs, with its linker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.probe import remembered, tool_version
from cass_ray.toolchain.search_paths import (
    CLANG_MAJORS,
    CLANG_VARIABLE,
    SearchPaths,
    ToolLocation,
    rocm_clang,
)

CLANG_REMEDY = (
    "Install clang and lld: apt-get install clang-19 lld-19 (make setup does), or install ROCm."
)

NEWER_CLANG_REMEDY = (
    "Install clang and lld 20 or newer (Debian 13: apt-get install clang-22 lld-22) and name it in"
    f" {CLANG_VARIABLE}, install ROCm 7, or pip install ziglang==0.17.1 (it holds clang 22)."
)

_OLDEST = min(CLANG_MAJORS)


@dataclass(frozen=True)
class Clang:
    """A clang for AMDGPU with its linker; ``rocm`` is set for ROCm's own."""

    clang: Path
    linker: Path
    version: str
    origin: str
    rocm: Path | None = None

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def clang_version(program: Path, cache: Path | None = None) -> str:
    """The version of ``program``, which is asked once. Raises :class:`ToolMissing`."""
    return remembered(
        cache or default_directory(),
        "clang version",
        [program],
        lambda: tool_version(program, r"clang version ([\d.]+)"),
    )


def find_clang(search_paths: SearchPaths | None = None, cache: Path | None = None) -> Clang:
    """The first clang and lld for AMDGPU, ROCm's own first. Raises :class:`ToolMissing`."""
    answers: list[str] = []
    for clang in find_clangs(search_paths or SearchPaths(), cache or default_directory(), answers):
        return clang
    raise ToolMissing("A compiler for AMD GPUs (clang)", CLANG_REMEDY, "\n".join(answers))


def find_clangs(search_paths: SearchPaths, cache: Path, answers: list[str]) -> Iterator[Clang]:
    """Usable clang programs; why others are not usable is added to ``answers``."""
    for location, rocm in _clang_locations(search_paths):
        try:
            yield _clang_at(location, rocm, search_paths, cache)
        except ToolMissing as error:
            answers.append(f"{location.path} ({location.origin}): {error}")


def _clang_locations(search_paths: SearchPaths) -> Iterator[tuple[ToolLocation, Path | None]]:
    """``CASS_CLANG`` goes before ROCm's own clang, and uses ROCm's headers where there are any."""
    roots = list(search_paths.rocm_roots())
    named = [location for location in search_paths.clangs() if location.origin == CLANG_VARIABLE]
    for location in named:
        yield from ((location, root.path) for root in roots[:1])
        yield location, None
    for root in roots:
        clang = rocm_clang(root.path)
        if clang is not None:
            yield ToolLocation(clang, root.origin), root.path
    for location in search_paths.clangs():
        if location not in named:
            yield location, None


def _clang_at(
    location: ToolLocation, rocm: Path | None, search_paths: SearchPaths, cache: Path
) -> Clang:
    program = location.path
    if not program.exists():
        raise ToolMissing(str(program), f"{location.origin} names it and it does not exist.")
    version = clang_version(program, cache)
    major = int(version.split(".")[0])
    if major < _OLDEST:
        raise ToolMissing(f"clang {_OLDEST} or newer", f"This is {version}. {CLANG_REMEDY}")
    beside = program.parent / "ld.lld"
    linker = beside if beside.exists() else search_paths.which(f"ld.lld-{major}")
    if linker is None:
        raise ToolMissing(
            "ld.lld", f"Install lld of the same version: apt-get install lld-{major}."
        )
    return Clang(program, linker, version, location.origin, rocm)
