"""What the backward pass recomputes changes no gradient, and as much is kept as fits."""

import pytest
import torch

from cass_ray.train.data.collate import Batch
from cass_ray.train.model import activation_checkpoint
from cass_ray.train.model.build import fresh_config, prepare
from cass_ray.train.settings import FreshModel, ModelSettings

SIZES = FreshModel(
    vocab_size=512,
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=96,
    max_position_embeddings=256,
)


def make_prepared(fp8: bool = False):
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    dtype = torch.bfloat16 if fp8 else torch.float32
    model = AutoModelForCausalLM.from_config(fresh_config(SIZES, 512, 1, 0), dtype=dtype)
    prepared = prepare(model, ModelSettings(base="unused", fp8=fp8), torch.device("cpu"))
    prepared.model.train()
    return prepared


def make_batch(lengths: tuple[int, ...]) -> Batch:
    generator = torch.Generator().manual_seed(1)
    total = sum(lengths)
    ids = torch.randint(0, 512, (1, total), generator=generator)
    where = torch.arange(total // 2, total - 1)
    return Batch(
        input_ids=ids,
        position_ids=torch.cat([torch.arange(length) for length in lengths])[None],
        lengths=lengths,
        predictors=where,
        targets=ids[0][where + 1],
        examples=(),
    )


def gradients(recomputed: int) -> tuple[float, torch.Tensor]:
    prepared = make_prepared()
    activation_checkpoint.recompute_layers(prepared.model.layers, recomputed)
    loss = prepared.model(make_batch((40, 24)))
    loss.backward()
    parts = [p.grad.reshape(-1) for p in prepared.model.parameters()]
    return float(loss), torch.cat(parts)


@pytest.mark.parametrize("recomputed", [1, 2, 3])
def test_recomputing_changes_no_gradient(recomputed):
    loss, expected = gradients(0)
    again, found = gradients(recomputed)
    assert again == loss
    torch.testing.assert_close(found, expected)


def products_of_the_backward_pass(recomputed: int) -> int:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        products = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            Count.products += func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default)
            return func(*args, **(kwargs or {}))

    prepared = make_prepared()
    activation_checkpoint.recompute_layers(prepared.model.layers, recomputed)
    loss = prepared.model(make_batch((40, 24)))
    with Count():
        loss.backward()
    return Count.products


@pytest.mark.parametrize("recomputed", [1, 2, 3])
def test_so_many_layers_are_computed_again(recomputed):
    # Seven products a layer; the last one's value (down) is never needed.
    again = products_of_the_backward_pass(recomputed) - products_of_the_backward_pass(0)
    assert again == 6 * recomputed


@pytest.mark.parametrize(
    ("sizes", "share", "recomputed"),
    [
        ([90], 1.0, 0),  # all fits
        ([110, 95], 0.75, 1),  # a quarter of three layers, rounded
        ([float("inf"), 120, 100], 0.5, 2),  # the first trial ran out of memory
        ([200, 180, 160, 140, 120, 99], 0.0, 3),
        ([200] * 6, 0.0, 3),  # none fits: training itself will say so
    ],
)
def test_as_much_is_kept_as_fits_on_the_smallest_worker(sizes, share, recomputed):
    layers = make_prepared().model.layers
    left, asked = list(sizes), []

    def trial() -> float:
        asked.append(sum(layer.gradient_checkpointing for layer in layers))
        return left.pop(0) / 2

    note = activation_checkpoint.keep_what_fits(
        layers, trial, 100.0, compiled=False, all_max=lambda size: 2 * size
    )
    assert not left
    assert activation_checkpoint.SHARES[len(asked) - 1] == share
    assert sum(layer.gradient_checkpointing for layer in layers) == recomputed
    assert ("no trial fits" in note) is (sizes[-1] > 100)
