"""Sources in *splits*: parts that different workers read, which together are the source.

A split travels to the worker that reads it. Read one after the other, the splits of a source give
what its ``iterate`` gives; a place in the input is (number of the split, position in it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from cass_ray.corpus.program import Program, ReadReject
from cass_ray.corpus.reading.trees import TreeStore


class Readable(Protocol):
    """What has programs: a source or a split of one."""

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """One item for each candidate file, in a fixed order.

        Args:
            workdir: a directory of the reading worker for clones and unpacked archives.
            trees: where the include closures of the programs go.
        """
        ...


@runtime_checkable
class Divisible(Protocol):
    """A source that can be read by many workers."""

    def splits(self, workdir: Path) -> Iterator[Readable]:
        """The splits in order, found as they are asked for; nothing of a program is read.

        Raises ``SourceError`` where the source as a whole cannot be read.
        """
        ...


@runtime_checkable
class Changeable(Protocol):
    """What may read other programs tomorrow under the same name."""

    def state(self) -> str:
        """Equal for equal programs; changes when a file does."""
        ...


@dataclass(frozen=True)
class WholeSource:
    """The one split of a source that one worker has to read."""

    source: Readable

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        yield from self.source.iterate(workdir, trees)

    def state(self) -> str:
        return state_of(self.source)


def state_of(readable: Readable) -> str:
    """What tells this content of a source or split from another one.

    A repository without a revision is what it was when it was first read.
    """
    return readable.state() if isinstance(readable, Changeable) else repr(readable)


def splits_of(source: Readable, workdir: Path) -> Iterator[Readable]:
    """The splits of any source; one for a source that is not divisible."""
    if isinstance(source, Divisible):
        yield from source.splits(workdir)
    else:
        yield WholeSource(source)
