"""Duplicates in a stream of programs: exact ones by ``id``, near ones by MinHash.

Both keep the first of a set in stream order, and sources yield in a fixed order, so that the same
corpus gives the same result on every run.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque

import numpy as np
import numpy.typing as npt
from datasketch import MinHash, MinHashLSH

from cass_ray.corpus.lexer import Kind, significant_tokens

_DIGEST_BYTES = 32
_FULLEST = 0.6
_SMALLEST_CAPACITY = 1024


class ExactDuplicates:
    """The ``id`` of every row seen, in 32 bytes each (about 55 to 110 with free slots).

    An open-addressing table in one block of memory: a million rows take 67 MB, where a set of
    strings takes twice that.
    """

    def __init__(self) -> None:
        self._capacity = _SMALLEST_CAPACITY
        self._table = bytearray(self._capacity * _DIGEST_BYTES)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def offer(self, row_id: str) -> str | None:
        """Note a row. Returns ``row_id`` when an earlier row had the same, else None.

        Args:
            row_id: 64 hexadecimal digits.

        Raises:
            ValueError: ``row_id`` is not the hexadecimal form of a SHA-256.
        """
        key = bytes.fromhex(row_id)
        if len(key) != _DIGEST_BYTES or not any(key):
            raise ValueError(f"not a SHA-256 in hexadecimal: {row_id!r}")
        if self._count >= _FULLEST * self._capacity:
            self._grow()
        if not self._insert(key):
            return row_id
        self._count += 1
        return None

    def _insert(self, key: bytes) -> bool:
        """Whether ``key`` was new. Slots of zeros are free; no digest is all zeros."""
        slot = int.from_bytes(key[:8], "little") % self._capacity
        while True:
            start = slot * _DIGEST_BYTES
            held = self._table[start : start + _DIGEST_BYTES]
            if held == key:
                return False
            if not any(held):
                self._table[start : start + _DIGEST_BYTES] = key
                return True
            slot = (slot + 1) % self._capacity

    def _grow(self) -> None:
        old = self._table
        self._capacity *= 2
        self._table = bytearray(self._capacity * _DIGEST_BYTES)
        for start in range(0, len(old), _DIGEST_BYTES):
            key = bytes(old[start : start + _DIGEST_BYTES])
            if any(key):
                self._insert(key)


class NearDuplicates:
    """Finds programs whose sets of token shingles overlap by at least ``threshold``.

    The Jaccard similarity is estimated from MinHash signatures (standard error
    ``sqrt(J (1 - J) / permutations)``: 0.035 at 0.8 and 128); candidates come from banded LSH with
    bands chosen so that a pair exactly at the threshold is a candidate with probability 0.98.

    Args:
        threshold: Jaccard similarity above 0, at most 1.
        shingle_tokens: tokens in a shingle; comments and white space do not count.
        permutations: length of the signatures.
    """

    def __init__(
        self, threshold: float = 0.8, shingle_tokens: int = 5, permutations: int = 128
    ) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold is {threshold}; it must be above 0 and at most 1")
        self._threshold = threshold
        self._shingle_tokens = shingle_tokens
        self._empty = MinHash(num_perm=permutations, seed=1, hashfunc=int)
        self._index = MinHashLSH(
            threshold=threshold,
            num_perm=permutations,
            params=_bands(threshold, permutations),
        )
        self._kept: list[tuple[str, npt.NDArray[np.generic]]] = []

    def offer(self, row_id: str, source: str) -> str | None:
        """Note a program. Returns the ``id`` of the earliest kept program it nearly repeats.

        A program that repeats another is not kept: later ones are compared with the first only.
        """
        signature = self._empty.copy()
        signature.update_batch(shingle_hashes(source, self._shingle_tokens))
        candidates: list[int] = sorted(self._index.query(signature))
        for position in candidates:
            kept_id, values = self._kept[position]
            if np.mean(values == signature.hashvalues) >= self._threshold:
                return kept_id
        self._index.insert(len(self._kept), signature)
        self._kept.append((row_id, signature.hashvalues))
        return None


def shingle_hashes(source: str, shingle_tokens: int) -> list[int]:
    """Distinct 32-bit hashes of the runs of ``shingle_tokens`` tokens in ``source``, sorted.

    A program of fewer tokens is one shingle.
    """
    window: deque[int] = deque(maxlen=shingle_tokens)
    packer = struct.Struct(f"<{shingle_tokens}I")
    found: set[int] = set()
    for kind, text, _ in significant_tokens(source):
        if kind is Kind.NEWLINE:
            continue
        window.append(zlib.crc32(text.encode("utf-8", "surrogatepass")))
        if len(window) == shingle_tokens:
            found.add(zlib.crc32(packer.pack(*window)))
    if not found:
        found.add(zlib.crc32(struct.pack(f"<{len(window)}I", *window)))
    return sorted(found)


_RECALL = 0.98


def _bands(threshold: float, permutations: int) -> tuple[int, int]:
    """(bands, rows a band): the longest rows that find a pair at the threshold with ``_RECALL``."""
    best = (permutations, 1)
    for rows in range(1, permutations + 1):
        bands = permutations // rows
        if 1 - (1 - threshold**rows) ** bands >= _RECALL:
            best = (bands, rows)
    return best
