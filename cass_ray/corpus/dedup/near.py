"""Near duplicates in a stream of texts: LSH finds candidates, their sets decide.

The first of a set of similar texts is kept and later ones are compared with what was kept, so the
same stream gives the same result on every run, whatever the batches are.
"""

from __future__ import annotations

import array
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cass_ray.corpus.dedup.bands import BandIndex, Keys, band_keys, band_shape, signatures
from cass_ray.corpus.dedup.shingles import (
    SHINGLE_TOKENS,
    Hashes,
    hash_sets,
    jaccard,
    source_tokens,
)


@dataclass(frozen=True, slots=True)
class Similar:
    """An earlier text that a text nearly repeats."""

    id: str
    similarity: float
    """Jaccard similarity of their sets."""


class BandLookup(Protocol):
    """Where band keys are kept: in this process, or spread over the nodes of a cluster."""

    def find(self, keys: Keys) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """All pairs (place in ``keys``, position of a text that has this key)."""
        ...

    def insert(self, keys: Keys, positions: npt.NDArray[np.uint32]) -> None: ...


class SetStore:
    """Sets of hashes by position, in an unnamed file: memory holds eight bytes a set."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, prefix="cass-near-", buffering=0)  # noqa: SIM115
        self._ends = array.array("Q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, sets: Sequence[Hashes]) -> None:
        """Add ``sets`` at the next positions."""
        self._file.write(b"".join(item.tobytes() for item in sets))
        for item in sets:
            self._ends.append(self._ends[-1] + item.nbytes)

    def __getitem__(self, position: int) -> Hashes:
        start, end = self._ends[position], self._ends[position + 1]
        return np.frombuffer(os.pread(self._file.fileno(), end - start, start), np.uint32)


class NearDuplicates:
    """Finds texts whose sets of token runs overlap by at least ``threshold``.

    A pair exactly at the threshold becomes a candidate with a probability of 0.995, more similar
    ones nearly always; the sets of a candidate pair are compared, so that what is found is similar.

    Args:
        threshold: Jaccard similarity above 0, at most 1.
        shingle_tokens: tokens in a run.
        folder: where the file with the sets goes (about 4 KB a kept text); default: temporary.
        index: where the band keys go; default: this process, 12 bytes a key, 21 keys at 0.8.
    """

    def __init__(
        self,
        threshold: float = 0.8,
        shingle_tokens: int = SHINGLE_TOKENS,
        folder: Path | None = None,
        index: BandLookup | None = None,
    ) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold is {threshold}; it must be above 0 and at most 1")
        self._threshold = threshold
        self._shingle_tokens = shingle_tokens
        self._shape = band_shape(threshold)
        self._index: BandLookup = index if index is not None else BandIndex()
        self._kept = SetStore(folder)
        self._ids: list[str] = []

    def offer(self, row_id: str, source: str) -> str | None:
        """Note one program; the ``id`` of the earliest kept program it nearly repeats, or None."""
        (similar,) = self.offer_batch([row_id], [source_tokens(source)])
        return similar.id if similar is not None else None

    def offer_batch(
        self, row_ids: Sequence[str], texts: Sequence[Sequence[str]]
    ) -> list[Similar | None]:
        """Note texts, given as tokens. For each the earliest kept text that it nearly repeats.

        A text that repeats another is not kept: later ones are compared with the first only.
        """
        return self.offer_sets(row_ids, hash_sets(texts, self._shingle_tokens))

    def offer_sets(
        self, row_ids: Sequence[str], sets: Sequence[Hashes], keys: Keys | None = None
    ) -> list[Similar | None]:
        """:meth:`offer_batch` of sets that :func:`~.shingles.hash_sets` made.

        ``keys`` are :meth:`keys_of` the sets, where they were computed elsewhere.
        """
        keys = self.keys_of(sets) if keys is None else keys
        candidates = self._known_candidates(keys)
        fresh: dict[int, list[int]] = {}
        kept: list[int] = []
        first_new = len(self._ids)
        found: list[Similar | None] = []
        for number, own in enumerate(keys.tolist()):
            near = candidates.get(number, set())
            for key in own:
                near.update(fresh.get(key, ()))
            similar = self._most_similar(sets, kept, first_new, sets[number], sorted(near))
            found.append(similar)
            if similar is None:
                for key in own:
                    fresh.setdefault(key, []).append(len(self._ids))
                kept.append(number)
                self._ids.append(row_ids[number])
        self._keep(sets, keys, kept, first_new)
        return found

    def keys_of(self, sets: Sequence[Hashes]) -> Keys:
        """Band keys of ``sets``, (sets, bands)."""
        return band_keys(signatures(sets), *self._shape)

    def _known_candidates(self, keys: Keys) -> dict[int, set[int]]:
        places, positions = self._index.find(keys.reshape(-1))
        candidates: dict[int, set[int]] = {}
        for place, position in zip(
            (places // keys.shape[1]).tolist(), positions.tolist(), strict=True
        ):
            candidates.setdefault(place, set()).add(position)
        return candidates

    def _most_similar(
        self,
        sets: Sequence[Hashes],
        kept: Sequence[int],
        first_new: int,
        own: Hashes,
        candidates: Sequence[int],
    ) -> Similar | None:
        """The earliest of ``candidates`` that is similar enough."""
        for position in candidates:
            new = position - first_new
            similarity = jaccard(own, sets[kept[new]] if new >= 0 else self._kept[position])
            if similarity >= self._threshold:
                return Similar(self._ids[position], similarity)
        return None

    def _keep(self, sets: Sequence[Hashes], keys: Keys, kept: list[int], first: int) -> None:
        self._kept.append([sets[number] for number in kept])
        positions = np.arange(first, first + len(kept), dtype=np.uint32)
        self._index.insert(keys[kept].reshape(-1), np.repeat(positions, keys.shape[1]))
