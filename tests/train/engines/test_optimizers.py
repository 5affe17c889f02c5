"""Groups of parameters, and how much of the vocabulary's logits is held at once."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.train.engines.optimizers import split_groups
from cass_ray.train.model.kernels import logits_budget


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 60))
def test_groups_keep_order_and_options_and_stay_under_the_limit(sizes, most):
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes]
    parts = split_groups([{"params": parameters, "weight_decay": 0.1}], most)
    assert [id(p) for part in parts for p in part["params"]] == [id(p) for p in parameters]
    assert all(part["weight_decay"] == 0.1 for part in parts)
    for part in parts:
        assert len(part["params"]) == 1 or sum(p.numel() for p in part["params"]) <= most
    for left, right in pairwise(parts):
        assert sum(p.numel() for p in left["params"]) + right["params"][0].numel() > most


def rows_at_once(predictions: int, width: int, vocabulary: int, budget: int) -> int:
    """Of Liger's fused linear cross entropy (its ``fused_linear_cross_entropy_forward``)."""
    parts = -(-vocabulary // (budget * width))
    rows = -(-predictions // parts)
    return min(1 << (rows - 1).bit_length(), predictions)


@given(st.integers(1, 200_000), st.sampled_from([(1536, 151936), (3584, 152064), (768, 4096)]))
def test_logits_are_as_many_rows_as_a_gibibyte_of_elements_holds(predictions, shape):
    rows = rows_at_once(predictions, *shape, logits_budget(predictions, *shape))
    default = rows_at_once(predictions, *shape, 1)
    assert rows >= default
    assert rows * shape[1] <= 1 << 30 or rows == default
    assert rows == predictions or rows * shape[1] > 1 << 28
