"""What OpenAI's own client gets, and the whole API against its own description."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cass_ray.api.keys import key_digest, new_key
from cass_ray.llm.code_blocks import extract
from serve.settings import ApiKey, Authentication, EngineSettings
from tests.serve.conftest import Api, httpx, make_services, make_settings
from tests.serve.request.test_pipeline import Model

openai = pytest.importorskip("openai")

QUESTION = "Port this:\n```cuda\nint main() { cudaDeviceSynchronize(); }\n```\nThanks."
ANSWER = "#include <hip/hip_runtime.h>\nint main() { hipDeviceSynchronize(); }"


def client_of(api: Api, key: str = "none") -> Any:
    transport = httpx.ASGITransport(app=api.app)
    http = httpx.AsyncClient(transport=transport)
    return openai.AsyncOpenAI(base_url="http://localhost/v1", api_key=key, http_client=http)


def test_rules_as_a_chat_model(api: Api) -> None:
    async def ask() -> tuple[list[str], str, str]:
        client = client_of(api)
        names = [model.id async for model in client.models.list()]
        messages = [{"role": "user", "content": QUESTION}]
        whole = await client.chat.completions.create(model="rules", messages=messages)
        streamed = ""
        async for chunk in await client.chat.completions.create(
            model="rules", messages=messages, stream=True
        ):
            streamed += chunk.choices[0].delta.content or ""
        return names, whole.choices[0].message.content, streamed

    names, whole, streamed = asyncio.run(ask())
    assert names == ["rules", "lift"]
    found = extract(whole, ("hip",))
    assert found is not None
    assert found.code == ANSWER
    assert streamed == whole


def asked(api: Api, text: str, model: str = "rules") -> Any:
    async def ask() -> Any:
        messages = [{"role": "user", "content": text}]
        return await client_of(api).chat.completions.create(model=model, messages=messages)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "text", ["hello", "Hello!", "What can you do?", "hi there\n\nwho are you", "cuda", "¿qué tal?"]
)
def test_a_message_without_a_program_is_told_what_is_translated(api: Api, text: str) -> None:
    answer = asked(api, text).choices[0].message.content
    assert answer.startswith("The engine rules translates CUDA to HIP and HIP to CUDA. Send")


def test_each_engine_says_what_is_its_own(api: Api) -> None:
    answer = asked(api, "hello", "lift").choices[0].message.content
    assert "translates the machine code of a CUDA program to RDNA3 assembly" in answer


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k() {}",
        "cudaFree(0)",
        "int x;",
        "#include <cuda.h>",
        "k<<<1, 2>>>(p)",
        "```\nhello\n```",
    ],
)
def test_a_program_without_a_fence_is_translated(api: Api, text: str) -> None:
    assert asked(api, text).choices[0].message.content.startswith("```hip\n")


def test_words_and_signs_are_counted_where_there_is_no_tokenizer(api: Api) -> None:
    usage = asked(api, "int x = 1;").usage  # int, x, =, 1, ;
    assert usage.prompt_tokens == 5
    assert usage.completion_tokens >= 5
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_a_model_holds_the_conversation_itself(tmp_path: Path) -> None:
    engines = [EngineSettings(name="m", translator="model:somewhere")]
    settings = make_settings(tmp_path, engines=engines)
    api = Api(make_services(settings, None, {"m": Model([])}))

    async def ask() -> Any:
        return await client_of(api).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hello?"}]
        )

    made = asyncio.run(ask())
    assert made.choices[0].message.content == "hello"
    assert made.choices[0].finish_reason == "length"
    assert made.usage.total_tokens == 4


def test_errors_are_those_that_the_client_knows(api: Api, tmp_path: Path) -> None:
    async def ask(client: Any, model: str) -> Any:
        return await client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "x"}]
        )

    with pytest.raises(openai.NotFoundError, match="no model is called 'nobody'"):
        asyncio.run(ask(client_of(api), "nobody"))
    key = ApiKey(name="one", sha256=key_digest(new_key()))
    closed = Api(make_services(make_settings(tmp_path, authentication=Authentication(keys=[key]))))
    with pytest.raises(openai.AuthenticationError):
        asyncio.run(ask(client_of(closed, "wrong"), "rules"))
