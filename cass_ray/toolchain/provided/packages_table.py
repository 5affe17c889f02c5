"""Which package has a header: ``packages.yaml``, with versions and digests of ``pins.csv``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import yaml

from cass_ray.cache import digest
from cass_ray.config import StrictModel
from cass_ray.csv_tables import read_rows

_HERE = Path(__file__).parent
PACKAGES = _HERE / "packages.yaml"
PINS = _HERE / "pins.csv"

WHEEL, DEBIAN = "wheel", "debian"
_FOLDERS = {WHEEL: ["include"], DEBIAN: ["usr/include", "usr/include/x86_64-linux-gnu"]}

_RECIPE = "3"
"""Part of a folder's name: raise it when what is unpacked changes."""


class Described(StrictModel):
    """An entry of ``packages.yaml``."""

    headers: list[str] = []
    folders: list[str] = []
    needs: list[str] = []
    programs: list[str] = []
    version: str = ""
    links: dict[str, str] = {}


class _Table(StrictModel):
    wheels: dict[str, Described]
    debian: dict[str, Described]


@dataclass(frozen=True)
class HeaderPackage:
    """One pinned package.

    ``digest`` is the SHA-256 of a wheel's RECORD, which has the digest of each of its files, or of
    a ``.deb``. ``location`` is a ``.deb``'s path in the archive's pool. ``folders`` are for
    compilers, below the package's own.
    """

    name: str
    kind: str
    version: str
    location: str
    digest: str
    headers: tuple[str, ...]
    folders: tuple[str, ...]
    needs: tuple[str, ...]
    programs: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """Name of its folder: by content."""
        content = digest([_RECIPE, self.kind, self.digest, *map(str, self.links)])
        return f"{self.name}-{self.version}-{content[:12]}"

    def has(self, header: str) -> bool:
        """Whether ``header``, as an ``#include`` names it, is one of its own."""
        return any(_fits(pattern, header) for pattern in self.headers)


def described() -> dict[str, tuple[str, Described]]:
    """Name -> kind and entry of ``packages.yaml``, in its order."""
    table = _Table.model_validate(yaml.safe_load(PACKAGES.read_text(encoding="utf-8")))
    wheels = {name: (WHEEL, entry) for name, entry in table.wheels.items()}
    return {**wheels, **{name: (DEBIAN, entry) for name, entry in table.debian.items()}}


@cache
def packages() -> dict[str, HeaderPackage]:
    """The pinned packages by name."""
    pins = {row["name"]: row for row in read_rows(PINS)}
    return {
        name: HeaderPackage(
            name=name,
            kind=kind,
            version=pins[name]["version"],
            location=pins[name]["location"],
            digest=pins[name]["sha256"],
            headers=tuple(entry.headers),
            folders=tuple(entry.folders or _FOLDERS[kind]),
            needs=tuple(entry.needs),
            programs=tuple(entry.programs),
            links=tuple(entry.links.items()),
        )
        for name, (kind, entry) in described().items()
        if name in pins
    }


@lru_cache(maxsize=1 << 16)
def package_of_header(header: str) -> HeaderPackage | None:
    """The package that has ``header``, as an ``#include`` names it; the rule is in the table."""
    best: tuple[int, HeaderPackage | None] = (0, None)
    for package in packages().values():
        for pattern in package.headers:
            if _fits(pattern, header) and len(pattern) > best[0]:
                best = (len(pattern), package)
    return best[1]


def _fits(pattern: str, header: str) -> bool:
    if pattern.endswith("/"):
        return header.startswith(pattern)
    if pattern.endswith("*"):
        return header.startswith(pattern[:-1]) and ("/" in pattern or "/" not in header)
    return header == pattern


def packages_of_headers(headers: Iterable[str]) -> list[HeaderPackage]:
    """Packages of all ``headers`` that are known, with what they need, each once, sorted."""
    packages = (package_of_header(header) for header in set(headers))
    return with_needs(package.name for package in packages if package is not None)


def packages_of_programs(programs: Iterable[str]) -> list[HeaderPackage]:
    """Packages that have ``programs``, with what they need."""
    wanted = set(programs)
    return with_needs(
        package.name for package in packages().values() if wanted & set(package.programs)
    )


def with_needs(names: Iterable[str]) -> list[HeaderPackage]:
    """The packages ``names`` and all that they need, sorted by name.

    Raises ``KeyError`` for a name that is not in the table.
    """
    pending, result = list(names), dict[str, HeaderPackage]()
    while pending:
        name = pending.pop()
        if name not in result:
            result[name] = packages()[name]
            pending.extend(result[name].needs)
    return [result[name] for name in sorted(result)]
