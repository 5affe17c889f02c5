"""The headers of AMD's libraries, of one ROCm release, from Debian's archive (2.5 MB).

Elsewhere :mod:`cass_ray.toolchain.hip.libraries` fetches those that are header-only from their
repositories.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.archive.debian_archive import ArchiveError, Package, fetch, packages, unpack
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.hip.repairs import repair_radix_sort

_RECIPE = "2"


def archive_headers(cache: Path) -> Path | None:
    """Folder with ``include/`` if :func:`fetch_headers` has made it; never downloads."""
    path = _folder(cache)
    return path if path.exists() else None


def fetch_headers(cache: Path) -> Path:
    """Folder with ``include/`` of all packages of headers, fetched on first use.

    Raises :class:`~cass_ray.toolchain.archive.debian_archive.ArchiveError`; nothing is left then.
    """
    return unpack_once(_folder(cache), _fill)


def _folder(cache: Path) -> Path:
    key = digest([_RECIPE, *(package.sha256 for package in packages("headers"))])[:16]
    return cache / "hip-libraries" / f"debian-{key}"


def _fill(target: Path) -> None:
    (target / "include").mkdir()
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        work = Path(name)

        def receive(package: Package, file: Path) -> None:
            unpack(file, work / "unpacked")
            shutil.move(work / "unpacked/usr/include" / package.headers, target / "include")

        fetch(packages("headers"), work, receive)
    repair_radix_sort(target / "include" / "rocprim")


def main() -> int:
    """Fetch the headers; print where they are, or why they are not."""
    try:
        print(fetch_headers(default_directory()))
    except ArchiveError as error:
        print(f"the headers of AMD's libraries were not fetched: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
