"""Near duplicates at the scale of a cluster: a Ray Data stage with memory bounded per node.

Sets and band keys are made by tasks on all nodes. The index is spread over actors, each of which
holds the keys that fall to it: ``12 bytes * bands * kept rows / actors``. The driver decides in the
order of the rows, so the result is that of one process, whatever the number of actors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import ray

from cass_ray.corpus.dedup.bands import BandIndex, Keys
from cass_ray.corpus.dedup.near import NearDuplicates, Similar
from cass_ray.corpus.dedup.shingles import Hashes, hash_sets, source_tokens
from cass_ray.corpus.dialect import source_of

_SET = "token_hashes"
_KEYS = "band_keys"


class IndexShard:
    """The part of an index that one actor holds."""

    def __init__(self) -> None:
        self._index = BandIndex()

    def find(self, keys: Keys) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """As :meth:`BandIndex.find`."""
        return self._index.find(keys)

    def insert(self, keys: Keys, positions: npt.NDArray[np.uint32]) -> None:
        """As :meth:`BandIndex.insert`."""
        self._index.insert(keys, positions)

    def size(self) -> int:
        return len(self._index)


class ShardedIndex:
    """A :class:`~cass_ray.corpus.dedup.near.BandLookup` over actors; each key belongs to one."""

    def __init__(self, shards: int) -> None:
        self.actors = [
            ray.remote(IndexShard).options(num_cpus=0, scheduling_strategy="SPREAD").remote()
            for _ in range(shards)
        ]

    def find(self, keys: Keys) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """All pairs (place in ``keys``, position of a text that has this key)."""
        parts = self._parts(keys)
        replies = ray.get(
            [actor.find.remote(keys[part]) for actor, part in zip(self.actors, parts, strict=True)]
        )
        places = [part[found] for part, (found, _) in zip(parts, replies, strict=True)]
        return np.concatenate(places), np.concatenate([texts for _, texts in replies])

    def insert(self, keys: Keys, positions: npt.NDArray[np.uint32]) -> None:
        """Note which texts have which keys. An actor does this before what it is asked next."""
        for actor, part in zip(self.actors, self._parts(keys), strict=True):
            actor.insert.remote(keys[part], positions[part])

    def close(self) -> None:
        for actor in self.actors:
            ray.kill(actor)

    def _parts(self, keys: Keys) -> list[npt.NDArray[np.int64]]:
        owners = keys % np.uint64(len(self.actors))
        return [np.flatnonzero(owners == np.uint64(shard)) for shard in range(len(self.actors))]


def with_sets(batch: pa.Table, threshold: float) -> pa.Table:
    """``batch`` with the set and the band keys of each row as columns of bytes."""
    sets = hash_sets([source_tokens(source_of(row)) for row in batch.to_pylist()])
    keys = NearDuplicates(threshold).keys_of(sets)
    columns = {
        _SET: [own.tobytes() for own in sets],
        _KEYS: [own.tobytes() for own in keys],
    }
    for name, values in columns.items():
        batch = batch.append_column(name, pa.array(values, pa.binary()))
    return batch


def near_duplicates(
    dataset: Any, threshold: float, *, shards: int = 1, folder: Path | None = None
) -> Iterator[tuple[list[dict[str, Any]], list[Similar | None]]]:
    """Batches of the rows of ``dataset`` and, for each row, the earlier row that it nearly repeats.

    Args:
        dataset: a ``ray.data.Dataset`` with ``id``, ``cuda_source`` and ``opencl_source``. Rows are
            decided in its order: set ``preserve_order`` of the context for equal results.
        threshold: Jaccard similarity.
        shards: actors that the index is spread over.
        folder: for the sets of the kept rows, on the driver's node.
    """
    index = ShardedIndex(shards)
    known = NearDuplicates(threshold, folder=folder, index=index)
    prepared = dataset.map_batches(
        with_sets, fn_kwargs={"threshold": threshold}, batch_format="pyarrow", batch_size=512
    )
    try:
        for batch in prepared.iter_batches(batch_size=512, batch_format="pyarrow"):
            sets, keys = _columns(batch)
            rows = batch.drop_columns([_SET, _KEYS]).to_pylist()
            yield rows, known.offer_sets([row["id"] for row in rows], sets, keys)
    finally:
        index.close()


def _columns(batch: pa.Table) -> tuple[Sequence[Hashes], Keys]:
    sets = [np.frombuffer(own, np.uint32) for own in batch.column(_SET).to_pylist()]
    keys = [np.frombuffer(own, np.uint64) for own in batch.column(_KEYS).to_pylist()]
    return sets, np.array(keys, np.uint64)
