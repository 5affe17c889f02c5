"""The chat client against a local server: retries, budget, cache, slots, and the key's secrecy."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from cass_ray.cache import ContentCache
from cass_ray.llm.client import BudgetSpent, ChatClient, ChatError, ChatSettings, Reply
from cass_ray.llm.code_blocks import code_of
from cass_ray.llm.prompts import Message
from tests.corpus.synthetic.server import Rule, Server, ServerAnswer, in_turn, running

KEY = "sk-test-0123456789"
ENVIRONMENT = {"OPENAI_API_KEY": KEY}
HELLO: list[Message] = [{"role": "user", "content": "hello"}]


def settings(server: Server, **values: Any) -> ChatSettings:
    given = {"model": "m", "endpoint": server.url, "first_wait_seconds": 0.0, "max_new_tokens": 100}
    return ChatSettings.model_validate({**given, **values})


def ask(server: Server, cache: ContentCache | None = None, **values: Any) -> Reply:
    async def once() -> Reply:
        async with ChatClient(settings(server, **values), cache, ENVIRONMENT) as client:
            return await client.ask(HELLO)

    return asyncio.run(once())


def test_an_answer_with_its_tokens() -> None:
    with running(in_turn(ServerAnswer("hi", usage=(7, 3)))) as server:
        reply = ask(server, temperature=0.5)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("hi", 7, 3)
    (body,) = server.requests
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.5, 100)
    assert server.keys == [f"Bearer {KEY}"]


BROKEN = {
    "429": ServerAnswer(status=429, body='{"error": {"message": "slow down"}}',
                  headers=(("Retry-After", "0"),)),
    "500": ServerAnswer(status=500, body="oops"),
    "503": ServerAnswer(status=503, body="{}"),
    "invalid JSON": ServerAnswer(body='{"choices": [{"mess'),
    "no completion": ServerAnswer(body='{"hello": 1}'),
    "no choices": ServerAnswer(body='{"choices": []}'),
    "a list": ServerAnswer(body="[1, 2]"),
    "disconnect": ServerAnswer(disconnect=True),
}  # fmt: skip


@pytest.mark.parametrize("problem", BROKEN)
def test_passing_problems_are_tried_again(problem: str) -> None:
    with running(in_turn(BROKEN[problem], BROKEN[problem], ServerAnswer("hi"))) as server:
        reply = ask(server)
    assert (reply.text, reply.attempts, len(server.requests)) == ("hi", 3, 3)


@pytest.mark.parametrize("problem", BROKEN)
def test_attempts_are_bounded(problem: str) -> None:
    with running(in_turn(BROKEN[problem])) as server, pytest.raises(ChatError, match="3 attempts"):
        ask(server, attempts=3)
    assert len(server.requests) == 3


def test_a_rejected_request_is_not_tried_again_and_the_key_is_not_shown() -> None:
    body = f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}'
    with running(in_turn(ServerAnswer(status=401, body=body))) as server:
        with pytest.raises(ChatError) as caught:
            ask(server)
        assert len(server.requests) == 1
    assert "Incorrect API key" in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_time_out_is_tried_again() -> None:
    gate = threading.Event()
    rule = in_turn(ServerAnswer(gate=gate), ServerAnswer("hi"))
    with running(rule) as server:
        reply = ask(server, timeout_seconds=0.2)
        gate.set()
    assert (reply.text, reply.attempts) == ("hi", 2)


def test_refusals_and_cut_answers_are_told() -> None:
    with running(
        in_turn(ServerAnswer(refusal="I cannot"), ServerAnswer("half", finish="length"))
    ) as server:
        assert ask(server).refusal == "I cannot"
        assert ask(server).finish == "length"


def test_the_cache_answers_the_same_question_once(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path)
    with running(in_turn(ServerAnswer("hi"))) as server:
        first, second = ask(server, cache), ask(server, cache)
        other = ask(server, cache, temperature=1.0)
    assert (first.cached, second.cached, other.cached) == (False, True, False)
    assert second.text == "hi"
    assert len(server.requests) == 2
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*.*"))


def many(server: Server, number: int, **values: Any) -> tuple[list[object], ChatClient]:
    async def all_of_them() -> tuple[list[object], ChatClient]:
        async with ChatClient(settings(server, **values), None, ENVIRONMENT) as client:
            asked = [client.ask([{"role": "user", "content": f"q{n}"}]) for n in range(number)]
            return list(await asyncio.gather(*asked, return_exceptions=True)), client

    return asyncio.run(all_of_them())


def test_concurrency_is_bounded_and_reached() -> None:
    gate = threading.Event()

    def rule(body: dict[str, Any], number: int) -> ServerAnswer:
        return ServerAnswer("hi", gate=gate)

    with running(rule) as server:
        watcher = threading.Thread(target=lambda: (server.wait_inside(5), gate.set()))
        watcher.start()
        replies, _ = many(server, 20, concurrency=5)
        watcher.join()
    assert server.most_inside == 5
    assert len(replies) == 20


def counted(prompt: int, completion: int) -> Rule:
    return in_turn(ServerAnswer("hi", usage=(prompt, completion)))


@pytest.mark.parametrize(
    ("budget", "answered"),
    [
        ({"requests": 3}, 3),
        # A request sets 16 + 100 aside and uses 60: after 4, 240 are spent, and 116 fit 360.
        ({"tokens": 360}, 5),
        # 40 * $10 + 20 * $20 a million is $0.0008; set aside are 16 and 100 tokens, $0.00216.
        ({"dollars": 0.004}, 3),
        ({"requests": 0}, 0),
    ],
)
def test_the_budget_is_never_exceeded(budget: dict[str, Any], answered: int) -> None:
    prices = {"prompt": 10.0, "completion": 20.0}
    with running(counted(40, 20)) as server:
        replies, client = many(server, 12, concurrency=1, budget=budget, prices=prices)
    assert len(server.requests) == answered
    refused = [reply for reply in replies if isinstance(reply, BudgetSpent)]
    assert len(refused) == 12 - answered
    usage = client.usage
    assert usage.prompt_tokens + usage.completion_tokens == 60 * answered
    assert usage.dollars == pytest.approx(0.0008 * answered)
    assert usage.reserved_tokens == 0


PROGRAM = "#include <cstdio>\n__global__ void k() {}\nint main() {\n  k<<<1, 1>>>();\n}"


@pytest.mark.parametrize(
    "answer",
    [
        f"```cuda\n{PROGRAM}\n```",
        f"Here you are:\n```hip\n{PROGRAM}\n```\nIt prints nothing.",
        f"```\n{PROGRAM}",
        f"````text\n{PROGRAM}\n````",
        f"{PROGRAM}\n",
        f"Sure! This is the program.\n\n{PROGRAM}\n\nIt launches one thread.",
        f"{PROGRAM}\n```",
        f"First try:\n```hip\nint x;\n```\nBetter:\n```hip\n{PROGRAM}\n```",
    ],
)
def test_code_is_found_whatever_the_fences(answer: str) -> None:
    found = code_of(answer, ("hip", "cpp"))
    assert found is not None
    assert found.text.strip() == PROGRAM


@pytest.mark.parametrize("answer", ["", "I cannot help with that.", "Use cudaMalloc { and }."])
def test_an_answer_without_code_has_none(answer: str) -> None:
    assert code_of(answer, ("hip",)) is None


def test_a_cut_answer_is_told() -> None:
    for answer in (f"```cuda\n{PROGRAM[:-2]}", PROGRAM[:-2]):
        found = code_of(answer, ("cuda",))
        assert found is not None
        assert found.cut
