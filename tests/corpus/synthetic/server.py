"""A local OpenAI-compatible server that answers as a test tells it to, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = dict[str, Any]


@dataclass(frozen=True)
class ServerAnswer:
    """What the server does with one request.

    ``body`` is sent as it is where it is given. ``gate`` holds the answer until it is set: slow by
    event, not by time.
    """

    text: str = ""
    finish: str = "stop"
    refusal: str = ""
    status: int = 200
    body: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    gate: threading.Event | None = None
    disconnect: bool = False
    usage: tuple[int, int] | None = (100, 50)


Rule = Callable[[Json, int], ServerAnswer]
"""(request body, number of the request from 0) -> what to do."""


@dataclass
class Server:
    """What came in, and how many requests were being answered at once."""

    url: str = ""
    requests: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    inside: int = 0
    most_inside: int = 0
    busy_seconds: float = 0.0
    """Integral of the number of requests inside over time."""
    last_change: float = 0.0
    arrived: threading.Condition = field(default_factory=threading.Condition)

    @property
    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [body["messages"][-1]["content"] for body in self.requests]

    def wait_inside(self, number: int) -> None:
        """Until ``number`` requests are being answered; fails after a minute."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: self.inside >= number, timeout=300)

    def note(self, change: int) -> None:
        """Count a request in or out."""
        with self.arrived:
            now = time.monotonic()
            if self.last_change:
                self.busy_seconds += self.inside * (now - self.last_change)
            self.last_change = now
            self.inside += change
            self.most_inside = max(self.most_inside, self.inside)
            self.arrived.notify_all()


def _completion(answer: ServerAnswer) -> Json:
    message: Json = {"role": "assistant", "content": answer.text}
    if answer.refusal:
        message.update(content=None, refusal=answer.refusal)
    made: Json = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "recorded",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
    }
    if answer.usage is not None:
        prompt, completion = answer.usage
        made["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
    return made


def _application(server: Server, rule: Rule) -> web.Application:
    async def complete(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        number = len(server.requests)
        server.requests.append(body)
        server.keys.append(request.headers.get("Authorization", ""))
        server.note(1)
        try:
            answer = rule(body, number)
            if answer.gate is not None:
                await asyncio.to_thread(answer.gate.wait, 60)
            if answer.disconnect:
                assert request.transport is not None
                request.transport.abort()
            text = answer.body if answer.body is not None else json.dumps(_completion(answer))
            return web.Response(
                text=text,
                status=answer.status,
                headers=dict(answer.headers),
                content_type="application/json",
            )
        finally:
            server.note(-1)

    application = web.Application(client_max_size=1 << 24)
    application.router.add_post("/v1/chat/completions", complete)
    return application


@contextmanager
def running(rule: Rule) -> Iterator[Server]:
    """The server, on a free port of this machine."""
    server = Server()
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def start() -> web.AppRunner:
        runner = web.AppRunner(_application(server, rule))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        server.url = f"http://127.0.0.1:{port}/v1"
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def in_turn(*answers: ServerAnswer) -> Rule:
    """One answer after the other; the last one again and again."""
    return lambda _, number: answers[min(number, len(answers) - 1)]
