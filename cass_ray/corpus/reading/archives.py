"""Unpacks archives of programs safely.

Every member that is not a plain file with a path inside the archive, or that is too large, is
set aside as a problem and never touches the disk. Sizes are those counted while unpacking; what
an archive says about itself is not believed.
"""

from __future__ import annotations

import errno
import hashlib
import io
import lzma
import posixpath
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import zstandard

from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.filetree import is_regular, path_problem
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.tar_stream import TooMuchError, members_of, open_tar, stream_bytes
from cass_ray.dataset.row import Reason
from cass_ray.printable import printable

_SUFFIXES = (
    ".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst",
)  # fmt: skip
_CHUNK = 1 << 20
_LINK_HOPS = 40
_LINK_CHARACTERS = 4096
_NAME_CHARACTERS = 512
_HEADER_BYTES = 2048
"""Of a member, on average: beyond this an archive of small members counts as too large."""
_HEADERS_AT_LEAST = 16 << 20
_ZIP_DIRECTORY_SIZE = 5
_ZIP_ENTRY_BYTES = 512
"""Of a member in the directory of a zip archive, which is read into memory whole."""
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
    ValueError,  # both: numbers and texts that are none
    LookupError,  # tarfile: a table that is cut
    ArithmeticError,
    struct.error,
)
_OF_A_NAME = frozenset(
    {
        errno.EEXIST,
        errno.EILSEQ,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOTDIR,
    }
)
"""What the names and numbers of an archive can cause; other errors are the machine's."""


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
    path: Path,
    parent: Path,
    limits: ReadLimits,
    dialect: Dialect = CUDA,
    check: Callable[[], object] = lambda: None,
) -> Unpacked:
    """Unpack ``path`` into a new directory below ``parent``; problems name files of ``dialect``.

    A damaged archive gives what came before the damage, and a problem for the archive itself.
    ``check`` is called all the while; what it raises ends the unpacking, of which nothing is left.
    """
    parent.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix="archive-", dir=parent))
    unpacker = _Unpacker(root, limits, dialect, check)
    try:
        try:
            with _members(path, limits) as members:
                unpacker.unpack(path.name, members)
        except TooMuchError as error:
            unpacker.note(path.name, Reason.TOO_LARGE, str(error))
        except _DAMAGE as error:
            _raise_if_of_the_system(error, root)
            unpacker.note(
                path.name, Reason.UNREADABLE, f"the archive is damaged: {_described(error)}"
            )
        unpacker.resolve_links(path.name)
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        raise
    return Unpacked(root, unpacker.problems)


def _raise_if_of_the_system(error: Exception, root: Path) -> None:
    """A full disk or a missing permission is no damage of the archive."""
    if isinstance(error, OSError) and error.errno not in (None, *_OF_A_NAME):
        raise SourceError(f"unpacking below {root.parent}: {error}") from error


def _described(error: Exception) -> str:
    """What went wrong, without the paths of this machine that an error may name."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


class _Unpacker:
    def __init__(
        self, root: Path, limits: ReadLimits, dialect: Dialect, check: Callable[[], object]
    ) -> None:
        self.root = root
        self._check = check
        self.problems: list[MemberProblem] = []
        self._limits = limits
        self._is_candidate = dialect.is_candidate
        self._links: dict[str, str] = {}
        self._folders: set[str] = {""}
        self._total = 0
        self._passed = 0

    def note(self, name: str, reason: Reason, message: str) -> None:
        shown = _clipped(printable(name))
        self.problems.append(MemberProblem(shown, reason, f"{shown}: {message}"))

    def unpack(self, archive: str, members: Iterator[_Member]) -> None:
        for count, member in enumerate(members):
            self._check()
            if max(count, len(self._folders)) > self._limits.archive_members - 1:
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
                    f"{_clipped(printable(member.name))} was left out",
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
            if len(member.link) > _LINK_CHARACTERS:
                self.note(member.name, Reason.UNSAFE_PATH, "a link of too many characters")
            else:
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
            self._make_folder(path)
            with member.open() as source, target.open("wb") as sink:
                while chunk := source.read(_CHUNK):
                    self._check()
                    written += len(chunk)
                    if written > min(limit, room):
                        break
                    sink.write(chunk)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            self.note(member.name, Reason.UNREADABLE, "both a file and a folder in the archive")
            return True
        except _DAMAGE as error:
            _raise_if_of_the_system(error, self.root)
            self._remove(target)
            self.note(
                member.name, Reason.UNREADABLE, f"damaged in the archive: {_described(error)}"
            )
            return self._pass(written, member)
        if written > min(limit, room):
            target.unlink()
            if self._is_candidate(path):
                self.note(member.name, Reason.TOO_LARGE, f"more than {min(limit, room)} bytes")
            return written <= room and self._pass(written, member)
        self._total += written
        return self._pass(written, member)

    def _pass(self, written: int, member: _Member) -> bool:
        """Count what was decompressed of a member that had not to be, for what came before."""
        if member.stream_bytes == 0:
            self._passed += written
        return self._passed <= self._limits.archive_bytes

    def _make_folder(self, path: str) -> None:
        """The folder of the file ``path``; those that are new are counted."""
        folder = posixpath.dirname(path)
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        while folder not in self._folders:
            self._folders.add(folder)
            folder = posixpath.dirname(folder)

    def _remove(self, target: Path) -> None:
        with suppress(OSError):
            target.unlink()

    def resolve_links(self, archive: str) -> None:
        """Turn links to files of the archive into copies; other links become problems.

        Copies count towards what the archive unpacks to.
        """
        for path in sorted(self._links):
            self._check()
            target = self._target(path)
            if target is None:
                outside = _clipped(self._links[path])
                self.note(path, Reason.UNSAFE_PATH, f"a link out of the archive, to {outside!r}")
            elif target != path and is_regular(self.root / target):
                self._total += (self.root / target).stat().st_size
                folders_full = len(self._folders) > self._limits.archive_members
                if self._total > self._limits.archive_bytes or folders_full:
                    self.note(
                        archive,
                        Reason.TOO_LARGE,
                        f"unpacks, with its links, to more than {self._limits.archive_bytes} "
                        f"bytes; links from {_clipped(printable(path))} on were left out",
                    )
                    return
                self._copy(target, path)
            elif self._is_candidate(path):
                self.note(
                    path,
                    Reason.UNREADABLE,
                    f"a link to {_clipped(target)!r}, which is no file of the archive",
                )

    def _copy(self, target: str, path: str) -> None:
        destination = self.root / path
        try:
            self._make_folder(path)
            with (self.root / target).open("rb") as source, destination.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        except OSError as error:
            _raise_if_of_the_system(error, self.root)
            self.note(path, Reason.UNREADABLE, f"both a link and something else: {error.strerror}")

    def _target(self, path: str) -> str | None:
        """Where a chain of links ends, or None when it leaves the archive."""
        for _ in range(_LINK_HOPS):
            if path not in self._links:
                return path
            path = posixpath.normpath(self._links[path])
            if path.startswith(("../", "/")) or path == "..":
                return None
        return path


def _clipped(name: str) -> str:
    """``name``, or its beginning and a digest where it is too long for a row."""
    if len(name) <= _NAME_CHARACTERS:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{name[:_NAME_CHARACTERS]}…{digest}"


@contextmanager
def _members(path: Path, limits: ReadLimits) -> Iterator[Iterator[_Member]]:
    if path.name.lower().endswith(".zip"):
        _check_zip_directory(path, limits)
        with zipfile.ZipFile(path) as archive:
            yield _zip_members(archive)
    else:
        limit = limits.archive_bytes + _HEADER_BYTES * limits.archive_members + _HEADERS_AT_LEAST
        with open_tar(path, limit) as archive:
            yield _tar_members(archive)


def _check_zip_directory(path: Path, limits: ReadLimits) -> None:
    """zipfile makes an object for every entry before any is looked at."""
    with path.open("rb") as file:
        end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    allowed = _ZIP_ENTRY_BYTES * limits.archive_members + _HEADERS_AT_LEAST
    if end and end[_ZIP_DIRECTORY_SIZE] > allowed:
        raise TooMuchError(f"a directory of {end[_ZIP_DIRECTORY_SIZE]} bytes; {allowed} may be")


def _tar_members(archive: tarfile.TarFile) -> Iterator[_Member]:
    for member in members_of(archive):
        link = None
        if member.issym():
            link = posixpath.join(posixpath.dirname(member.name), member.linkname)
        elif member.islnk():
            link = member.linkname
        yield _Member(
            member.name,
            member.isdir(),
            # Sparse files are maps that tarfile searches again for each piece; no source is one.
            member.isreg() and not member.issparse(),
            link,
            stream_bytes(archive, member),
            lambda member=member: archive.extractfile(member) or io.BytesIO(),  # type: ignore[misc]
        )


def _zip_members(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for info in archive.infolist():
        unix_type = (info.external_attr >> 16) & 0o170000
        is_link = unix_type == 0o120000
        link = None
        if is_link and info.file_size <= _LINK_CHARACTERS:
            # What is damaged is a file below, whose reading says so.
            with suppress(*_DAMAGE):
                target = archive.read(info).decode("utf-8", "surrogateescape")
                link = posixpath.join(posixpath.dirname(info.filename), target)
        yield _Member(
            info.filename,
            info.is_dir(),
            unix_type in (0, 0o100000) or is_link,
            link,
            0,
            lambda info=info: archive.open(info),  # type: ignore[misc]
        )
