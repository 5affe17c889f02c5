"""Find a clang for AMD GPUs, with its linker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.places import CLANG_MAJORS, CLANG_VARIABLE, Found, Places, rocm_clang
from cass_ray.toolchain.probe import remembered, tool_version

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


def find_clang(places: Places | None = None, cache: Path | None = None) -> Clang:
    """The first clang and lld for AMDGPU, ROCm's own first. Raises :class:`ToolMissing`."""
    answers: list[str] = []
    for clang in find_clangs(places or Places(), cache or default_directory(), answers):
        return clang
    raise ToolMissing("A compiler for AMD GPUs (clang)", CLANG_REMEDY, "\n".join(answers))


def find_clangs(places: Places, cache: Path, answers: list[str]) -> Iterator[Clang]:
    """Usable clang programs; why others are not usable is added to ``answers``."""
    for found, rocm in _clang_places(places):
        try:
            yield _clang_at(found, rocm, places, cache)
        except ToolMissing as error:
            answers.append(f"{found.path} ({found.origin}): {error}")


def _clang_places(places: Places) -> Iterator[tuple[Found, Path | None]]:
    """``CASS_CLANG`` goes before ROCm's own clang, and uses ROCm's headers where there are any."""
    roots = list(places.rocm_roots())
    named = [found for found in places.clangs() if found.origin == CLANG_VARIABLE]
    for found in named:
        yield from ((found, root.path) for root in roots[:1])
        yield found, None
    for root in roots:
        clang = rocm_clang(root.path)
        if clang is not None:
            yield Found(clang, root.origin), root.path
    for found in places.clangs():
        if found not in named:
            yield found, None


def _clang_at(found: Found, rocm: Path | None, places: Places, cache: Path) -> Clang:
    program = found.path
    if not program.exists():
        raise ToolMissing(str(program), f"{found.origin} names it and it does not exist.")
    version = clang_version(program, cache)
    major = int(version.split(".")[0])
    if major < _OLDEST:
        raise ToolMissing(f"clang {_OLDEST} or newer", f"This is {version}. {CLANG_REMEDY}")
    beside = program.parent / "ld.lld"
    linker = beside if beside.exists() else places.which(f"ld.lld-{major}")
    if linker is None:
        raise ToolMissing(
            "ld.lld", f"Install lld of the same version: apt-get install lld-{major}."
        )
    return Clang(program, linker, version, found.origin, rocm)
