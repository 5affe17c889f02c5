"""A package of Debian's archive unpacked into a folder of its own; nothing is installed."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

from cass_ray.toolchain.archive.debian_archive import ArchiveError, Package, fetch
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.packages_table import HeaderPackage

MAXIMUM_FILE_BYTES = 128 << 20
MAXIMUM_FILES = 60_000
MAXIMUM_BYTES = 1 << 30
_LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "etc", "var")
_STATIC = ".a"


def fetch_debian_package(package: HeaderPackage, target: Path) -> None:
    """Fetch the pinned ``.deb``, by its digest, and unpack it below ``target``.

    Raises :class:`HeadersError`.
    """
    pinned = Package("provided", package.name, "", package.location, 0, package.digest)
    work = target / ".fetched"
    work.mkdir()

    def receive(_: Package, file: Path) -> None:
        unpack_deb(file, target)
        for place, destination in package.links:
            (target / place).symlink_to(destination)
        file.unlink()

    try:
        fetch([pinned], work, receive)
    except ArchiveError as error:
        raise HeadersError(f"{package.name}: {error}") from error
    for left in sorted(work.rglob("*"), reverse=True):
        left.unlink() if not left.is_dir() else left.rmdir()
    work.rmdir()


def unpack_deb(file: Path, target: Path) -> None:
    """Unpack what builds need of a ``.deb``; raises :class:`HeadersError`."""
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(file)], stdout=subprocess.PIPE
    ) as stream:
        assert stream.stdout is not None
        try:
            unpack_tar(stream.stdout, target)
        except (tarfile.TarError, EOFError) as error:
            raise HeadersError(f"{file.name}: {error}") from error
        finally:
            stream.stdout.read()
    if stream.returncode != 0:
        raise HeadersError(f"{file.name}: dpkg-deb ended with status {stream.returncode}")


def unpack_tar(stream: IO[bytes], target: Path) -> None:
    """Unpack files, folders and links that stay inside; anything else is an error.

    A link to a file of another package leads to where that would be installed, below ``/usr``;
    others that lead nowhere are left out. Raises :class:`HeadersError`.
    """
    total = count = 0
    links: list[tuple[PurePosixPath, PurePosixPath]] = []
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            place = _safe(member.name)
            if str(place).startswith(_LEFT_OUT) or member.isdir() or place.suffix == _STATIC:
                continue
            count += 1
            total += member.size
            if count > MAXIMUM_FILES or total > MAXIMUM_BYTES or member.size > MAXIMUM_FILE_BYTES:
                raise HeadersError(f"{member.name}: more than a package of headers holds")
            if member.issym():
                links.append((place, _link_target(place, member.linkname)))
            elif member.islnk():
                links.append((place, _safe(member.linkname)))
            elif member.isreg():
                content = archive.extractfile(member)
                assert content is not None
                path = target / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
                path.chmod(0o755 if member.mode & 0o100 else 0o644)
            else:
                raise HeadersError(f"{member.name}: neither file, folder nor link")
    _make_links(target, links)


def _make_links(target: Path, links: list[tuple[PurePosixPath, PurePosixPath]]) -> None:
    """After all files, so that nothing was written through a link; relative, and inside."""
    for place, destination in links:
        path = target / place
        if path.exists() or path.is_symlink():
            raise HeadersError(f"{place}: twice in one package")
        path.parent.mkdir(parents=True, exist_ok=True)
        inside = os.path.relpath(target / destination, path.parent)
        path.symlink_to(inside)
    for place, destination in links:
        path = target / place
        if path.exists():
            continue
        path.unlink()
        if destination.parts[:1] == ("usr",):
            path.symlink_to(f"/{destination}")  # where packages look installed


def _safe(name: str) -> PurePosixPath:
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\0" in name:
        raise HeadersError(f"{name!r}: an unsafe path in a package")
    return pure


def _link_target(place: PurePosixPath, link: str) -> PurePosixPath:
    """What a link leads to, relative to the package's root; an absolute one is of that root."""
    joined = link.lstrip("/") if link.startswith("/") else str(place.parent / link)
    normal = PurePosixPath(os.path.normpath(joined))
    if normal.parts[:1] == ("..",):
        raise HeadersError(f"{place}: a link that leads out of the package")
    return normal
