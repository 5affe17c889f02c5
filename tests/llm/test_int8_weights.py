"""An int8 copy: what a row loses, and that the copy answers as the model does."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM  # noqa: E402

from cass_ray.llm.int8_weights import (  # noqa: E402
    INT8_FILE,
    Int8Linear,
    load_int8_copy,
    quantized,
    restored,
    write_int8_copy,
)
from cass_ray.llm.pretrained import ModelError  # noqa: E402

VALUES = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "tie_word_embeddings": True,
}
SIZES = Qwen3Config(**VALUES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    made = tmp_path_factory.mktemp("model")
    Qwen3ForCausalLM(SIZES).save_pretrained(made)
    return made


def test_a_row_is_kept_to_half_a_step_of_its_own_scale() -> None:
    matrix = torch.tensor([[1.27, -0.634, 0.0], [127.0, 0.4, 0.6]])
    integers, scales = quantized(matrix)
    # By hand: steps of 0.01 and of 1.
    assert integers.tolist() == [[127, -63, 0], [127, 0, 1]]
    assert scales.tolist() == pytest.approx([0.01, 1.0])
    assert restored(integers, scales, torch.float32)[0].tolist() == pytest.approx([1.27, -0.63, 0])


def test_a_row_of_zeros_stays_zero() -> None:
    assert restored(*quantized(torch.zeros(2, 3)), torch.float32).abs().max() == 0


def test_the_copy_is_small_and_its_logits_are_close(folder: Path, tmp_path: Path) -> None:
    write_int8_copy(folder, tmp_path / "int8")
    size = (tmp_path / "int8" / INT8_FILE).stat().st_size
    assert size < 0.4 * (folder / "model.safetensors").stat().st_size  # fp32: a quarter, and names
    model = Qwen3ForCausalLM.from_pretrained(folder).eval()
    copy = load_int8_copy(tmp_path / "int8", SIZES, "cpu").eval()
    ids = torch.arange(40)[None]
    with torch.no_grad():
        expected, found = model(ids).logits, copy(ids).logits
    assert (found - expected).norm() < 0.05 * expected.norm()
    products = [each for each in copy.modules() if isinstance(each, Int8Linear)]
    assert len(products) == 2 * 7 + 1  # seven a layer, and the head


def test_a_product_is_that_of_the_matrix() -> None:
    # Rows and inputs that int8 holds exactly: the largest value of each is 127 steps.
    rows, x = torch.tensor([[127.0, -5.0], [12.7, 0.3]]), torch.tensor([[127.0, 10.0]])
    made = Int8Linear(*quantized(rows))(x)
    assert made.tolist()[0] == pytest.approx([127 * 127 - 50, 12.7 * 127 + 3], rel=0.01)


def test_weights_of_another_model_are_named(folder: Path, tmp_path: Path) -> None:
    write_int8_copy(folder, tmp_path / "int8")
    larger = Qwen3Config(**{**VALUES, "num_hidden_layers": 3})
    with pytest.raises(ModelError, match=r"model\.layers\.2"):
        load_int8_copy(tmp_path / "int8", larger, "cpu")


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\*\.safetensors"):
        write_int8_copy(tmp_path, tmp_path / "int8")


def test_biases_are_kept(tmp_path: Path) -> None:
    config = Qwen2Config(**{name: value for name, value in VALUES.items() if name != "head_dim"})
    model = Qwen2ForCausalLM(config)
    with torch.no_grad():
        model.model.layers[1].self_attn.q_proj.bias.normal_()
    model.save_pretrained(tmp_path / "model")
    write_int8_copy(tmp_path / "model", tmp_path / "int8")
    copy = load_int8_copy(tmp_path / "int8", config, "cpu")
    given = torch.zeros(1, 32)
    for name in ("q_proj", "o_proj"):  # the second has none
        made, wanted = (
            getattr(each.model.layers[1].self_attn, name)(given) for each in (copy, model)
        )
        torch.testing.assert_close(made, wanted)
