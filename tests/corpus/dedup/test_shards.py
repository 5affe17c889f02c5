"""Duplicates in partitions and spans: what one process finds on the same rows."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cass_ray.corpus.dedup.bands import band_keys, band_shape, signatures
from cass_ray.corpus.dedup.exact import ExactDuplicates
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.dedup.partitions import (
    Digests,
    count_shared,
    shared_keys,
)
from cass_ray.corpus.dedup.shards import LocalShards, ShardedComparisons, repeated_ids
from cass_ray.corpus.dedup.shingles import hash_sets
from cass_ray.corpus.dedup.spans import Edges, Span, offer
from cass_ray.corpus.screening.comparison import digests


@settings(deadline=None)
@given(st.lists(st.integers(0, 12), max_size=40), st.integers(1, 5), st.data())
def test_exact_duplicates_in_shards(contents: list[int], count: int, data: st.DataObject) -> None:
    ids = digests_of(contents)
    alone = ExactDuplicates()
    expected = [alone.offer(own.tobytes().hex()) is not None for own in ids]

    cuts = data.draw(st.lists(st.integers(0, len(ids)), max_size=3))
    shards, found = LocalShards(count), []
    for start, stop in pairwise([0, *sorted(cuts), len(ids)]):
        found += repeated_ids(shards, ids[start:stop]).tolist()
    assert found == expected


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=25, unique=True))
def test_shared_keys_are_all_pairs(keyed: list[tuple[int, int]]) -> None:
    keys = np.array([key for key, _ in keyed], np.uint64)
    numbers = np.array([number for _, number in keyed], np.uint32)
    later, earlier = shared_keys(keys, numbers)
    expected = sorted(
        (max(a, b), min(a, b)) for (k, a), (other, b) in combinations(keyed, 2) if k == other
    )
    assert sorted(zip(later.tolist(), earlier.tolist(), strict=True)) == expected
    assert count_shared(keys, numbers) == len(expected)


def digests_of(contents: Sequence[int]) -> Digests:
    """Ids of rows, as deciders get them."""
    ids = [hashlib.sha256(b"%d" % content).digest() for content in contents]
    return digests(pa.table({"id": pa.array(ids, pa.binary())}))


def numbered(count: int) -> Digests:
    """Ids of as many texts."""
    return digests_of(range(count))


def in_spans(
    texts: Sequence[Sequence[str]],
    threshold: float,
    cuts: Sequence[int],
    partitions: int,
    most_pairs: int,
) -> list[tuple[int, float] | None]:
    """For each text the earlier kept text that it repeats, with their similarity."""
    sets = hash_sets(texts)
    keys = band_keys(signatures(sets), *band_shape(threshold))
    comparisons = ShardedComparisons(LocalShards(partitions), "near", threshold)
    ids = numbered(len(texts))
    found: list[tuple[int, float] | None] = [None] * len(texts)
    for start, stop in pairwise([0, *sorted(cuts), len(texts)]):
        span = Span(start, ids[start:stop], sets[start:stop], keys[start:stop])
        for each in offer(span, comparisons, most_pairs):
            found[each.number] = (each.earlier, each.similarity)
            (named,) = comparisons.ids(np.array([each.earlier], np.uint32))
            assert named == ids[each.earlier].tobytes().hex()
    return found


def alone(texts: Sequence[Sequence[str]], threshold: float) -> list[tuple[int, float] | None]:
    found = NearDuplicates(threshold).offer_batch([str(i) for i in range(len(texts))], texts)
    return [None if each is None else (int(each.id), each.similarity) for each in found]


@st.composite
def similar_texts(draw: st.DrawFn) -> list[list[str]]:
    """Texts of which many are changed copies, and copies of copies."""
    seed = draw(st.integers(0, 2**32 - 1))
    generator = random.Random(seed)
    texts = [[f"w{generator.randrange(50)}" for _ in range(40)]]
    for _ in range(draw(st.integers(0, 24))):
        text = list(generator.choice(texts))
        for position in generator.sample(range(40), generator.choice((0, 1, 1, 2, 3, 20))):
            text[position] = f"x{generator.randrange(50)}"
        texts.append(text)
    return texts


@settings(deadline=None)
@given(
    similar_texts(),
    st.sampled_from([0.5, 0.7, 0.8, 1.0]),
    st.integers(1, 4),
    st.sampled_from([0, 5, 1 << 20]),
    st.data(),
)
def test_spans_find_what_one_process_finds(
    texts: list[list[str]], threshold: float, partitions: int, most: int, data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=4))
    assert in_spans(texts, threshold, cuts, partitions, most) == alone(texts, threshold)


def test_a_chain_breaks_at_the_text_that_went() -> None:
    """B repeats A, C repeats B and not A: B goes, so C stays."""
    first = [f"w{number}" for number in range(100)]
    second = [*first[:96], "b1", "b2", "b3", "b4"]
    third = ["c1", "c2", "c3", "c4", *second[4:]]
    texts = [first, second, third]
    # Four new words at an end change 4 of 96 runs: neighbors share 92 of 100, the outer two 88 of
    # 104, which is 0.846.
    for cuts in ([], [1], [2], [1, 2]):
        found = in_spans(texts, 0.9, cuts, 2, 1 << 20)
        assert [each and each[0] for each in found] == [None, 0, None]
    assert found[1] is not None and found[1][1] == pytest.approx(92 / 100)


class Counted(ShardedComparisons):
    """Counts what is compared."""

    compared = 0

    def edges(self, span: Span, among: npt.NDArray[np.int64]) -> Edges:
        self.compared += self.pairs(span, among)
        return super().edges(span, among)


def test_copies_of_one_text_are_compared_once() -> None:
    """2,000 equal texts: no pair of them is a candidate, where all pairs would be two million."""
    texts = [[f"w{number}" for number in range(60)]] * 2000
    sets = hash_sets(texts)
    keys = band_keys(signatures(sets), *band_shape(0.8))
    comparisons = Counted(LocalShards(2), "near", 0.8)
    found = offer(Span(0, numbered(len(texts)), sets, keys), comparisons)
    assert [each.number for each in found] == list(range(1, 2000))
    assert {(each.earlier, each.similarity) for each in found} == {(0, 1.0)}
    assert comparisons.compared == 0


def test_a_large_cluster_of_similar_texts_takes_no_square_of_pairs() -> None:
    """600 variants of one text: with spans halved the pairs stay near their number."""
    generator = random.Random(4)
    base = [f"w{number}" for number in range(300)]
    texts = []
    for number in range(600):
        text = list(base)
        text[generator.randrange(300)] = f"x{number}"
        texts.append(text)
    sets = hash_sets(texts)
    keys = band_keys(signatures(sets), *band_shape(0.8))
    comparisons = Counted(LocalShards(3), "near", 0.8)
    found = offer(Span(0, numbered(len(texts)), sets, keys), comparisons, most_pairs=2000)
    assert [each.number for each in found] == list(range(1, 600))
    # Each band is common to most texts: all pairs at once would be near 21 * 600 * 599 / 2.
    assert comparisons.compared < 100_000
    assert [(e.earlier, e.similarity) for e in found] == [
        (int(each.id), each.similarity)
        for each in NearDuplicates(0.8).offer_batch([str(i) for i in range(600)], texts)
        if each is not None
    ]
