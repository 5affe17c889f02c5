"""What duplicates are found by, divided over *shards*: in this process, or an actor each.

Ids fall to the shard of their hash, band keys to that of the key, sets and ids of kept texts to
that of the text's number. The process that decides holds the rows of one span at a time.
"""

from __future__ import annotations

import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cass_ray.corpus.dedup.bands import BandIndex, Keys
from cass_ray.corpus.dedup.exact import ExactDuplicates
from cass_ray.corpus.dedup.near import SetStore
from cass_ray.corpus.dedup.partitions import (
    DIGEST_BYTES,
    Digests,
    Numbers,
    count_shared,
    partition_of_digests,
    partition_of_keys,
    shared_keys,
)
from cass_ray.corpus.dedup.shingles import Hashes, jaccard
from cass_ray.corpus.dedup.spans import Edges, Span

Pairs = npt.NDArray[np.uint64]
"""``later << 32 | earlier``: sorted, they are in the order in which they are decided."""

_ID_WORDS = DIGEST_BYTES // 4


class _Level:
    """One kind of similarity: band keys, and the kept texts, 12 bytes each beside the file."""

    def __init__(self, folder: Path | None) -> None:
        self.index = BandIndex()
        self._numbers = array.array("I")
        self._texts = SetStore(folder)

    def keep(self, numbers: Numbers, digests: Digests, sets: Sequence[Hashes]) -> None:
        """Note kept texts, by ascending numbers."""
        self._numbers.extend(numbers.tolist())
        words = np.ascontiguousarray(digests).view(np.uint32).reshape(-1, _ID_WORDS)
        self._texts.append(
            [np.concatenate((own, text)) for own, text in zip(words, sets, strict=True)]
        )

    def text(self, number: int) -> Hashes:
        return self._stored(number)[_ID_WORDS:]

    def row_id(self, number: int) -> str:
        return self._stored(number)[:_ID_WORDS].tobytes().hex()

    def _stored(self, number: int) -> Hashes:
        place = bisect_left(self._numbers, number)
        if place == len(self._numbers) or self._numbers[place] != number:
            raise KeyError(f"text {number} was not kept here")
        return self._texts[place]


class Shard:
    """One shard. ``folder`` is for the sets of kept texts (about 4 KB each); default: temporary."""

    def __init__(self, folder: Path | None = None) -> None:
        self._exact = ExactDuplicates()
        self._levels: defaultdict[str, _Level] = defaultdict(lambda: _Level(folder))

    def repeated(self, digests: Digests) -> npt.NDArray[np.bool_]:
        """Note rows in order; which of them an earlier row has the id of."""
        found = [self._exact.offer(own.tobytes().hex()) is not None for own in digests]
        return np.array(found, np.bool_)

    def candidates(self, level: str, keys: Keys, numbers: Numbers) -> Pairs:
        """Pairs of texts that share a key of this shard, each once.

        ``keys[i]`` is a key of the text ``numbers[i]``. The later text of a pair is of
        ``numbers``, the earlier one of these or kept.
        """
        places, known = self._levels[level].index.find(keys)
        later, earlier = shared_keys(keys, numbers)
        other = later != earlier  # a text may have one key twice
        return np.unique(
            np.concatenate((_packed(numbers[places], known), _packed(later[other], earlier[other])))
        )

    def insert(self, level: str, keys: Keys, numbers: Numbers) -> None:
        self._levels[level].index.insert(keys, numbers)

    def keep(self, level: str, numbers: Numbers, digests: Digests, sets: Sequence[Hashes]) -> None:
        self._levels[level].keep(numbers, digests, sets)

    def similarities(
        self, level: str, earlier: Numbers, places: Sequence[int], sets: Sequence[Hashes]
    ) -> npt.NDArray[np.float64]:
        """Jaccard similarity of each kept text of ``earlier`` and its set, ``sets[place]``."""
        known = self._levels[level]
        return np.array(
            [
                jaccard(sets[place], known.text(number))
                for place, number in zip(places, earlier.tolist(), strict=True)
            ],
            np.float64,
        )

    def ids(self, level: str, numbers: Numbers) -> list[str]:
        """Ids of kept texts. Raises ``KeyError`` for one that was not kept here."""
        return [self._levels[level].row_id(number) for number in numbers.tolist()]


class ShardsLost(RuntimeError):
    """A shard is gone, and what was noted in it: all has to be decided anew, with other shards."""


class Shards(Protocol):
    """Shards by number, wherever they are. Any call may raise :class:`ShardsLost`."""

    def __len__(self) -> int: ...

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What ``method`` of each shard returns for its ``arguments``."""
        ...


class LocalShards:
    """Shards in this process; one is enough, and as quick as any number."""

    def __init__(self, count: int = 1, folder: Path | None = None) -> None:
        self._shards = [Shard(folder) for _ in range(count)]

    def __len__(self) -> int:
        return len(self._shards)

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [
            getattr(shard, method)(*own) for shard, own in zip(self._shards, arguments, strict=True)
        ]


def repeated_ids(shards: Shards, digests: Digests) -> npt.NDArray[np.bool_]:
    """Note rows in order; which of them an earlier row, of any call, has the id of."""
    places = _by_owner(partition_of_digests(digests, len(shards)), len(shards))
    found = np.zeros(len(digests), np.bool_)
    for own, repeated in zip(
        places, shards.call("repeated", [(digests[own],) for own in places]), strict=True
    ):
        found[own] = repeated
    return found


class ShardedComparisons:
    """:class:`~.spans.Comparisons` of one level over ``shards``.

    Args:
        shards: where keys and kept texts are.
        level: a name for this kind of similarity; several share the shards.
        threshold: Jaccard similarity above 0, at most 1.
    """

    def __init__(self, shards: Shards, level: str, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold is {threshold}; it must be above 0 and at most 1")
        self._shards = shards
        self._level = level
        self._threshold = threshold

    def pairs(self, span: Span, among: npt.NDArray[np.int64]) -> int:
        return count_shared(*_flat(span, among))

    def edges(self, span: Span, among: npt.NDArray[np.int64]) -> Edges:
        keys, numbers = _flat(span, among)
        places = _by_owner(partition_of_keys(keys, len(self._shards)), len(self._shards))
        found = self._shards.call(
            "candidates", [(self._level, keys[own], numbers[own]) for own in places]
        )
        # A pair that shares keys of several shards is compared once.
        later, earlier = _unpacked(np.unique(np.concatenate(found)))
        similarity = self._similarities(span, later, earlier)
        similar = similarity >= self._threshold
        return Edges(later[similar], earlier[similar], similarity[similar])

    def keep(self, span: Span, places: npt.NDArray[np.int64]) -> None:
        keys, of_keys = _flat(span, places)
        owners = _by_owner(partition_of_keys(keys, len(self._shards)), len(self._shards))
        self._shards.call("insert", [(self._level, keys[own], of_keys[own]) for own in owners])
        numbers = span.numbers[places]
        self._shards.call(
            "keep",
            [
                (
                    self._level,
                    numbers[own],
                    span.digests[places[own]],
                    [span.sets[place] for place in places[own].tolist()],
                )
                for own in self._owners(numbers)
            ],
        )

    def ids(self, numbers: Numbers) -> list[str]:
        owners = self._owners(numbers)
        answers = self._shards.call("ids", [(self._level, numbers[own]) for own in owners])
        found = [""] * len(numbers)
        for own, answer in zip(owners, answers, strict=True):
            for place, row_id in zip(own.tolist(), answer, strict=True):
                found[place] = row_id
        return found

    def _similarities(
        self, span: Span, later: Numbers, earlier: Numbers
    ) -> npt.NDArray[np.float64]:
        similarity = np.zeros(len(later), np.float64)
        here = earlier >= span.first
        for pair in np.flatnonzero(here).tolist():
            similarity[pair] = jaccard(span.set_of(later[pair]), span.set_of(earlier[pair]))
        pairs = np.flatnonzero(~here)
        owners = [pairs[own] for own in self._owners(earlier[pairs])]
        answers = self._shards.call(
            "similarities", [self._question(span, later[own], earlier[own]) for own in owners]
        )
        for own, answer in zip(owners, answers, strict=True):
            similarity[own] = answer
        return similarity

    def _question(self, span: Span, later: Numbers, earlier: Numbers) -> tuple[Any, ...]:
        """Each set travels once, however many texts it is compared with."""
        numbers, places = np.unique(later, return_inverse=True)
        sets = [span.set_of(number) for number in numbers]
        return self._level, earlier, places.tolist(), sets

    def _owners(self, numbers: Numbers) -> list[npt.NDArray[np.int64]]:
        return _by_owner((numbers % len(self._shards)).astype(np.int64), len(self._shards))


def _flat(span: Span, among: npt.NDArray[np.int64]) -> tuple[Keys, Numbers]:
    """Keys of the texts at ``among``, and the number of the text of each."""
    keys = span.keys[among]
    return keys.reshape(-1), np.repeat(span.numbers[among], keys.shape[1])


def _by_owner(owners: npt.NDArray[np.int64], count: int) -> list[npt.NDArray[np.int64]]:
    return [np.flatnonzero(owners == number) for number in range(count)]


def _packed(later: Numbers, earlier: Numbers) -> Pairs:
    return (later.astype(np.uint64) << np.uint64(32)) | earlier.astype(np.uint64)


def _unpacked(pairs: Pairs) -> tuple[Numbers, Numbers]:
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)
