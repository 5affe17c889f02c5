"""The page of training throughput: what a row is compared with, and what a piece gains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.train.gpu import wanted
from benchmarks.train.ordinary import borders
from benchmarks.train.parts import PARTS
from benchmarks.train.report import base_of, page, read_call


def row(part: str, rate: float, against: str = "", piece: str = "") -> dict[str, Any]:
    return {
        "part": part, "system": part, "section": "S", "shape": "7b", "rows": "whole",
        "tokens_per_second": rate, "mfu": 0.4, "peak_gib": 1.0, "device_gib": 2.0,
        "startup_seconds": 3.0, "tokens_per_kwh": 1e6, "against": against, "piece": piece,
    }  # fmt: skip


def written(folder: Path, *rows: dict[str, Any]) -> dict[str, Any]:
    folder.mkdir()
    environment = {"gpu": "a card", "gpus": 1, "versions": {"torch": "2"}, "command": "measure"}
    (folder / "environment.json").write_text(json.dumps(environment))
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_call(folder)


def test_rows_are_compared_within_their_call_with_the_faster_variant(tmp_path: Path) -> None:
    first = written(tmp_path / "a", row("base", 100), row("ours", 110, "base", "a piece"))
    second = written(
        tmp_path / "b",
        row("base-packed", 200),
        row("base-padded", 220, "base-packed"),
        row("base-packed-fp8", 400, "base-packed"),
        row("ours", 209, "base-packed", "a piece"),
        row("alone", 1, "not measured here"),
    )
    text = "\n".join(page({"calls": [first, second], "several": [], "bounds": [], "long": []}))
    assert "| 1 | ours | base | **1.10** | 110 |" in text
    assert "| 2 | ours | base-padded | **0.95** | 209 |" in text
    assert "| 2 | base-padded | base-packed | **1.10** | 220 |" in text
    assert "| 2 | alone | – | – | 1 |" in text
    assert "| a piece | 1.10 (7B whole), 0.95 (7B whole) | yes |" in text


def test_a_piece_that_gains_less_than_3_percent_is_named(tmp_path: Path) -> None:
    call = written(tmp_path / "a", row("base", 100), row("ours", 102, "base", "a piece"))
    text = "\n".join(page({"calls": [call], "several": [], "bounds": [], "long": []}))
    assert "| a piece | 1.02 (7B whole) | **no** |" in text


def test_fp8_is_a_piece_of_its_own(tmp_path: Path) -> None:
    inexact = {**row("ours-fp8", 125, "base"), "fp8": True}
    call = written(tmp_path / "a", row("base", 100), inexact)
    text = "\n".join(page({"calls": [call], "several": [], "bounds": [], "long": []}))
    assert "| products in FP8 (ours) | 1.25 (7B whole) | yes |" in text


def test_long_runs_stand_beside_each_other(tmp_path: Path) -> None:
    runs = [
        {"title": "one", "held_out": {"100": 3.0, "1000": 1.25}},
        {"title": "other", "held_out": {"100": 2.5}},
    ]
    call = written(tmp_path / "a", row("base", 100))
    lines = list(page({"calls": [call], "several": [], "bounds": [], "long": runs}))
    assert "| | 100 | 1,000 |" in lines
    assert "| one | 3.000 | 1.250 |" in lines
    assert "| other | 2.500 | – |" in lines


def test_every_part_is_compared_with_one_that_there_is() -> None:
    assert base_of(row("a", 1), []) is None
    names = wanted(["1.5b-ours", "7b-every"], False)
    every = ["ordinary", "budget", "budget-75", "plain"]
    assert names == ["1.5b-ours", *(f"7b-every-{name}" for name in every)]
    assert set(names) <= set(PARTS)


def test_borders_end_in_empty_examples() -> None:
    assert borders((3, 2), torch.device("cpu"), 5).tolist() == [0, 3, 5, 5, 5]
    assert borders((3, 2), torch.device("cpu")).tolist() == [0, 3, 5]
    with pytest.raises(ValueError, match="at most 2"):
        borders((1, 1, 1), torch.device("cpu"), 3)


def test_runs_of_one_part_are_one_row_with_their_mean(tmp_path: Path) -> None:
    call = written(
        tmp_path / "a", row("base", 100.0), row("ours", 100.0, "base"), row("base", 110.0)
    )
    assert [(each["part"], each["tokens_per_second"]) for each in call["rows"]] == [
        ("base", 105.0),
        ("ours", 100.0),
    ]
    text = "\n".join(page({"calls": [call], "several": [], "bounds": [], "long": []}))
    assert "| 1 | ours | base, mean of 2 runs | **0.95** | 100 |" in text


def test_figures_that_a_log_lacks_are_dashes(tmp_path: Path) -> None:
    bare = row("base", 100.0)
    for key in ("device_gib", "startup_seconds", "tokens_per_kwh"):
        del bare[key]
    call = written(tmp_path / "a", bare)
    text = "\n".join(page({"calls": [call], "several": [], "bounds": [], "long": []}))
    assert "| 1 | base | – | – | 100 | 40.0% | 1, – | – | – |" in text


def test_kernels_stand_by_their_kind(tmp_path: Path) -> None:
    times = {
        "part": "kernels-7b-ours", "system": "kernel times", "shape": "7b", "side": "ours",
        "kinds": {"products": 700.0, "rest": 0.25}, "all": 700.25, "largest": [],
    }  # fmt: skip
    call = written(tmp_path / "a", row("base", 100.0), times)
    text = "\n".join(page({"calls": [call], "several": [], "bounds": [], "long": []}))
    assert "| 7B | ours | 700.0 | 0.0 | 0.0 | 0.2 | 700.2 |" in text
