"""Unpacks archives of programs safely.

Every member that is not a plain file with a path inside the archive, or that is too large, is
set aside as a problem and never touches the disk. Sizes are those counted while unpacking; what
an archive says about itself is not believed.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import zstandard

from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.filetree import path_problem, printable
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.dataset.schema import Reason

_SUFFIXES = (
    ".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst",
)  # fmt: skip
_CHUNK = 1 << 20
_LINK_HOPS = 40
_EXTENDED_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_EXTENDED_HEADER_BYTES = 1 << 20
_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zstandard.ZstdError,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,  # bz2 and gzip, without an error number
    RuntimeError,  # zipfile: a member is encrypted
    NotImplementedError,  # zipfile: a compression method unknown to it
)


@dataclass(frozen=True, slots=True)
class MemberProblem:
    """A member (or the archive itself, by its name) that was not unpacked."""

    path: str
    reason: Reason
    message: str


@dataclass(slots=True)
class Unpacked:
    """An unpacked archive; ``problems`` holds unsafe members and candidates left out."""

    root: Path
    problems: list[MemberProblem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    is_directory: bool
    is_file: bool
    link: str | None
    """Target of a link, relative to the root of the archive; None for other members."""
    stream_bytes: int
    """What has to be decompressed to get past the member, read or not."""
    open: Callable[[], IO[bytes]]


def is_archive(path: Path) -> bool:
    """Whether the name of ``path`` is that of an archive which can be unpacked here."""
    return path.name.lower().endswith(_SUFFIXES)


def unpack_archive(
    path: Path, parent: Path, limits: ReadLimits, dialect: Dialect = CUDA
) -> Unpacked:
    """Unpack ``path`` into a new directory below ``parent``; problems name files of ``dialect``.

    A damaged archive gives what came before the damage, and a problem for the archive itself.
    """
    parent.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix=f"{path.name}-", dir=parent))
    unpacker = _Unpacker(root, limits, dialect)
    try:
        with _members(path) as members:
            unpacker.unpack(path.name, members)
    except _DAMAGE as error:
        _raise_if_of_the_system(error, root)
        unpacker.note(path.name, Reason.UNREADABLE, f"the archive is damaged: {error}")
    unpacker.resolve_links()
    return Unpacked(root, unpacker.problems)


def _raise_if_of_the_system(error: Exception, root: Path) -> None:
    """A full disk or a missing permission is no damage of the archive."""
    if isinstance(error, OSError) and error.errno is not None:
        shutil.rmtree(root, ignore_errors=True)
        raise SourceError(f"unpacking below {root.parent}: {error}") from error


class _Unpacker:
    def __init__(self, root: Path, limits: ReadLimits, dialect: Dialect) -> None:
        self.root = root
        self.problems: list[MemberProblem] = []
        self._limits = limits
        self._is_candidate = dialect.is_candidate
        self._links: dict[str, str] = {}
        self._total = 0
        self._passed = 0

    def note(self, name: str, reason: Reason, message: str) -> None:
        shown = printable(name)
        self.problems.append(MemberProblem(shown, reason, f"{shown}: {message}"))

    def unpack(self, archive: str, members: Iterator[_Member]) -> None:
        for count, member in enumerate(members):
            if count >= self._limits.archive_members:
                self.note(
                    archive,
                    Reason.TOO_LARGE,
                    f"more than {self._limits.archive_members} members; the rest was left out",
                )
                return
            if not member.is_directory and not self._take(member):
                self.note(
                    archive,
                    Reason.TOO_LARGE,
                    f"unpacks to more than {self._limits.archive_bytes} bytes; what follows "
                    f"{printable(member.name)} was left out",
                )
                return

    def _take(self, member: _Member) -> bool:
        """Unpack one member; False when the archive as a whole has grown too large."""
        problem = path_problem(member.name)
        if problem is not None:
            self.note(member.name, problem.reason, str(problem).split(": ", 1)[1])
            return True
        self._passed += member.stream_bytes
        if self._passed > self._limits.archive_bytes:
            if self._is_candidate(member.name):
                self.note(member.name, Reason.TOO_LARGE, "beyond the limit on the whole archive")
            return False
        path = posixpath.normpath(member.name)
        if member.link is not None:
            self._links[path] = member.link
            return True
        if not member.is_file:
            self.note(member.name, Reason.UNSAFE_PATH, "neither a file nor a folder nor a link")
            return True
        return self._write(path, member)

    def _write(self, path: str, member: _Member) -> bool:
        limit = max(self._limits.source_bytes, self._limits.header_bytes)
        if self._is_candidate(path):
            limit = self._limits.source_bytes
        room = self._limits.archive_bytes - self._total
        target = self.root / path
        written = 0
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with member.open() as source, target.open("wb") as sink:
                while chunk := source.read(_CHUNK):
                    written += len(chunk)
                    if written > min(limit, room):
                        break
                    sink.write(chunk)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            self.note(member.name, Reason.UNREADABLE, "both a file and a folder in the archive")
            return True
        except _DAMAGE as error:
            _raise_if_of_the_system(error, self.root)
            target.unlink(missing_ok=True)
            self.note(member.name, Reason.UNREADABLE, f"damaged in the archive: {error}")
            return True
        if written > min(limit, room):
            target.unlink()
            if self._is_candidate(path):
                self.note(member.name, Reason.TOO_LARGE, f"more than {min(limit, room)} bytes")
            return written <= room
        self._total += written
        return True

    def resolve_links(self) -> None:
        """Turn links to files of the archive into copies; other links become problems."""
        for path in sorted(self._links):
            target = self._target(path)
            if target is None:
                outside = self._links[path]
                self.note(path, Reason.UNSAFE_PATH, f"a link out of the archive, to {outside!r}")
            elif (self.root / target).is_file():
                destination = self.root / path
                destination.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.root / target, destination)
            elif self._is_candidate(path):
                self.note(
                    path,
                    Reason.UNREADABLE,
                    f"a link to {target!r}, which is no file of the archive",
                )

    def _target(self, path: str) -> str | None:
        """Where a chain of links ends, or None when it leaves the archive."""
        for _ in range(_LINK_HOPS):
            if path not in self._links:
                return path
            path = posixpath.normpath(self._links[path])
            if path.startswith(("../", "/")) or path == "..":
                return None
        return path


@contextmanager
def _members(path: Path) -> Iterator[Iterator[_Member]]:
    name = path.name.lower()
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            yield _zip_members(archive)
    elif name.endswith((".zst", ".tzst")):
        with (
            path.open("rb") as file,
            zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream,
            tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedHeader) as archive,
        ):
            yield _tar_members(archive)
    else:
        with tarfile.open(path, mode="r|*", tarinfo=_BoundedHeader) as archive:
            yield _tar_members(archive)


class _BoundedHeader(tarfile.TarInfo):
    """Refuses extended headers that tarfile would read into memory whole, whatever their size."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _EXTENDED_HEADERS and self.size > _EXTENDED_HEADER_BYTES:
            raise tarfile.ReadError(f"an extended header of {self.size} bytes")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]


def _tar_members(archive: tarfile.TarFile) -> Iterator[_Member]:
    for member in archive:
        # The archive object keeps every header it has read: forget them, to stay in bounds.
        archive.members = []  # type: ignore[attr-defined]
        link = None
        if member.issym():
            link = posixpath.join(posixpath.dirname(member.name), member.linkname)
        elif member.islnk():
            link = member.linkname
        yield _Member(
            member.name,
            member.isdir(),
            member.isreg(),
            link,
            member.size,
            lambda member=member: archive.extractfile(member) or io.BytesIO(),  # type: ignore[misc]
        )


def _zip_members(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for info in archive.infolist():
        unix_type = (info.external_attr >> 16) & 0o170000
        link = None
        if unix_type == 0o120000 and info.file_size <= 4096:
            target = archive.read(info).decode("utf-8", "surrogateescape")
            link = posixpath.join(posixpath.dirname(info.filename), target)
        yield _Member(
            info.filename,
            info.is_dir(),
            unix_type in (0, 0o100000),
            link,
            0,
            lambda info=info: archive.open(info),  # type: ignore[misc]
        )
