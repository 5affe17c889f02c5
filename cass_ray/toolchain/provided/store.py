"""Folders of provided packages below the cache, by content: fetched once, then used offline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache as remembered
from pathlib import Path

from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.provided.debian import fetch_debian_package
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.packages_table import WHEEL, HeaderPackage, packages
from cass_ray.toolchain.provided.wheels import fetch_wheel_headers

_FOLDER = "provided-headers"

LOCK = "headers.lock.json"
"""Beside a data set: the packages of headers that it was made with."""

AMD_HEADERS = Path(__file__).parent / "amd"
"""Ours, for the AMD side: headers of libraries that few installations of HIP have."""


@dataclass(frozen=True)
class HeaderStore:
    """Packages that are unpacked below ``cache``."""

    cache: Path

    def root(self, package: HeaderPackage) -> Path:
        """Where ``package`` is, or would be."""
        return self.cache / _FOLDER / package.key

    def has(self, package: HeaderPackage) -> bool:
        return self.root(package).is_dir()

    def fetch(self, package: HeaderPackage) -> Path:
        """The package's root, fetched on first use. Raises :class:`HeadersError`."""

        def fill(target: Path) -> None:
            if package.kind == WHEEL:
                fetch_wheel_headers(package, target)
            else:
                fetch_debian_package(package, target)

        try:
            return unpack_once(self.root(package), fill)
        except OSError as error:
            raise HeadersError(f"{package.name}: {error}") from error

    def fetch_all(
        self,
        wanted: Sequence[HeaderPackage],
        progress: Callable[[HeaderPackage], None] = lambda package: None,
    ) -> dict[str, str]:
        """Fetch those of ``wanted`` that are not there; returns name -> problem of the others."""
        problems = {}
        for package in wanted:
            if self.has(package):
                continue
            progress(package)
            try:
                self.fetch(package)
            except HeadersError as error:
                problems[package.name] = str(error)
        return problems

    def include_folders(self, package: HeaderPackage) -> list[Path]:
        """The package's folders for compilers, those that it has."""
        folders = (self.root(package) / folder for folder in package.folders)
        return [folder for folder in folders if folder.is_dir()]


@remembered
def _by_key() -> dict[str, HeaderPackage]:
    return {package.key: package for package in packages().values()}


def package_of_key(key: str) -> HeaderPackage:
    """The package whose folder is called ``key``; raises :class:`HeadersError`."""
    package = _by_key().get(key)
    if package is None:
        raise HeadersError(f"{key}: not a package of this version of cass-ray")
    return package


def lock_file(wanted: Iterable[HeaderPackage]) -> bytes:
    """What a data set notes of the headers that it was made with, beside it."""
    rows = [
        {"name": each.name, "version": each.version, "kind": each.kind, "sha256": each.digest}
        for each in sorted(set(wanted), key=lambda each: each.name)
    ]
    return (json.dumps({"headers": rows}, indent=2) + "\n").encode()
