"""Exact duplicates in a stream of programs, by ``id``; ``near`` has the similar ones.

The first in stream order is kept, and sources yield in a fixed order, so that the same corpus gives
the same result on every run.
"""

from __future__ import annotations

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
