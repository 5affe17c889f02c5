import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.corpus.dedup.exact import ExactDuplicates
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.dedup.shingles import hash_sets, source_tokens


def digest(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


@given(st.lists(st.integers(0, 30), max_size=100))
def test_exact_duplicates_are_those_of_a_set(numbers: list[int]) -> None:
    seen: set[int] = set()
    duplicates = ExactDuplicates()
    for number in numbers:
        expected = digest(number) if number in seen else None
        assert duplicates.offer(digest(number)) == expected
        seen.add(number)
    assert len(duplicates) == len(seen)


def test_exact_duplicates_survive_growth() -> None:
    duplicates = ExactDuplicates()
    assert not any(duplicates.offer(digest(number)) for number in range(5000))
    assert all(duplicates.offer(digest(number)) for number in range(5000))


@pytest.mark.parametrize("row_id", ["", "ab", "0" * 64, "x" * 64, "a" * 66])
def test_ids_that_are_no_digest(row_id: str) -> None:
    with pytest.raises(ValueError):
        ExactDuplicates().offer(row_id)


def program(tokens: list[int]) -> str:
    return " ".join(f"t{token}" for token in tokens)


def jaccard(first: str, second: str) -> float:
    """By definition, on the text of the shingles."""
    sets = []
    for source in (first, second):
        words = source.split()
        sets.append({tuple(words[i : i + 5]) for i in range(len(words) - 4)})
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def _hashes(source: str) -> list[int]:
    return [int(each) for each in hash_sets([source_tokens(source)], 5)[0]]


def test_shingles_by_hand() -> None:
    # a b c d e f has two runs of five; layout and comments do not count; repeats count once.
    assert len(_hashes("a b c d e f")) == 2
    spaced = _hashes("a/* */b\nc d\te // f\nf")
    assert _hashes("a b c d e f") == spaced
    assert len(_hashes("a a a a a a a")) == 1
    assert len(_hashes("a b")) == len(_hashes("")) == 1


def test_near_duplicates_by_hand() -> None:
    base = list(range(200))
    near = program([*base[:100], 999, *base[101:]])  # 196 shingles, 5 replaced: 191 / 201 = 0.95
    far = program([*base[:80], *range(1000, 1120)])  # 76 in common of 316: 0.24
    assert jaccard(program(base), near) == pytest.approx(191 / 201)
    assert jaccard(program(base), far) == pytest.approx(76 / 316)
    duplicates = NearDuplicates(threshold=0.8)
    assert duplicates.offer("base", program(base)) is None
    assert duplicates.offer("near", near) == "base"
    assert duplicates.offer("far", far) is None
    assert duplicates.offer("again", program(base)) == "base"
    assert duplicates.offer("far again", far) == "far"


def test_planted_duplicates_are_found() -> None:
    """Pairs above 0.9 and below 0.65 are more than three standard errors from the threshold."""
    generator = random.Random(7)
    duplicates = NearDuplicates(threshold=0.8)
    missed = false = close = distant = 0
    for number in range(120):
        base = [generator.randrange(10_000) for _ in range(300)]
        changed = list(base)
        for position in generator.sample(range(300), generator.randrange(1, 24)):
            changed[position] = generator.randrange(10_000, 20_000)
        similarity = jaccard(program(base), program(changed))
        assert duplicates.offer(f"{number} base", program(base)) is None
        found = duplicates.offer(f"{number} changed", program(changed))
        assert found in (None, f"{number} base")
        if similarity > 0.9:
            close += 1
            missed += found is None
        elif similarity < 0.65:
            distant += 1
            false += found is not None
    assert close > 10 and distant > 10
    assert (missed, false) == (0, 0)


def test_near_duplicates_are_deterministic() -> None:
    generator = random.Random(3)
    bases = [[generator.randrange(100) for _ in range(60)] for _ in range(5)]
    sources = []
    for _ in range(60):
        changed = list(generator.choice(bases))
        for position in generator.sample(range(60), 2):
            changed[position] = generator.randrange(100)
        sources.append(program(changed))
    runs = []
    for _ in range(2):
        duplicates = NearDuplicates(threshold=0.5)
        runs.append([duplicates.offer(str(n), source) for n, source in enumerate(sources)])
    assert runs[0] == runs[1]
    assert any(runs[0]) and not all(runs[0])


@pytest.mark.parametrize("threshold", [0.0, 1.1, -1.0])
def test_thresholds_out_of_range(threshold: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        NearDuplicates(threshold=threshold)
