"""Near duplicates decided span by span, from edges alone: what one process finds, in parts.

A *span* is a run of consecutive texts. Where its candidate pairs come from (an index divided by
band keys) and who compares their sets (tasks) is behind :class:`Comparisons`; the one process that
decides sees only *edges*, pairs that are similar enough. A text is compared with the kept texts of
earlier spans and with all texts before it in its own, so the work in a cluster of n similar texts
grows as n, not as n squared, and spans of any length give the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cass_ray.corpus.dedup.bands import Keys
from cass_ray.corpus.dedup.partitions import Digests, Numbers
from cass_ray.corpus.dedup.shingles import Hashes

MOST_PAIRS = 4 << 20
"""Candidate pairs of one span; a span with more is halved."""


@dataclass(frozen=True, slots=True)
class Span:
    """Texts with consecutive numbers: ids, sets, and band keys, (texts, bands)."""

    first: int
    digests: Digests
    sets: Sequence[Hashes]
    keys: Keys

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def numbers(self) -> Numbers:
        return np.arange(self.first, self.first + len(self), dtype=np.uint32)

    def cut(self, start: int, stop: int) -> Span:
        """The texts at places ``start`` to ``stop``."""
        return Span(
            self.first + start,
            self.digests[start:stop],
            self.sets[start:stop],
            self.keys[start:stop],
        )

    def set_of(self, number: int | np.uint32) -> Hashes:
        """The set of the text ``number``, which is in this span."""
        return self.sets[int(number) - self.first]


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs of texts that are similar enough; every earlier text of another span was kept."""

    later: Numbers
    earlier: Numbers
    similarity: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Repeats:
    """The text ``number`` repeats the kept text ``earlier``."""

    number: int
    earlier: int
    similarity: float


class Comparisons(Protocol):
    """Candidates and their similarities, in this process or on a cluster."""

    def pairs(self, span: Span, among: npt.NDArray[np.int64]) -> int:
        """How many pairs of the texts at the places ``among`` of ``span`` share a key."""
        ...

    def edges(self, span: Span, among: npt.NDArray[np.int64]) -> Edges:
        """Edges of the texts at the places ``among``: among each other and to kept texts."""
        ...

    def keep(self, span: Span, places: npt.NDArray[np.int64]) -> None:
        """Later spans are compared with the texts at ``places`` of ``span``."""
        ...


def decide(span: Span, edges: Edges) -> dict[int, Repeats]:
    """The texts of ``span`` that are not kept, by number.

    A text goes when a kept text before it is similar; of several the earliest is named.
    """
    gone: dict[int, Repeats] = {}
    order = np.lexsort((edges.earlier, edges.later))
    for later, earlier, similarity in zip(
        edges.later[order].tolist(),
        edges.earlier[order].tolist(),
        edges.similarity[order].tolist(),
        strict=True,
    ):
        # Edges come in the order of the later text: what is before it has been decided.
        if later not in gone and earlier not in gone:
            gone[later] = Repeats(later, earlier, similarity)
    return gone


def offer(span: Span, comparisons: Comparisons, most_pairs: int = MOST_PAIRS) -> list[Repeats]:
    """Note the texts of ``span``; those that repeat an earlier kept text, in order.

    What :meth:`~.near.NearDuplicates.offer_sets` finds on the same texts.
    """
    firsts, copies = _equal_sets(span.sets)
    if len(span) > 1 and comparisons.pairs(span, firsts) > most_pairs:
        half = len(span) // 2
        parts = (span.cut(0, half), span.cut(half, len(span)))
        return [each for part in parts for each in offer(part, comparisons, most_pairs)]
    gone = decide(span, comparisons.edges(span, firsts))
    kept = [place for place in firsts.tolist() if span.first + place not in gone]
    for place, first in copies.items():
        # Equal sets have equal keys and equal similarities: what holds for the first holds for it.
        like = gone.get(span.first + first)
        earlier, similarity = (
            (like.earlier, like.similarity) if like is not None else (span.first + first, 1.0)
        )
        number = span.first + place
        gone[number] = Repeats(number, earlier, similarity)
    comparisons.keep(span, np.array(kept, np.int64))
    return [gone[number] for number in sorted(gone)]


def _equal_sets(sets: Sequence[Hashes]) -> tuple[npt.NDArray[np.int64], dict[int, int]]:
    """Places of the first text of each set, and for every other text the place of its first."""
    seen: dict[bytes, int] = {}
    copies: dict[int, int] = {}
    for place, own in enumerate(sets):
        first = seen.setdefault(own.tobytes(), place)
        if first != place:
            copies[place] = first
    return np.array(list(seen.values()), np.int64), copies
