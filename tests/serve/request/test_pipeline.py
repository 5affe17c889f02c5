"""The order of attempts, what is kept, and what each answer is called."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cass_ray.api.machine_code import AssemblyRequest, AssemblySide
from cass_ray.api.schema import (
    CompileReport,
    EngineInfo,
    TargetInfo,
    TranslateRequest,
    TranslateResponse,
    Usage,
    Verification,
)
from cass_ray.task import Direction, Level
from serve.check.stages import CheckRequest, CheckStage
from serve.engines.base import EngineAnswer
from serve.errors import ApiError
from serve.request.answer_cache import AnswerCache
from serve.request.pipeline import Pipeline
from serve.settings import EngineSettings, ServeSettings
from tests.serve.conftest import make_services, make_settings

SOURCE = "__global__ void k() {}\nint main() { cudaDeviceSynchronize(); }\n"


@dataclass
class Model:
    """A model whose answers are known. None is an answer without code."""

    answers: list[str | None]
    corrections: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    info: EngineInfo = field(
        default_factory=lambda: EngineInfo(
            name="m",
            levels=[Level.SOURCE],
            directions=list(Direction),
            streams=True,
            description="",
        )
    )

    async def version(self) -> str:
        return "1"

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        self.asked.append(seed)
        text = self.answers[len(self.asked) - 1]
        usage = Usage(prompt_tokens=10, completion_tokens=5)
        failed = "no code" if text is None else ""
        return EngineAnswer(source=text or "", version="1", usage=usage, failed=failed)

    async def stream(
        self, request: TranslateRequest, seed: int
    ) -> AsyncIterator[str | EngineAnswer]:
        answer = await self.translate(request, seed)
        for word in answer.source.split(" "):
            yield word
        yield answer

    async def propose(self, source: str, messages: str) -> str | None:
        assert messages == "an error"
        return self.corrections.pop(0) if self.corrections else None

    async def chat(self, messages: Any, options: Any) -> AsyncIterator[Any]:
        yield "hello"
        yield {"finish": "length", "usage": {"prompt_tokens": 3, "completion_tokens": 1}}


class WordChecker:
    """A program compiles unless it says ``bad``."""

    def __init__(self) -> None:
        self.checked: list[str] = []

    async def stages(self, check: CheckRequest) -> AsyncIterator[CheckStage]:
        self.checked.append(check.translation)
        passed = "bad" not in check.translation
        report = CompileReport(
            passed=passed,
            architecture="gfx1100",
            compiler="words",
            seconds=0.5,
            output="" if passed else "an error",
        )
        yield CheckStage(name="compile")
        yield CheckStage(name="compile", compile=report, source=check.translation)

    async def listings(self, request: AssemblyRequest) -> AsyncIterator[AssemblySide]:
        yield AssemblySide(vendor="amd", architecture=request.arch, problem="words")
        yield AssemblySide(vendor="nvidia", architecture=request.nvidia_arch, problem="words")

    async def backends(self) -> dict[str, str]:
        return {}

    async def targets(self) -> list[TargetInfo]:
        return []


def answered(folder: Path, model: Model, **options: Any) -> TranslateResponse:
    engines = [
        EngineSettings(name="rules", translator="rules"),
        EngineSettings(name="m", translator="model:somewhere"),
    ]
    settings: ServeSettings = make_settings(folder, engines=engines)
    services = make_services(settings, WordChecker(), {"m": model})
    request = TranslateRequest.model_validate(
        {"source": SOURCE, "engine": "m", "check": "compile", **options}
    )
    return asyncio.run(Pipeline(services, request, "id").result())


def test_the_first_answer_that_passes_is_taken(tmp_path: Path) -> None:
    model = Model(["bad 1", None, "good 3", "good 4"])
    made = answered(tmp_path, model, candidates=4, seed=7, repair=0)
    assert (made.translation, made.engine, model.asked) == ("good 3", "m", [7, 8, 9])
    assert made.verdict.verification is Verification.COMPILED
    assert [each.verification.value for each in made.attempts] == ["failed", "failed", "compiled"]
    assert made.usage is not None
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (30, 15)
    assert made.timings["compile"] == 1.0


def test_repair_asks_the_model_and_stops_when_it_has_no_idea(tmp_path: Path) -> None:
    made = answered(tmp_path, Model(["bad"], ["bad again", "mended"]), repair=2)
    assert made.translation == "mended"
    unmended = answered(tmp_path, Model(["bad"], ["bad again"]), repair=8, fallback=False)
    assert unmended.verdict.label == "best attempt, not verified: it does not compile"
    assert len(unmended.attempts) == 2


def test_the_rules_answer_where_the_model_fails(tmp_path: Path) -> None:
    made = answered(tmp_path, Model(["bad"]), repair=0)
    assert (made.engine, made.verdict.verification) == ("rules", Verification.COMPILED)
    assert "hipDeviceSynchronize" in made.translation
    assert [each.engine for each in made.attempts] == ["m", "rules"]


def test_the_best_attempt_is_labelled_where_all_fail(tmp_path: Path) -> None:
    made = answered(tmp_path, Model(["bad"]), repair=0, source=SOURCE + "// bad\n")
    assert made.verdict.verification is Verification.FAILED
    assert made.verdict.label.startswith("best attempt, not verified")


def test_without_fallback_a_failure_is_the_answer(tmp_path: Path) -> None:
    with pytest.raises(ApiError) as caught:
        answered(tmp_path, Model([None]), fallback=False)
    assert (caught.value.status, caught.value.message) == (422, "no code")


def test_kept_answers() -> None:
    def answer(text: str, verification: str = "compiled") -> TranslateResponse:
        verdict = {"verification": verification, "label": ""}
        return TranslateResponse.model_validate(
            {
                "id": "",
                "translation": text,
                "engine": "m",
                "engine_version": "1",
                "architecture": "gfx1100",
                "verdict": verdict,
            }
        )

    capacity = 2 * len(answer("a" * 40).model_dump_json())
    kept = AnswerCache(capacity)
    kept.put("failed", answer("x", "failed"))
    assert kept.get("failed") is None
    for name in "abc":
        kept.put(name, answer(name * 40))
        kept.get("a")
    assert [kept.get(name) is not None for name in "abc"] == [True, False, True]
    kept.put("large", answer("x" * capacity))
    assert len(kept) == 2
