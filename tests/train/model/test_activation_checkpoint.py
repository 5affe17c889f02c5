"""Selective recomputation: gradients do not change, memory goes where it pays."""

import pytest
import torch

from cass_ray.train.data.collate import Batch
from cass_ray.train.model import activation_checkpoint
from cass_ray.train.model.activation_checkpoint import Keep
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


def gradients(keep: Keep) -> tuple[float, torch.Tensor]:
    prepared = make_prepared()
    activation_checkpoint.apply(prepared.model.layers, [keep] * 3, SIZES.intermediate_size)
    loss = prepared.model(make_batch((40, 24)))
    loss.backward()
    parts = [p.grad.reshape(-1) for p in prepared.model.parameters()]
    return float(loss), torch.cat(parts)


@pytest.mark.parametrize("keep", [Keep.NOTHING, Keep.ATTENTION, Keep.PRODUCTS])
def test_recomputing_changes_no_gradient(keep):
    loss, expected = gradients(Keep.EVERYTHING)
    again, found = gradients(keep)
    assert again == loss
    torch.testing.assert_close(found, expected)


PLAIN = (torch.ops.aten.mm.default, torch.ops.aten.addmm.default)
FP8 = (torch.ops.aten._scaled_mm.default,)


def saved_operations(keep: Keep, fp8: bool = False) -> int:
    """Matrix products that the backward pass runs; with ``fp8`` those in FP8 alone."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        products = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func in (FP8 if fp8 else PLAIN):
                Count.products += 1
            return func(*args, **(kwargs or {}))

    prepared = make_prepared(fp8)
    activation_checkpoint.apply(prepared.model.layers, [keep] * 3, SIZES.intermediate_size)
    loss = prepared.model(make_batch((40, 24)))
    with Count():
        loss.backward()
    return Count.products


def test_kept_products_are_not_computed_again():
    # Seven products a layer (q, k, v, o, gate, up, down); the last one's value is never needed.
    everything = saved_operations(Keep.EVERYTHING)
    assert saved_operations(Keep.PRODUCTS) == everything
    assert saved_operations(Keep.NOTHING) == everything + 3 * 6


def test_kept_products_in_fp8_are_not_computed_again():
    # Four a layer have no bias (o, gate, up, down).
    everything = saved_operations(Keep.EVERYTHING, fp8=True)
    assert everything == 3 * 4 * 2
    assert saved_operations(Keep.PRODUCTS, fp8=True) == everything
    assert saved_operations(Keep.NOTHING, fp8=True) == everything + 3 * 4


def test_layers_reach_a_level_together_and_the_last_ones_first():
    cost = {Keep.NOTHING: 1, Keep.ATTENTION: 3, Keep.PRODUCTS: 10, Keep.EVERYTHING: 20}
    assert activation_checkpoint.assign(3, cost, 3) == [Keep.NOTHING] * 3
    assert activation_checkpoint.assign(3, cost, 7) == [
        Keep.NOTHING,
        Keep.ATTENTION,
        Keep.ATTENTION,
    ]
    assert activation_checkpoint.assign(3, cost, 9) == [Keep.ATTENTION] * 3
    assert activation_checkpoint.assign(3, cost, 23) == [
        Keep.ATTENTION,
        Keep.PRODUCTS,
        Keep.PRODUCTS,
    ]
    assert activation_checkpoint.assign(3, cost, 60) == [Keep.EVERYTHING] * 3
