"""Duplicates where no process sees all rows: work is divided by what rows are compared on.

Rows have *numbers*, their places in the input. Equal things fall into one partition, so that each
partition decides alone, and the first in the order of the numbers is kept whatever finished first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cass_ray.corpus.dedup.bands import Keys

Numbers = npt.NDArray[np.uint32]
Digests = npt.NDArray[np.uint8]
"""SHA-256 of rows, (rows, 32)."""

DIGEST_BYTES = 32


def partition_of_digests(digests: Digests, partitions: int) -> npt.NDArray[np.int64]:
    """Which partition each row belongs to; all equal rows to one."""
    return (_words(digests)[:, 0] % np.uint64(partitions)).astype(np.int64)


def partition_of_keys(keys: Keys, partitions: int) -> npt.NDArray[np.int64]:
    """Which partition each band key belongs to."""
    return (keys % np.uint64(partitions)).astype(np.int64)


def shared_keys(keys: Keys, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Pairs (later, earlier) of texts of one partition that have a key in common.

    ``keys[i]`` is a key of the text ``numbers[i]``. A pair with several common keys is there as
    often, one with itself where it has a key twice. There are :func:`count_shared` of them:
    quadratic in the texts that share one key.
    """
    order, rank = _ranked(keys, numbers)
    later = np.repeat(np.arange(len(order)), rank)
    within = np.arange(len(later)) - np.repeat(np.cumsum(rank) - rank, rank)
    earlier = later - np.repeat(rank, rank) + within
    ordered = numbers[order]
    return ordered[later], ordered[earlier]


def count_shared(keys: Keys, numbers: Numbers) -> int:
    """How many pairs :func:`shared_keys` would return, without making them."""
    return int(_ranked(keys, numbers)[1].sum())


def _words(digests: Digests) -> npt.NDArray[np.uint64]:
    """Digests as four numbers each, which sort faster than 32."""
    words = np.ascontiguousarray(digests).view("<u8").reshape(-1, DIGEST_BYTES // 8)
    return words.astype(np.uint64, copy=False)


def _ranked(keys: Keys, numbers: Numbers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The order by (key, number), and the place of each in the run of its key."""
    order = np.lexsort((numbers, keys))
    if not len(order):
        return order, order
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, len(ordered)))
    return order, np.arange(len(ordered)) - np.repeat(starts, lengths)
