"""The replica of a model that answers numbered edits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from cass_ray.api.schema import TranslateRequest
from serve.deployments.model_replica import ModelReplica
from serve.engines.base import EngineAnswer
from serve.generation.generator import Produced
from serve.settings import EngineSettings
from tests.format_model import PROGRAM, right_answer, save_format_model, translated


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    save_format_model(made)
    return made


def streamed(folder: Path, cut: int | None = None) -> tuple[str, EngineAnswer]:
    """The words and the answer of a model that writes three tokens at a time."""
    settings = EngineSettings(name="small", translator=f"model:{folder}?device=cpu")

    async def run() -> list[str | EngineAnswer]:
        replica = ModelReplica(settings)
        assert replica._form is not None
        answer = right_answer(replica._form, whole_file=False)[:cut]

        async def tokens(ids: list[int], *_: Any) -> AsyncIterator[list[int] | Produced]:
            for start in range(0, len(answer), 3):
                yield answer[start : start + 3]
            yield Produced(len(ids), len(answer), cut is None)

        try:
            with patch.object(replica._generator, "tokens", tokens):
                return [
                    piece async for piece in replica.stream(TranslateRequest(source=PROGRAM), 0)
                ]
        finally:
            replica._generator.close()

    *words, answer = asyncio.run(run())
    assert isinstance(answer, EngineAnswer)
    return "".join(map(str, words)), answer


def test_what_is_streamed_is_the_program(folder: Path) -> None:
    words, answer = streamed(folder)

    assert answer.source == translated()
    assert words == translated()
    assert answer.failed == ""
    assert answer.usage is not None
    assert answer.usage.completion_tokens < answer.usage.prompt_tokens


def test_an_answer_that_was_cut_has_failed(folder: Path) -> None:
    _, answer = streamed(folder, cut=9)

    assert answer.source == PROGRAM
    assert "the answer was cut" in answer.failed
