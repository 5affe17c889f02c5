"""Keys for HTTP: random, kept as digests, sent as ``Authorization: Bearer KEY``."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

KEY_PREFIX = "cass_"

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


def new_key() -> str:
    """A key of 256 random bits; it is nowhere kept."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def key_digest(key: str) -> str:
    """What is kept of a key. Keys are random, so no salt and no slow hash is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


def bearer_key(authorization: str | None) -> str:
    """The key in an ``Authorization`` header; empty where there is none."""
    scheme, _, key = (authorization or "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def is_key_of(key: str, digest: str) -> bool:
    """Whether ``digest`` is that of ``key``; takes the same time for any wrong one."""
    return hmac.compare_digest(key_digest(key), digest)


class BearerGuard:
    """ASGI middleware: requests below ``prefix`` get 401 unless they send the key of ``digest``.

    No byte of their bodies is read.
    """

    def __init__(self, app: _App, digest: str, prefix: str = "/") -> None:
        self._app, self._digest, self._prefix = app, digest, prefix

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Pass on what may pass."""
        if scope["type"] == "lifespan" or self._open(scope) or self._knows(scope):
            await self._app(scope, receive, send)
            return
        headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"send `Authorization: Bearer KEY`\n"})

    def _open(self, scope: _Message) -> bool:
        return not scope["path"].startswith(self._prefix)

    def _knows(self, scope: _Message) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        return is_key_of(bearer_key(given), self._digest)
