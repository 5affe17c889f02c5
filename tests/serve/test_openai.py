"""What OpenAI's own client gets, and the whole API against its own description."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cass_ray.answers import extract
from serve.access import key_digest, new_key
from serve.settings import ApiKey, Authentication, EngineSettings
from tests.serve.conftest import Api, httpx, make_services, make_settings
from tests.serve.test_pipeline import Model, WordChecker

openai = pytest.importorskip("openai")

QUESTION = "Port this:\n```cuda\nint main() { cudaDeviceSynchronize(); }\n```\nThanks."
ANSWER = "#include <hip/hip_runtime.h>\nint main() { hipDeviceSynchronize(); }"


def client_of(api: Api, key: str = "none") -> Any:
    transport = httpx.ASGITransport(app=api.app)
    http = httpx.AsyncClient(transport=transport)
    return openai.AsyncOpenAI(base_url="http://test/v1", api_key=key, http_client=http)


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


def test_the_api_does_what_its_description_says(tmp_path: Path) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import load_all_checks

    key = new_key()
    made = ApiKey(name="one", sha256=key_digest(key), requests_per_minute=1e6)
    configured = make_settings(tmp_path, authentication=Authentication(keys=[made]))
    api = Api(make_services(configured, WordChecker()))
    schema = schemathesis.openapi.from_asgi("/openapi.json", api.app)
    load_all_checks()
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=15,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
        )
        @given(case=operation.as_strategy())
        def one(case: Any) -> None:
            # Whether fields go together (an engine with a level) is beyond a schema: 422 says so.
            case.call_and_validate(
                headers={"Authorization": f"Bearer {key}"},
                excluded_checks=[schemathesis.checks.CHECKS.get_one("positive_data_acceptance")],
            )

        one()
