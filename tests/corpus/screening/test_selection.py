"""Splits, mixture and token limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from cass_ray.cache import digest
from cass_ray.config import SettingsError
from cass_ray.corpus.screening.selection import (
    Selection,
    SelectionSettings,
    copies_of,
    load_tokenizer,
    split_of,
)
from cass_ray.dataset.row import Origin

tokenizers = pytest.importorskip("tokenizers")


def row(number: int, **columns: Any) -> dict[str, Any]:
    return {
        "id": digest([str(number)]),
        "origin": "repository",
        "repository": f"owner/{number % 400}",
        "reason": "",
        "cuda_source": "one two three",
        "hip_source": "one two",
        "cuda_device": "MOV R1 R2",
        "hip_device": "s_endpgm",
        **columns,
    }


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """One token a word."""
    model = tokenizers.models.WordLevel({"?": 0}, unk_token="?")
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_repositories_are_not_divided() -> None:
    settings = SelectionSettings(validation=0.25)
    splits: dict[str, set[str]] = {}
    for number in range(2000):
        each = row(number)
        splits.setdefault(each["repository"], set()).add(split_of(each, settings))
    assert all(len(found) == 1 for found in splits.values())
    held_out = sum(found == {"validation"} for found in splits.values())
    assert 70 <= held_out <= 130  # binomial, n = 400, p = 0.25: 100 +- 3.5 standard deviations


def test_synthetic_programs_are_divided_one_by_one() -> None:
    settings = SelectionSettings(validation=0.5)
    rows = [row(n, origin="synthetic", repository="cass-ray/generate") for n in range(200)]
    assert {split_of(each, settings) for each in rows} == {"train", "validation"}


def test_seed_and_share() -> None:
    rows = [row(number) for number in range(400)]
    one, other = (SelectionSettings(validation=0.5, seed=seed) for seed in (1, 2))
    assert [split_of(each, one) for each in rows] != [split_of(each, other) for each in rows]
    assert {split_of(each, SelectionSettings(validation=0.0)) for each in rows} == {"train"}


def test_weights() -> None:
    settings = SelectionSettings(weights={Origin.REPOSITORY: 2.25, Origin.SYNTHETIC: 0.0})
    copies = [copies_of(row(number), settings) for number in range(4000)]
    assert set(copies) == {2, 3}
    # The mean of 4,000 draws of a fraction of 0.25 lies within 0.03 of it (4 standard deviations).
    assert sum(copies) / 4000 == pytest.approx(2.25, abs=0.03)
    assert copies_of(row(1, origin="synthetic"), settings) == 0
    assert copies_of(row(1, origin="local"), settings) == 1
    with pytest.raises(ValidationError, match="between 0 and 100"):
        SelectionSettings(weights={Origin.LOCAL: -1.0})


def test_window_measured_with_the_tokenizer(tokenizer: Path) -> None:
    settings = SelectionSettings(tokenizer=tokenizer, window=16, level="assembly")
    selection = Selection(settings)
    long = row(2, hip_device="v_add " * 14)  # 14 words with the 3 of the other side: 17
    already = {**row(3), "reason": "too_long"}
    done = [selection.one(each) for each in (row(1), long, already)]
    assert [each["reason"] for each, _ in done] == ["", "over_token_limit", "too_long"]
    assert "17 tokens of assembly; the window has 16" in done[1][0]["diagnostic"]
    line, *others = [line for _, line in done]
    assert others == [None, None]
    assert line is not None
    assert (line["id"], line["source_tokens"], line["assembly_tokens"]) == (row(1)["id"], 5, 4)


def test_settings_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"give selection\.tokenizer"):
        Selection(SelectionSettings(window=16))
    with pytest.raises(SettingsError, match=r"tokenizer\.json is not there"):
        load_tokenizer(tmp_path)
