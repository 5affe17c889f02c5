"""Candidate pairs by locality-sensitive hashing: one-permutation MinHash signatures in bands.

A signature divides the range of the hashes into bins and keeps the smallest hash of each (Li, Owen
and Zhang, "One Permutation Hashing", 2012); an empty bin takes the value of one chosen by a
hash of its own number (Shrivastava, "Optimal Densification for Fast and Accurate Minwise Hashing",
2017). From sorted hashes that costs one pass, where 128 permutations cost 128.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from cass_ray.corpus.dedup.shingles import Hashes, mix

BINS = 128
_BIN_SHIFT = np.uint32(32 - 7)
_RECALL = 0.995

Keys = npt.NDArray[np.uint64]


def band_shape(threshold: float) -> tuple[int, int]:
    """(bands, rows a band): the longest rows that find a pair at the threshold with 99.5%."""
    best = (BINS, 1)
    for rows in range(1, BINS + 1):
        bands = BINS // rows
        if 1 - (1 - threshold**rows) ** bands >= _RECALL:
            best = (bands, rows)
    return best


def signatures(sets: Sequence[Hashes]) -> npt.NDArray[np.uint32]:
    """One row of :data:`BINS` values for each set of sorted hashes."""
    lengths = np.fromiter(map(len, sets), np.int64, len(sets))
    hashes = np.concatenate(sets) if sets else np.empty(0, np.uint32)
    owners = np.repeat(np.arange(len(sets)), lengths)
    slots = owners * BINS + (hashes >> _BIN_SHIFT)
    first = np.flatnonzero(np.diff(slots, prepend=-1))
    table = np.zeros(len(sets) * BINS, np.uint32)
    filled = np.zeros(len(sets) * BINS, bool)
    table[slots[first]] = hashes[first]
    filled[slots[first]] = True
    return _densified(table.reshape(-1, BINS), filled.reshape(-1, BINS))


def _densified(
    table: npt.NDArray[np.uint32], filled: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint32]:
    """``table`` with a value in every bin."""
    rows, columns = np.nonzero(~filled)
    attempts = _probes()
    result = table.copy()
    attempt = 0
    while len(rows):
        # The attempts end with every bin in turn, so a row with one value fills up.
        source = attempts[attempt][columns]
        found = filled[rows, source]
        result[rows[found], columns[found]] = table[rows[found], source[found]]
        rows, columns = rows[~found], columns[~found]
        attempt += 1
    return result


@cache
def _probes() -> npt.NDArray[np.int64]:
    """Which bin an empty bin looks into at each attempt."""
    bins = np.arange(BINS, dtype=np.uint64)
    hashed = [
        (mix(bins + np.uint64(BINS * attempt)) % np.uint64(BINS)).astype(np.int64)
        for attempt in range(1, BINS + 1)
    ]
    turns = [(np.arange(BINS) + turn) % BINS for turn in range(1, BINS + 1)]
    return np.array([*hashed, *turns])


def band_keys(signature_rows: npt.NDArray[np.uint32], bands: int, rows: int) -> Keys:
    """64-bit key of each band of each signature, (texts, bands); a band has keys of its own."""
    table = signature_rows[:, : bands * rows].reshape(len(signature_rows), bands, rows)
    keys = np.tile(np.arange(1, bands + 1, dtype=np.uint64), (len(signature_rows), 1))
    for row in range(rows):
        keys = mix(keys * np.uint64(0x9E3779B97F4A7C15) + table[:, :, row])
    return keys


class BandIndex:
    """Band keys -> positions of the texts that have them, in 12 bytes a key.

    Sorted runs that are merged as they grow, like a log-structured merge tree: a batch is looked up
    by binary search in a few runs. Half as much again is used while runs merge.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Keys, npt.NDArray[np.uint32]]] = []

    def __len__(self) -> int:
        return sum(len(keys) for keys, _ in self._runs)

    def find(self, keys: Keys) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """All pairs (place in ``keys``, position of a text that has this key)."""
        order = np.argsort(keys)
        wanted = keys[order]
        places: list[npt.NDArray[np.int64]] = []
        positions: list[npt.NDArray[np.uint32]] = []
        for known, texts in self._runs:
            left = np.searchsorted(known, wanted)
            hit = np.flatnonzero(known[np.minimum(left, len(known) - 1)] == wanted)
            left = left[hit]
            counts = np.searchsorted(known, wanted[hit], side="right") - left
            places.append(np.repeat(order[hit], counts))
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            positions.append(texts[np.repeat(left, counts) + within])
        if not places:
            return np.empty(0, np.int64), np.empty(0, np.uint32)
        return np.concatenate(places), np.concatenate(positions)

    def insert(self, keys: Keys, positions: npt.NDArray[np.uint32]) -> None:
        if not len(keys):
            return
        order = np.argsort(keys)
        run = (keys[order], positions[order])
        while self._runs and len(self._runs[-1][0]) <= 2 * len(run[0]):
            older = self._runs.pop()
            merged = np.concatenate((older[0], run[0]))
            order = np.argsort(merged, kind="stable")
            run = (merged[order], np.concatenate((older[1], run[1]))[order])
        self._runs.append(run)
