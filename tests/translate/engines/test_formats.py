"""The ``model:PATH`` engine, with a model that answers numbered edits and whole files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cass_ray.task import Direction, Task
from cass_ray.translate.engines.model import ModelTranslator
from cass_ray.translate.protocol import TranslatorError
from tests.format_model import PROGRAM, ByHeart, save_format_model, translated

pytest.importorskip("torch", reason="models need the extra `train`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    save_format_model(made)
    return made


def engine(folder: Path, options: str = "") -> ModelTranslator:
    made = ModelTranslator.from_engine(f"model:{folder}{options}")
    made.answering.decoder = ByHeart(made.answering.form)
    return made


@pytest.mark.parametrize("answer", ["auto", "edits", "file"])
def test_both_formats_give_the_translation(folder: Path, answer: str) -> None:
    made = engine(folder, f"?answer={answer}").translate(PROGRAM)

    assert made.source == translated()
    assert made.findings == ()


def test_edits_are_shorter_than_the_file_and_name_snippets(folder: Path) -> None:
    [edits] = engine(folder).samples(PROGRAM, Task())
    [file] = engine(folder, "?answer=file").samples(PROGRAM, Task())

    assert edits.code == file.code
    assert len(edits.text) < len(file.text)
    assert "<|snippet reduce|>" in edits.text


def test_a_model_that_was_trained_before_a_snippet_was_there_answers(tmp_path: Path) -> None:
    save_format_model(tmp_path / "older", ["reduce"])
    assert engine(tmp_path / "older").translate(PROGRAM).source == translated()


def test_a_model_without_any_snippet_is_another_model(tmp_path: Path) -> None:
    save_format_model(tmp_path / "other", [])
    made = ModelTranslator.from_engine(f"model:{tmp_path / 'other'}")
    with pytest.raises(TranslatorError, match=r"the tokenizer has no token `<\|snippet"):
        made.translate(PROGRAM)


def test_a_cut_answer_is_an_error_and_leaves_the_source(folder: Path) -> None:
    made = engine(folder, "?max_new_tokens=9").translate(PROGRAM)

    assert made.source == PROGRAM
    assert "the answer was cut" in made.errors[0].message


def test_the_model_itself_edits_lines_of_the_program_only(folder: Path) -> None:
    translator = ModelTranslator.from_engine(f"model:{folder}?temperature=5&max_new_tokens=40")
    for answer in translator.samples(PROGRAM, Task(), 8):
        # Drawn weights write nonsense, but never a line that is not there.
        assert answer.code is not None or "cut" in answer.problem


def test_a_model_is_asked_back_in_the_formats_it_was_taught(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "both")
    described = json.loads((folder / "cass_ray.json").read_text())
    both = {"tasks": ["source", "source:hip-to-cuda"]}
    (tmp_path / "both" / "cass_ray.json").write_text(json.dumps(described | both))
    back = Task(direction=Direction.HIP_TO_CUDA)

    assert ModelTranslator(str(folder)).formatted_tasks == {Task()}
    taught = ModelTranslator(str(tmp_path / "both"))
    assert taught.formatted_tasks == {Task(), back}
    form = taught.answering.form
    asked: list[list[int]] = []

    def decoder(questions: list[list[int]], *_: Any, **__: Any) -> list[list[int]]:
        asked.extend(questions)
        return [form.edit_answer({0: ["#include <cuda_runtime.h>"]}) for _ in questions]

    taught.answering.decoder = decoder
    [answer] = taught.samples("#include <hip/hip_runtime.h>\nint x;", back)
    assert answer.code == "#include <cuda_runtime.h>\nint x;"
    lines = ["#include <hip/hip_runtime.h>", "int x;"]
    assert asked == [form.edit_question(lines, direction=Direction.HIP_TO_CUDA)]


def test_more_lines_than_marks_are_answered_as_a_file(folder: Path) -> None:
    with pytest.raises(TranslatorError, match="takes 1024 in all"):  # not: too many lines
        engine(folder).translate("int line;\n" * 1100)
    with pytest.raises(TranslatorError, match=r"ask with \?answer=file"):
        engine(folder, "?answer=edits").translate("\n" * 1100)
