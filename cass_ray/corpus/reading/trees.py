"""Content-addressed archives of file trees: how local headers travel to the nodes that compile.

A tree is packed once, named by the hash of what it holds, put in a store that every node
reaches, and unpacked at most once per node.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

import zstandard

if TYPE_CHECKING:  # file systems of clouds are much to import
    from cass_ray.storage.store import Files

_MODE = 0o644
_COMPRESSION_LEVEL = 6
_MAXIMUM_UNPACKED_BYTES = 1 << 30
_REMEMBERED_DIGESTS = 50_000
"""A store object asks the file system again only about trees it has not stored lately."""


class TreeError(Exception):
    """A tree is missing, damaged or unsafe; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class PackedTree:
    """A tree as ``tar.zst``; equal trees give equal bytes with one version of zstd."""

    digest: str
    archive: bytes


def tree_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 over the sorted (path, mode, content) of ``files`` (path in the tree -> content)."""
    return combined_digest(
        {path: hashlib.sha256(content).digest() for path, content in files.items()}
    )


def combined_digest(content_hashes: Mapping[str, bytes]) -> str:
    """:func:`tree_digest` from the SHA-256 of each content (path in the tree -> 32 bytes)."""
    combined = hashlib.sha256(b"cass-ray tree 1\0")
    for path in sorted(content_hashes):
        _check_member(path)
        combined.update(f"{path}\0{_MODE:o}\0".encode() + content_hashes[path])
    return combined.hexdigest()


def pack(files: Mapping[str, bytes]) -> PackedTree:
    """Pack ``files`` (POSIX path in the tree -> content), deterministically.

    Raises:
        TreeError: a path is absolute, leaves the tree or is not normalized.
    """
    digest = tree_digest(files)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            member = tarfile.TarInfo(path)
            member.mode = _MODE
            member.size = len(files[path])
            archive.addfile(member, io.BytesIO(files[path]))
    compressor = zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL, write_content_size=True)
    return PackedTree(digest, compressor.compress(buffer.getvalue()))


def unpack(archive: bytes, destination: Path, digest: str) -> None:
    """Unpack ``archive`` into ``destination``, which appears complete or not at all.

    Two processes may unpack the same tree at once: the first to finish wins.

    Raises:
        TreeError: the archive is damaged, holds anything but plain files with safe paths, or is
            not the tree called ``digest``.
    """
    files = read_archive(archive)
    found = tree_digest(files)
    if found != digest:
        raise TreeError(
            f"tree {digest}: the archive holds tree {found} instead; delete it from the store "
            "and read the corpus again"
        )
    destination.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".unpack-", dir=destination.parent))
    try:
        for path, content in files.items():
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        temporary.chmod(0o755)
        try:
            temporary.rename(destination)
        except OSError:
            if not destination.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_archive(archive: bytes) -> dict[str, bytes]:
    """The files of a packed tree, path -> content.

    Raises:
        TreeError: the archive is damaged or holds anything but plain files with safe paths.
    """
    files: dict[str, bytes] = {}
    total = 0
    try:
        with (
            zstandard.ZstdDecompressor().stream_reader(io.BytesIO(archive)) as stream,
            tarfile.open(fileobj=stream, mode="r|") as members,
        ):
            for member in members:
                _check_member(member.name)
                total += member.size
                if total > _MAXIMUM_UNPACKED_BYTES:
                    raise TreeError(f"a tree archive unpacks to more than {total} bytes")
                content = members.extractfile(member) if member.isreg() else None
                if content is None:
                    raise TreeError(f"a tree archive holds {member.name!r}, not a plain file")
                files[member.name] = content.read()
    except (
        tarfile.TarError,
        zstandard.ZstdError,
        EOFError,
        ValueError,
        LookupError,
    ) as error:
        raise TreeError(f"a tree archive is damaged: {error}") from error
    return files


def _check_member(path: str) -> None:
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path or "\0" in path:
        raise TreeError(f"unsafe path in a tree: {path!r}")


class TreeStore(Protocol):
    """Keeps packed trees by digest; safe for use by several processes at once."""

    def has(self, digest: str) -> bool: ...

    def put(self, tree: PackedTree) -> None:
        """Store ``tree``; storing it again does nothing."""
        ...

    def get(self, digest: str) -> bytes:
        """The archive of the tree ``digest``; raises :class:`TreeError` when it is missing."""
        ...


class StoredTrees:
    """Trees as files of a store, below ``folder``."""

    def __init__(self, files: Files, folder: str = "") -> None:
        self._files = files
        self._folder = folder
        self._known: set[str] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels to other processes as its address alone."""
        return (StoredTrees, (self._files, self._folder))

    def has(self, digest: str) -> bool:
        return digest in self._known or self._files.exists(self._path(digest))

    def put(self, tree: PackedTree) -> None:
        """Store ``tree``; it appears whole or not at all."""
        if not self.has(tree.digest):
            self._files.put(self._path(tree.digest), tree.archive)
        if len(self._known) >= _REMEMBERED_DIGESTS:
            self._known.clear()
        self._known.add(tree.digest)

    def get(self, digest: str) -> bytes:
        try:
            return self._files.read(self._path(digest))
        except FileNotFoundError:
            raise TreeError(
                f"tree {digest} is not in the store {self._files.url}; the store must be a place "
                "that every node reaches, and must be kept as long as the run may be resumed"
            ) from None

    def _path(self, digest: str) -> str:
        path = f"{digest[:2]}/{digest}.tar.zst"
        return f"{self._folder}/{path}" if self._folder else path
