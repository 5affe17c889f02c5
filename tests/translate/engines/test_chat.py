"""The ``chat:MODEL`` engine and the model's part in repair, against a local server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cass_ray.cache import ContentCache
from cass_ray.cli import app
from cass_ray.llm.prompts import CASS
from cass_ray.task import Task
from cass_ray.translate.engines.chat import ChatTranslator
from cass_ray.translate.engines.registry import UnknownEngineError, make_translator
from cass_ray.translate.protocol import Context, Translator, TranslatorError
from cass_ray.translate.repair.loop import repair
from tests.corpus.synthetic.server import Server, ServerAnswer, in_turn, running

CUDA = "#include <cuda_runtime.h>\n__global__ void k(int* p) { *p = 1; }\n"
HIP = "#include <hip/hip_runtime.h>\n__global__ void k(int* p) { *p = 1; }\n"


def engine(server: Server, tmp_path: Path, **options: Any) -> ChatTranslator:
    given = {"endpoint": server.url, "first_wait_seconds": 0, **options}
    query = "&".join(f"{name}={value}" for name, value in given.items())
    return ChatTranslator.from_engine(f"chat:some/model?{query}", ContentCache(tmp_path))


def test_a_translation(tmp_path: Path) -> None:
    with running(in_turn(ServerAnswer(f"Here it is:\n```hip\n{HIP}```\n"))) as server:
        translator = engine(server, tmp_path)
        result = translator.translate(CUDA, filename="a.cu")
        assert translator.translate(CUDA).source == HIP
    assert isinstance(translator, Translator)
    assert (result.source, result.findings) == (HIP, ())
    (body,) = server.requests
    assert body["model"] == "some/model"
    assert CUDA in body["messages"][-1]["content"]


def test_the_published_checkpoints_are_asked_verbatim(tmp_path: Path) -> None:
    with running(in_turn(ServerAnswer(f"```amd\n{HIP}```"))) as server:
        result = engine(server, tmp_path, format="cass").translate(CUDA)
    assert result.source == HIP
    assert server.requests[0]["messages"] == CASS.messages(Task(), CUDA)
    assert server.prompts[0].startswith("Convert the following CUDA code to AMD GPU code:\n```cuda")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ServerAnswer(refusal="I will not"), "refused: I will not"),
        (ServerAnswer("No idea."), "no code"),
        (ServerAnswer(f"```hip\n{HIP}", finish="length"), "cut"),
    ],
)
def test_answers_without_a_whole_program_are_errors(
    answer: ServerAnswer, message: str, tmp_path: Path
) -> None:
    with running(in_turn(answer)) as server:
        result = engine(server, tmp_path).translate(CUDA)
    assert message in result.errors[0].message


def test_the_context_says_what_and_how(tmp_path: Path) -> None:
    context = Context(settings={"direction": "hip-to-cuda", "seed": "7", "temperature": "0.5"})
    with running(in_turn(ServerAnswer(f"```cuda\n{CUDA}```"))) as server:
        assert engine(server, tmp_path).translate(HIP, context=context).source == CUDA
    (body,) = server.requests
    assert (body["seed"], body["temperature"]) == (7, 0.5)
    assert "HIP program to CUDA" in body["messages"][-1]["content"]


def test_an_endpoint_that_stays_down_is_an_engine_failure(tmp_path: Path) -> None:
    with running(in_turn(ServerAnswer(status=500, body=""))) as server:
        translator = engine(server, tmp_path, attempts=2)
        with pytest.raises(TranslatorError, match="2 attempts"):
            translator.translate(CUDA)


@pytest.mark.parametrize("name", ["chat:", "chat:m?endpint=x", "chat:m?format=none"])
def test_a_bad_engine_is_named(name: str) -> None:
    with pytest.raises(UnknownEngineError):
        make_translator(name)


def test_a_model_corrects_what_the_rules_do_not_know() -> None:
    broken, fixed = f"{HIP}wrong\n", f"{HIP}right\n"

    def compile_source(source: str) -> str:
        return "" if source == fixed else "a.hip:3:1: error: unknown word 'wrong'"

    asked = []

    def propose(source: str, messages: str) -> str:
        asked.append((source, messages))
        return fixed

    result = repair(broken, compile_source, filename="a.hip", attempts=2, propose=propose)
    assert (result.compiles, result.source) == (True, fixed)
    assert asked == [(broken, "a.hip:3:1: error: unknown word 'wrong'")]


def test_a_proposal_that_drops_a_kernel_is_not_taken() -> None:
    def compile_source(source: str) -> str:
        return "" if "__global__" not in source else "a.hip:1:1: error: no"

    result = repair(
        HIP, compile_source, filename="a.hip", attempts=2, propose=lambda *_: "int main() {}\n"
    )
    assert (result.compiles, result.source) == (False, HIP)


@pytest.mark.amd
def test_the_command_asks_the_model_for_repairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASS_CACHE", str(tmp_path / "cache"))
    source, out = tmp_path / "a.cu", tmp_path / "a.hip"
    source.write_text("__global__ void k(int* p) { *p = missing_name; }\nint main() {}\n")
    fixed = "#include <hip/hip_runtime.h>\n" + source.read_text().replace("missing_name", "1")
    with running(in_turn(ServerAnswer(f"```hip\n{fixed}```"))) as server:
        given = ["translate", str(source), "-o", str(out), "--repair", "2"]
        model = f"chat:m?endpoint={server.url}"
        result = CliRunner().invoke(app, [*given, "--repair-with", model])
    assert result.exit_code == 0, result.output
    assert out.read_text() == fixed
    assert "missing_name" in server.prompts[0]
