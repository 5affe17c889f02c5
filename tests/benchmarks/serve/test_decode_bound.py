"""The bound of decoding by memory bandwidth."""

from __future__ import annotations

import pytest

from benchmarks.serve.decode_bound import cache_bytes, tokens_per_second, weight_bytes
from benchmarks.serve.shapes import SHAPES, VOCABULARY


# Parameters without embedding and head, from the models' cards.
@pytest.mark.parametrize(("shape", "billions"), [("1.5b", 1.31), ("7b", 6.53)])
def test_weights_are_those_of_the_models_cards(shape: str, billions: float) -> None:
    head = 2 * VOCABULARY * SHAPES[shape]["hidden"]
    assert (weight_bytes(SHAPES[shape], VOCABULARY) - head) / 2e9 == pytest.approx(
        billions, abs=5e-3
    )


def test_the_bound_is_the_bytes_of_a_step_over_the_bandwidth() -> None:
    assert cache_bytes(SHAPES["7b"]) == 57_344  # 28 layers x (k, v) x 4 heads x 128 x 2 bytes
    # Without a cache a step of one request reads the weights; 14.14 GB at 1.414 TB/s: 10 ms.
    alone = tokens_per_second(SHAPES["7b"], VOCABULARY, 1, 0, 1.414e12)
    assert alone == pytest.approx(100, rel=0.01)
    # Caches of 14.14 GB in all, 246,600 tokens, halve it.
    many = tokens_per_second(SHAPES["7b"], VOCABULARY, 100, 2466, 1.414e12)
    assert many == pytest.approx(5_000, rel=0.01)
