"""Who does the work of pieces: this process, or tasks on a cluster (``actors.piece_tasks``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from cass_ray.corpus.dedup.shards import LocalShards, Shards

T = TypeVar("T")
R = TypeVar("R")


class Runner(Protocol):
    """Runs work that may be done anywhere, in any order, and more than once."""

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """``work`` of each of ``items``, as they finish. ``items`` are taken as they are needed.

        Raises what ``work`` raises.
        """
        ...

    def shards(self) -> Shards:
        """Where ids, keys and sets of duplicates are kept; empty."""
        ...


class InlineRunner:
    """One after the other in this process."""

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        return map(work, items)

    def shards(self) -> Shards:
        """One shard, its sets in a temporary file."""
        return LocalShards()
