"""Which rows repeat an earlier one: lines of :mod:`.comparison` in, in the order of the input.

What is decided does not depend on how the input is cut, nor on where the shards are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cass_ray.corpus.dedup.partitions import Digests
from cass_ray.corpus.dedup.shards import ShardedComparisons, Shards, repeated_ids
from cass_ray.corpus.dedup.spans import Span, offer
from cass_ray.corpus.screening.comparison import SimilarityLevel, digests, has_set, sets_and_keys
from cass_ray.dataset.row import Reason

EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A line that repeats an earlier row."""

    line: int
    level: str
    """``exact``, ``near``, ``shape`` or ``opcodes``."""
    reason: Reason
    repeats: str
    """Id of the row that was kept."""
    similarity: float

    def message(self) -> str:
        degree = "" if self.level == EXACT else f" ({self.level}: {self.similarity:.2f})"
        return f"the same program as row {self.repeats}{degree}"


class Decider:
    """State of one pass over the input.

    Args:
        levels: kinds of similarity, in order; a row that goes at one is not seen by the next.
        shards: where ids, keys and sets are kept.
        exact: whether equal ids go first.
    """

    def __init__(
        self, levels: Sequence[SimilarityLevel], shards: Shards, *, exact: bool = True
    ) -> None:
        self._levels = levels
        self._shards = shards
        self._exact = exact
        self._comparisons = {
            level.name: ShardedComparisons(shards, level.name, level.threshold) for level in levels
        }
        self._offered = dict.fromkeys(self._comparisons, 0)

    def offer(self, table: pa.Table) -> list[Duplicate]:
        """Note the lines of ``table``; those that repeat an earlier one, by line."""
        own = digests(table)
        live = np.ones(len(own), np.bool_)
        found: list[Duplicate] = []
        if self._exact:
            found += self._equal(own, live)
        for level in self._levels:
            places = np.flatnonzero(live & has_set(table, level))
            found += self._similar(table, own, level, places)
            live[[each.line for each in found]] = False
        return sorted(found, key=lambda each: each.line)

    def _equal(self, own: Digests, live: npt.NDArray[np.bool_]) -> list[Duplicate]:
        repeated = repeated_ids(self._shards, own)
        live &= ~repeated
        return [
            Duplicate(line, EXACT, Reason.EXACT_DUPLICATE, own[line].tobytes().hex(), 1.0)
            for line in np.flatnonzero(repeated).tolist()
        ]

    def _similar(
        self, table: pa.Table, own: Digests, level: SimilarityLevel, places: npt.NDArray[np.int64]
    ) -> list[Duplicate]:
        if not len(places):
            return []
        comparisons = self._comparisons[level.name]
        first = self._offered[level.name]
        self._offered[level.name] += len(places)
        span = Span(first, own[places], *sets_and_keys(table, level, places))
        gone = offer(span, comparisons)
        ids = comparisons.ids(np.array([each.earlier for each in gone], np.uint32))
        return [
            Duplicate(
                int(places[each.number - first]), level.name, level.reason, kept, each.similarity
            )
            for each, kept in zip(gone, ids, strict=True)
        ]
