"""Entries of caches with a checksum, which says that they are what was stored under their key."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import zstandard

LOG = logging.getLogger(__name__)

_MARK = b"cass-sha256\0"
_END = len(_MARK) + hashlib.sha256().digest_size


class DamagedEntry(ValueError):
    """Bytes that are not what was stored under the key."""


def seal(key: str, data: bytes) -> bytes:
    """The bytes that follow ``data`` in the entry of ``key``: a mark and a SHA-256 of both."""
    return _MARK + hashlib.sha256(_MARK + key.encode() + b"\0" + data).digest()


def sealed(key: str, value: bytes) -> bytes:
    """``value`` as an entry: compressed, and a checksum of that and of the key behind it."""
    packed = zstandard.ZstdCompressor(level=3).compress(value)
    return packed + seal(key, packed)


def opened(key: str, entry: bytes) -> bytes:
    """The value that :func:`sealed` made ``entry`` of.

    Raises :class:`DamagedEntry` where ``entry`` is not the one that was sealed for ``key``.
    """
    packed = content(key, entry)
    try:
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise DamagedEntry(str(error)) from None


def content(key: str, entry: bytes) -> bytes:
    """``entry`` without its seal. Raises :class:`DamagedEntry` where it is of other content."""
    data, end = entry[:-_END], entry[-_END:]
    if len(entry) < _END or end != seal(key, data):
        raise DamagedEntry("its checksum is another one")
    return data


def is_sealed(entry: bytes) -> bool:
    """Whether ``entry`` ends as entries do; those of older versions have no checksum."""
    return entry[-_END : -_END + len(_MARK)] == _MARK


def unsealed(entry: bytes) -> bytes:
    """``entry`` without its seal, if it has one; nothing is checked."""
    return entry[:-_END] if is_sealed(entry) else entry


def warn(place: Path | str) -> None:
    """Say that an entry is not used."""
    LOG.warning("%s: the cache's entry is damaged, its result is computed again", place)
