"""A model that is cut into parts is the same when they are joined."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from recipes.small.parts import cut, join


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(random.Random(1).randbytes(5001))
    (folder / "config.json").write_text('{"hidden_size": 1024}')
    (folder / "empty.txt").write_text("")
    return folder


def test_joined_parts_are_the_files(model: Path, tmp_path: Path) -> None:
    parts = cut(model, tmp_path / "parts", 700)
    assert [path.name for path in parts[:2]] == ["part.00", "part.01"]
    assert max(path.stat().st_size for path in parts) == 700
    made = join(tmp_path / "parts", tmp_path / "joined")
    assert {path.name: path.read_bytes() for path in made} == {
        path.name: path.read_bytes() for path in model.iterdir()
    }


def test_a_missing_part_is_an_error(model: Path, tmp_path: Path) -> None:
    parts = cut(model, tmp_path / "parts", 700)
    parts[-1].unlink()
    with pytest.raises(ValueError, match="missing"):
        join(tmp_path / "parts", tmp_path / "joined")
    parts[1].unlink()
    with pytest.raises(ValueError, match="missing"):
        join(tmp_path / "parts", tmp_path / "joined")


def test_another_models_part_is_an_error(model: Path, tmp_path: Path) -> None:
    cut(model, tmp_path / "parts", 6000)
    (model / "config.json").write_text('{"hidden_size": 1152}')
    cut(model, tmp_path / "others", 6000)
    whole = bytearray((tmp_path / "parts/part.00").read_bytes())
    other = (tmp_path / "others/part.00").read_bytes()
    whole[400:] = other[400:]
    (tmp_path / "parts/part.00").write_bytes(whole)
    with pytest.raises(ValueError, match=r"config\.json is not what it was"):
        join(tmp_path / "parts", tmp_path / "joined")


def test_weights_may_be_cut_as_bf16(model: Path, tmp_path: Path) -> None:
    whole = {"a": torch.tensor([1.0, 1.001, -3e38]), "b": torch.arange(3)}
    save_file(whole, model / "model.safetensors", {"format": "pt"})
    cut(model, tmp_path / "parts", 700, bf16=True)
    join(tmp_path / "parts", tmp_path / "joined")
    made = load_file(tmp_path / "joined/model.safetensors")
    # bf16 has 8 bits of a number: beside 1 the next one is 1.0078125.
    assert made["a"].dtype == torch.bfloat16
    assert made["a"][:2].tolist() == [1.0, 1.0]
    assert made["a"][2].item() == pytest.approx(-3e38, rel=0.004)
    assert torch.equal(made["b"], whole["b"])
