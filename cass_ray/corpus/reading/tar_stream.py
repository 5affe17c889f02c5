"""Tar archives of strangers as a stream: what tarfile reads into memory by itself is bounded.

tarfile believes extended headers: it reads them whole, searches them in quadratic time, and gathers
maps of sparse files and records of global headers for as long as an archive has more of them.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import zstandard

_EXTENDED_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_EXTENDED_HEADER_BYTES = 1 << 20
_HEADERS_OF_A_MEMBER = 2 * _EXTENDED_HEADER_BYTES
_READS_AT_THE_END = 3
"""tarfile looks once or twice whether there is more; it would look for each block of a member."""
_PAX_LENGTH = re.compile(rb"(\d{1,8}) ")
_LONG_NUMBER = re.compile(rb"\d{257}")


class TooMuchError(tarfile.TarError):
    """More came out of the stream than its limit."""


class _Counted:
    """A stream that counts what is read, and ends where more is read than was agreed."""

    def __init__(self, stream: Any, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._passed = 0
        self._headers_end: int | None = None
        self._at_the_end = 0

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        self._passed += len(data)
        self._at_the_end += not data
        if self._at_the_end > _READS_AT_THE_END:
            raise tarfile.ReadError("ends before what its headers say is in it")
        if self._passed > self._limit:
            raise TooMuchError(f"unpacks to more than {self._limit} bytes with its headers")
        if self._headers_end is not None and self._passed > self._headers_end:
            raise tarfile.ReadError(f"headers of more than {_HEADERS_OF_A_MEMBER} bytes")
        return data

    @contextmanager
    def headers(self) -> Iterator[None]:
        """While the headers of one member are read, which may be a chain of several."""
        if self._headers_end is not None:
            yield
            return
        self._headers_end = self._passed + _HEADERS_OF_A_MEMBER
        try:
            yield
        finally:
            self._headers_end = None


class _Again:
    """A stream from which ``data`` is read once more."""

    def __init__(self, data: bytes, stream: Any) -> None:
        self._data = data
        self._stream = stream

    def read(self, size: int) -> bytes:
        if not self._data:
            return self._stream.read(size)  # type: ignore[no-any-return]
        data, self._data = self._data, b""
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _bounded_headers(stream: _Counted) -> type[tarfile.TarInfo]:
    class Header(tarfile.TarInfo):
        def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
            if self.type in _EXTENDED_HEADERS and not 0 <= self.size <= _EXTENDED_HEADER_BYTES:
                raise tarfile.ReadError(f"an extended header of {self.size} bytes")
            with stream.headers():
                return super()._proc_member(archive)  # type: ignore[misc, no-any-return]

        def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
            inner: Any = archive.fileobj
            data = inner.read(self._block(self.size))  # type: ignore[attr-defined]
            check_pax(data[: self.size])
            archive.fileobj = _Again(data, inner)
            try:
                return super()._proc_pax(archive)  # type: ignore[misc, no-any-return]
            finally:
                archive.fileobj = inner

    return Header


def check_pax(data: bytes) -> None:
    """Records one after the other, each within its length: what tarfile reads in linear time.

    Raises:
        tarfile.ReadError: anything else.
    """
    position = 0
    while position < len(data) and data[position]:
        match = _PAX_LENGTH.match(data, position)
        end = position + int(match[1]) if match else 0
        if match is None or not match.end() < end <= len(data):
            raise tarfile.ReadError("an extended header with a record of no length")
        if data.find(b"=", match.end(), end) < 0:
            raise tarfile.ReadError("an extended header with a record of no value")
        position = end
    if _LONG_NUMBER.search(data):
        raise tarfile.ReadError("an extended header with a number of more than 256 digits")


@contextmanager
def open_tar(path: Path, limit: int) -> Iterator[tarfile.TarFile]:
    """The tar archive at ``path``, compressed or not, whatever its name says.

    Reading it raises :class:`TooMuchError` once more than ``limit`` bytes came out of it.
    """
    with ExitStack() as held:
        file = held.enter_context(path.open("rb"))
        stream = _Counted(held.enter_context(_decompressed(file)), limit)
        yield held.enter_context(
            tarfile.open(fileobj=stream, mode="r|", tarinfo=_bounded_headers(stream))  # type: ignore[call-overload]
        )


def _decompressed(file: IO[bytes]) -> Any:
    magic = file.read(6)
    file.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return gzip.open(file)
    if magic.startswith(b"BZh"):
        return bz2.open(file)
    if magic.startswith((b"\xfd7zXZ", b"]\0\0\x80")):
        return lzma.open(file)
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return file


def members_of(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The members, of which the archive object itself keeps nothing."""
    for member in archive:
        archive.members = []  # type: ignore[attr-defined]
        archive.pax_headers = {}
        yield member


def stream_bytes(archive: tarfile.TarFile, member: tarfile.TarInfo) -> int:
    """What has to be decompressed to get past ``member``, read or not."""
    stored: int = archive.offset - member.offset_data
    return max(0, min(member.size, stored))
