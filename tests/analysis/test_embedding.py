"""Points of an encoder from a folder, against the same model asked by its own library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cass_ray.analysis.embedding import vectors

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

WORDS = ["nvidia", "amd", "ffma", "ldg", "exit"]


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """An encoder of two layers with random weights, as any other is saved."""
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    tokenizer = transformers.BertTokenizerFast(vocab_file=str(vocabulary))
    torch.manual_seed(1)
    shape = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    folder = tmp_path / "encoder"
    transformers.BertModel(shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_an_encoder_from_a_folder(encoder: Path) -> None:
    made = vectors([{"nvidia ffma": 2, "nvidia ldg": 3}, {"amd exit": 1}], encoder)
    ask = transformers.pipeline("feature-extraction", model=str(encoder), device="cpu")
    for row, text in zip(made, ["nvidia ldg nvidia ffma", "amd exit"], strict=True):
        mean = np.asarray(ask(text)[0]).mean(axis=0)  # most frequent mnemonics first
        np.testing.assert_allclose(row, mean / np.linalg.norm(mean), atol=1e-6)
