"""Products of the same activations made as one."""

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from cass_ray.train.data.collate import Batch
from cass_ray.train.model.build import build_model, fresh_config, prepare
from cass_ray.train.settings import FreshModel, ModelSettings
from recipes.small.fused_products import fuse_products

SIZES = FreshModel(
    family="qwen3",
    vocab_size=512,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=24,
    intermediate_size=96,
    max_position_embeddings=128,
)
SETTINGS = ModelSettings(fresh=SIZES, liger=False, precision="fp32")


def _batch():
    ids = torch.randint(0, 512, (1, 50), generator=torch.Generator().manual_seed(1))
    where = torch.tensor([10, 11, 28, 40, 41])
    places = torch.cat([torch.arange(30), torch.arange(20)])[None]
    return Batch(ids, places, (30, 20), where, ids[0][where + 1], ())


def _gradients(fused):
    device = torch.device("cpu")
    config = fresh_config(SIZES, 512, 0, 1)
    model = build_model(SETTINGS, config=config, seed=0, device=device)
    for name, weight in model.named_parameters():  # a fresh model adds nothing to its stream
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            torch.nn.init.normal_(weight, std=0.1, generator=torch.Generator().manual_seed(2))
    if fused:
        assert fuse_products(list(model.get_decoder().layers))
    prepared = prepare(model, SETTINGS, device)
    prepared.model(_batch()).backward()
    return {name: weight.grad for name, weight in prepared.model.named_parameters()}


def test_every_gradient_is_that_of_the_separate_products():
    plain, fused = _gradients(False), _gradients(True)
    assert plain.keys() == fused.keys()
    for name, gradient in plain.items():
        assert gradient.abs().sum() > 0, name
        torch.testing.assert_close(fused[name], gradient)


def test_another_family_stays_as_it_is():
    config = Qwen2Config(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    layers = list(Qwen2ForCausalLM(config).get_decoder().layers)
    kind = type(layers[0].mlp)
    assert not fuse_products(layers)
    assert type(layers[0].mlp) is kind
