"""The measurement of decoding, on a CPU with a tiny shape."""

from __future__ import annotations

import pytest
import torch

from benchmarks.serve.batch_decoding import measured


@pytest.mark.skipif(torch.cuda.is_available(), reason="on a GPU its real sizes are measured")
def test_time_without_the_prompt_gives_the_rate() -> None:
    row = measured("tiny", 20, 2, 6, few=2)
    few, all_of_it = row["seconds"]
    assert row["tokens_per_second"] == pytest.approx(2 * (6 - 2) / (all_of_it - few))
    assert row["milliseconds_a_step"] == pytest.approx(1000 * (all_of_it - few) / 4)
    assert row["bound"] is None and row["share"] is None
