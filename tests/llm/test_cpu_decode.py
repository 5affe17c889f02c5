"""Decoding with int8 weights in C++: the steps are PyTorch's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from transformers import AutoModelForCausalLM, Qwen2Config, Qwen3Config  # noqa: E402

from cass_ray.llm import cpu_decode  # noqa: E402
from cass_ray.llm.batch_decode import BatchDecoder, DecodeState  # noqa: E402
from cass_ray.llm.int8_weights import (  # noqa: E402
    Int8Linear,
    load_int8_copy,
    quantized,
    write_int8_copy,
)

pytestmark = pytest.mark.skipif(not cpu_decode.is_at_hand(), reason="no clang")

END = 2
SIZES = {
    "vocab_size": 301,
    "hidden_size": 144,  # two vectors of 64 and a rest
    "intermediate_size": 90,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e5},
}
CONFIGS = {
    "qwen3": Qwen3Config(head_dim=16, tie_word_embeddings=True, **SIZES),
    # It has biases and no norms of the heads; here no head of the embedding's weights either.
    "qwen2": Qwen2Config(tie_word_embeddings=False, **SIZES),
}


def copy_of(config: Any, folder: Path) -> Any:
    torch.manual_seed(0)
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            parameter.normal_(std=0.3) if parameter.ndim == 2 or "bias" in name else None
            parameter.uniform_(0.5, 1.5) if "norm" in name else None
    made.save_pretrained(folder / "model")
    write_int8_copy(folder / "model", folder / "int8")
    return load_int8_copy(folder / "int8", config, "cpu").eval()


def states_behind_steps(decoder: BatchDecoder, questions: list[list[int]]) -> list[Any]:
    """What the layers make of the last token of each question."""
    with torch.inference_mode():
        state = DecodeState(decoder, questions, 4, [0.0] * len(questions), END)
        decoder._fill(state, questions)
        x = torch.nn.functional.embedding(state.token, decoder._embedding)
        cos, sin = decoder._cos[state.place], decoder._sin[state.place]
        assert decoder._compiled is not None
        made = decoder._compiled(x, state.place, (cos, sin), state.keys, state.values)
        state.keys[0][0, :, state.place[0]] = 7  # by torch the new keys are put there again
        plain = decoder._through_layers(x, cos[:, None], sin[:, None], state)
    return [made, plain]


@pytest.mark.parametrize("name", CONFIGS)
def test_the_layers_make_what_they_make_in_torch(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = copy_of(CONFIGS[name], tmp_path)
    decoder = BatchDecoder(model)
    monkeypatch.setattr(Int8Linear, "forward", _by_torch)
    questions = [torch.randint(3, 301, (size,)).tolist() for size in (70, 5, 33)]
    made, plain = states_behind_steps(decoder, questions)
    # Sums of integers are exact; what is left is the order in which norms and attention add, and
    # values that lie between two steps.
    assert (made - plain).norm() < 2e-3 * plain.norm()
    [alone, _] = states_behind_steps(decoder, questions[2:])
    assert torch.equal(alone[0], made[2])


def _by_torch(module: Int8Linear, x: Any) -> Any:
    return module._by_torch(x.reshape(-1, module.in_features)).view(*x.shape[:-1], -1)


def test_a_model_with_biases_keeps_them(tmp_path: Path) -> None:
    copy = copy_of(CONFIGS["qwen2"], tmp_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    for found, wanted in zip(copy.model.layers, model.model.layers, strict=True):
        assert torch.equal(found.self_attn.q_proj.bias, wanted.self_attn.q_proj.bias)
        assert wanted.self_attn.q_proj.bias.abs().min() > 0
        assert found.mlp.up_proj.bias is None


@pytest.mark.parametrize(("outs", "ins", "rows"), [(7, 130, 3), (4, 64, 1), (9, 5, 8)])
def test_a_product_is_torchs(outs: int, ins: int, rows: int) -> None:
    torch.manual_seed(1)
    module = Int8Linear(*quantized(torch.randn(outs, ins)), torch.randn(outs))
    x = torch.randn(rows, ins)
    torch.testing.assert_close(cpu_decode.multiply(module, x), module._by_torch(x))


def test_the_largest_sums_do_not_overflow() -> None:
    module = Int8Linear(torch.full((4, 4096), -127, dtype=torch.int8), torch.ones(4))
    [made] = cpu_decode.multiply(module, torch.full((1, 4096), -127.0))
    assert made.tolist() == [127 * 127 * 4096] * 4  # below 2**24 * 4: floats hold it
