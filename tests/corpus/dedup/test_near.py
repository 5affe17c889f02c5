"""Shingles, signatures, the index and near duplicates against their definitions."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.corpus.dedup.bands import BINS, BandIndex, band_keys, band_shape, signatures
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.dedup.shingles import MOST_HASHES, hash_sets, jaccard, source_tokens

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=40)


def runs(tokens: list[str], length: int = 5) -> set[tuple[str, ...]]:
    if len(tokens) < length:
        return {tuple(tokens)}
    return {tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)}


def similarity(first: list[str], second: list[str]) -> float:
    """Jaccard similarity by definition."""
    one, two = runs(first), runs(second)
    return len(one & two) / len(one | two)


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_sets_have_one_hash_a_run_and_do_not_depend_on_the_batch(texts: list[list[str]]) -> None:
    sets = hash_sets(texts)
    assert [len(each) for each in sets] == [len(runs(text)) for text in texts]
    for each, text in zip(sets, texts, strict=True):
        assert each.tolist() == sorted(set(each.tolist()))
        assert each.tolist() == hash_sets([text])[0].tolist()


@given(WORDS, WORDS)
def test_jaccard_is_that_of_the_runs(first: list[str], second: list[str]) -> None:
    one, two = hash_sets([first, second])
    assert jaccard(one, two) == pytest.approx(similarity(first, second))


def test_jaccard_of_long_texts_is_close() -> None:
    generator = random.Random(1)
    first = [str(generator.random()) for _ in range(6000)]
    second = [word if generator.random() > 0.02 else "x" for word in first]
    one, two = hash_sets([first, second])
    assert len(one) == MOST_HASHES
    # Five standard errors of an estimate from 2,048 hashes.
    assert jaccard(one, two) == pytest.approx(similarity(first, second), abs=5 * 0.011)


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        ("a+b", ["a", "+", "b"]),
        ("a // b\nc /* d\n */ e", ["a", "c", "e"]),
        ('"// no" /* yes */', ['"', "/", "/", "no", '"']),
        ("'\"' // x", ["'", '"', "'"]),
        ("/* open", []),
    ],
)
def test_tokens(source: str, tokens: list[str]) -> None:
    assert source_tokens(source) == tokens


def test_signatures_agree_as_often_as_sets_do() -> None:
    """The share of equal bins estimates the Jaccard similarity, for short texts too."""
    generator = random.Random(2)
    for size in (30, 100, 1000):
        errors = []
        for _ in range(60):
            first = [str(generator.random()) for _ in range(size)]
            second = [word if generator.random() > 0.03 else "x" for word in first]
            one, two = hash_sets([first, second])
            rows = signatures([one, two])
            errors.append(float(np.mean(rows[0] == rows[1])) - jaccard(one, two))
        # One signature has a standard error below 0.09; the mean of 60 is five times as good.
        assert abs(float(np.mean(errors))) < 0.05


def test_signature_of_one_hash_fills_every_bin() -> None:
    (row,) = signatures([np.array([7], np.uint32)])
    assert row.tolist() == [7] * BINS


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), max_size=30), max_size=6),
    st.lists(st.integers(0, 25), max_size=20),
)
def test_index_is_a_multimap(batches: list[list[tuple[int, int]]], wanted: list[int]) -> None:
    index = BandIndex()
    expected = defaultdict(list)
    for batch in batches:
        for key, position in batch:
            expected[key].append(position)
        keys = np.array([key for key, _ in batch], np.uint64)
        index.insert(keys, np.array([position for _, position in batch], np.uint32))
    places, positions = index.find(np.array(wanted, np.uint64))
    found = sorted(zip(places.tolist(), positions.tolist(), strict=True))
    assert found == sorted((i, p) for i, key in enumerate(wanted) for p in expected[key])
    assert len(index) == sum(map(len, batches))


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.8, 0.95, 1.0])
def test_bands_find_a_pair_at_the_threshold(threshold: float) -> None:
    bands, rows = band_shape(threshold)
    assert bands * rows <= BINS
    assert 1 - (1 - threshold**rows) ** bands >= 0.995
    keys = band_keys(signatures(hash_sets([["a", "b"], ["a", "b"]])), bands, rows)
    assert keys.shape == (2, bands)
    assert keys[0].tolist() == keys[1].tolist() and len(set(keys[0].tolist())) == bands


def test_found_are_those_of_comparing_all_pairs(tmp_path: Path) -> None:
    """400 texts, most of them changes of 60: the same verdicts as by brute force."""
    generator = random.Random(3)
    bases = [[f"w{generator.randrange(900)}" for _ in range(200)] for _ in range(60)]
    texts = []
    for _ in range(400):
        text = list(generator.choice(bases))
        for position in generator.sample(range(200), generator.randrange(9)):
            text[position] = f"x{generator.randrange(9000)}"
        texts.append(text)
    kept: list[int] = []
    expected: list[str | None] = []
    for number, text in enumerate(texts):
        earlier = (i for i in kept if similarity(texts[i], text) >= 0.8)
        match = next(earlier, None)
        expected.append(None if match is None else str(match))
        if match is None:
            kept.append(number)
    duplicates = NearDuplicates(0.8, folder=tmp_path)
    found: list[str | None] = []
    for start in range(0, 400, 64):
        names = [str(number) for number in range(start, min(start + 64, 400))]
        batch = duplicates.offer_batch(names, texts[start : start + 64])
        found += [similar.id if similar is not None else None for similar in batch]
    assert 60 <= len(kept) < 350
    assert found == expected
