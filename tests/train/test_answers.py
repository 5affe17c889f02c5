"""Answers of a finished model to its programs: which can be read, and what of them is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cass_ray.train.answers import answered_programs
from cass_ray.train.data.recipe_files import write_pairs
from cass_ray.train.run_files import RunFiles
from cass_ray.translate.engines.edits import FormattedAnswers
from tests.format_model import PROGRAM, ByHeart, save_format_model, translated


@pytest.fixture
def run(tmp_path: Path) -> RunFiles:
    """A run that held the program out, and learned a shorter one."""
    files = RunFiles(tmp_path)
    save_format_model(files.model)
    learned = {"id": "learned", "kind": "program", "cuda_source": "int a;", "hip_source": "int a;"}
    kept = {"id": "kept", "kind": "program", "cuda_source": PROGRAM, "hip_source": translated()}
    kept["filename"] = "examples/kept.cu"
    write_pairs([learned], files.recipe_pairs)
    write_pairs([kept], files.recipe_held_out)
    return files


def test_the_right_answer_has_every_line(run: RunFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    made = FormattedAnswers.of

    def by_heart(model: Any, tokenizer: Any) -> FormattedAnswers:
        answers = made(model, tokenizer)
        answers.decoder = ByHeart(answers.form)
        return answers

    monkeypatch.setattr(FormattedAnswers, "of", by_heart)
    (answer,) = answered_programs(run, 4)
    assert answer.program == "examples/kept.cu"
    assert answer.readable
    assert answer.whole
    assert answer.found == answer.changed > 4
    assert "+    hipMalloc(&data, 128);" in answer.difference
    assert "-    cudaMalloc(&data, 128);" in answer.difference
    assert answer.describe().startswith("examples/kept.cu: edits; ")
    assert answer.describe().endswith("to the letter")


def test_weights_as_they_were_drawn_translate_nothing(run: RunFiles) -> None:
    (answer,) = answered_programs(run, 1)
    assert not answer.whole
    assert answer.found < answer.changed
    assert answer.readable or answer.problem


def test_without_held_out_programs_learned_ones_are_asked(run: RunFiles) -> None:
    write_pairs([], run.recipe_held_out)
    assert [answer.program for answer in answered_programs(run, 4)] == ["learned"]
