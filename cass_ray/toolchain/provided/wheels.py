"""The headers of a wheel without the wheel, each checked against the wheel's RECORD."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.index import find_wheel
from cass_ray.toolchain.provided.packages_table import HeaderPackage
from cass_ray.toolchain.provided.ranges import open_remote

MAXIMUM_FILE_BYTES = 32 << 20
MAXIMUM_FILES = 50_000
MAXIMUM_BYTES = 1 << 30
_RECORD_BYTES = 16 << 20
_FOLDER = "/include/"


def fetch_wheel_headers(package: HeaderPackage, target: Path) -> None:
    """Write the headers of the pinned wheel below ``target/include``.

    Raises :class:`HeadersError`.
    """
    wheel = find_wheel(f"{package.name}=={package.version}")
    try:
        with open_remote(wheel.url) as file:
            extract_headers(file, target / "include", package.digest)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
        raise HeadersError(f"{package.name} {package.version}: {error}") from error


def record_digest(url: str) -> str:
    """The SHA-256 of the RECORD of the wheel at ``url``: what pins it."""
    with open_remote(url) as file, zipfile.ZipFile(file) as wheel:
        return hashlib.sha256(_record(wheel)).hexdigest()


def extract_headers(file: IO[bytes] | io.BufferedIOBase, target: Path, digest: str) -> int:
    """Extract what lies below the first ``include`` folder of each path; returns how many files.

    ``digest`` is what the wheel's RECORD must have. Raises :class:`HeadersError` for another
    RECORD, a file that is not the one in it, an unsafe path or too much.
    """
    with zipfile.ZipFile(file) as wheel:
        record = _record(wheel)
        if hashlib.sha256(record).hexdigest() != digest:
            raise HeadersError("the wheel's RECORD is not the pinned one")
        digests = dict(_digests(record))
        total = count = 0
        for info in wheel.infolist():
            place = _place(info.filename)
            if place is None or info.is_dir():
                continue
            total += info.file_size
            count += 1
            if info.file_size > MAXIMUM_FILE_BYTES or total > MAXIMUM_BYTES:
                raise HeadersError(f"{info.filename}: headers of more than {MAXIMUM_BYTES} bytes")
            if count > MAXIMUM_FILES:
                raise HeadersError(f"more than {MAXIMUM_FILES} headers")
            with wheel.open(info) as member:
                content = member.read(info.file_size + 1)
            if digests.get(info.filename) != hashlib.sha256(content).digest():
                raise HeadersError(f"{info.filename}: not the file that RECORD names")
            path = target / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return count


def _place(name: str) -> PurePosixPath | None:
    """Where a member goes below the include folder; None for what is no header.

    Raises :class:`HeadersError` for a path that leads out.
    """
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name or "\0" in name:
        raise HeadersError(f"{name!r}: an unsafe path in a wheel")
    _, folder, rest = f"/{name}".partition(_FOLDER)
    if not folder or not rest or rest.startswith("/"):
        return None
    return PurePosixPath(rest)


def _record(wheel: zipfile.ZipFile) -> bytes:
    names = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
    if len(names) != 1 or wheel.getinfo(names[0]).file_size > _RECORD_BYTES:
        raise HeadersError("a wheel without one RECORD of usual size")
    return wheel.read(names[0])


def _digests(record: bytes) -> Iterator[tuple[str, bytes]]:
    for row in csv.reader(io.StringIO(record.decode("utf-8"))):
        if len(row) >= 2 and row[1].startswith("sha256="):
            text = row[1].removeprefix("sha256=")
            yield row[0], base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
