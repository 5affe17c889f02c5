"""Names of models that are paths here are not asked of the hub."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("transformers")

import transformers

from cass_ray.llm.pretrained import ModelError, load_config, load_tokenizer


@pytest.fixture(autouse=True)
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(name: str, **_: object) -> None:
        raise AssertionError(f"the hub was asked for {name}")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", asked)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", asked)


@pytest.mark.parametrize("name", ["out/model", "./model", "out/train/model", "a b", "/nowhere/m"])
def test_a_path_that_is_not_there_is_said_at_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out" / "modal").mkdir(parents=True)
    (tmp_path / "out" / ".hidden").mkdir()
    for load in (load_config, load_tokenizer):
        with pytest.raises(ModelError, match="no model at") as said:
            load(name)
        assert "hidden" not in str(said.value)
    if name == "out/model":
        assert "modal" in str(said.value)


@pytest.mark.parametrize("name", ["Qwen/Qwen2.5-Coder-1.5B", "gpt2", "out.2/model"])
def test_other_names_are_the_hubs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="the hub was asked"):
        load_config(name)
