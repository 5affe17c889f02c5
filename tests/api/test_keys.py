"""Keys in headers: who is let in, and that nothing of a stranger's request is read."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import MutableMapping
from typing import Any

import pytest

from cass_ray.api.keys import BearerGuard, bearer_key, is_key_of, key_digest, new_key

KEY = "cass_right"
Message = MutableMapping[str, Any]


def test_a_digest_is_sha256_and_keys_differ() -> None:
    assert key_digest(KEY) == hashlib.sha256(b"cass_right").hexdigest()
    first, second = new_key(), new_key()
    assert first != second
    assert is_key_of(first, key_digest(first))
    assert not is_key_of(first, key_digest(second))


@pytest.mark.parametrize(
    ("header", "key"),
    [
        (None, ""),
        ("", ""),
        ("Bearer", ""),
        ("Basic abc", ""),
        ("bearer abc", "abc"),
        ("Bearer  abc ", "abc"),
    ],
)
def test_the_key_of_a_header(header: str | None, key: str) -> None:
    assert bearer_key(header) == key


def answer(scope: Message, prefix: str = "/") -> int:
    """The status for a request; the application behind the guard answers 200."""
    sent: list[Message] = []

    async def app(scope: Message, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        raise AssertionError("the guard reads no body")

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(BearerGuard(app, key_digest(KEY), prefix)(scope, receive, send))
    status: int = sent[0]["status"]
    return status


@pytest.mark.parametrize(
    ("path", "header", "status"),
    [
        ("/v1/rewards", b"Bearer cass_right", 200),
        ("/v1/rewards", b"Bearer cass_wrong", 401),
        ("/v1/rewards", b"Basic cass_right", 401),
        ("/v1/rewards", b"Bearer \xff", 401),
        ("/v1/rewards", None, 401),
        ("/healthz", None, 200),
    ],
)
def test_only_the_key_opens_what_is_guarded(path: str, header: bytes | None, status: int) -> None:
    headers = [] if header is None else [(b"authorization", header)]
    assert answer({"type": "http", "path": path, "headers": headers}, "/v1") == status


def test_everything_is_guarded_unless_said_otherwise() -> None:
    assert answer({"type": "http", "path": "/healthz", "headers": []}) == 401
    assert answer({"type": "websocket", "path": "/", "headers": []}) == 401
