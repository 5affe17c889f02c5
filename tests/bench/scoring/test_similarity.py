"""chrF by hand: character n-grams without white space, up to six, recall weighted twice."""

from __future__ import annotations

import pytest

from cass_ray.bench.scoring.similarity import chrf


def test_equal_texts() -> None:
    assert chrf("int main() { return 0; }", "int main() { return 0; }") == pytest.approx(100.0)


def test_white_space_does_not_count() -> None:
    assert chrf("a = b;\n\n  c();", "a=b; c();") == pytest.approx(100.0)


def test_nothing_in_common() -> None:
    assert chrf("xyz", "abc") == 0.0


def test_a_short_case_by_hand() -> None:
    # "abcd" against "abce". Precision and recall are equal, as the lengths are: 3/4 of the
    # characters, 2/3 of the pairs (ab, bc), 1/2 of the triples (abc), 0/1 of the quadruples. There
    # are no longer n-grams, and orders without any are left out of the mean.
    expected = (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4
    assert chrf("abcd", "abce") == pytest.approx(100 * expected, abs=1e-6)


def test_recall_weighs_twice() -> None:
    # "ab" against "abab". Orders 1 and 2 only: the answer has no longer n-grams.
    # Precision 2/2 and 1/1; recall 2/4 and 1/3 (ab, ba, ab).
    precision, recall = 1.0, (1 / 2 + 1 / 3) / 2
    expected = 5 * precision * recall / (4 * precision + recall)
    assert chrf("ab", "abab") == pytest.approx(100 * expected, abs=1e-6)
