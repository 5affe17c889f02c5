"""What a connection may do before and after the application sees its requests.

uvicorn waits for ever for headers, takes any number of them, queues pipelined requests without
bound and writes to clients that do not read. Ray Serve offers no setting for that; it calls
:func:`bounded` in each process that listens for HTTP before it starts uvicorn there.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import re
import socket
import struct
import time
from collections import Counter
from http import HTTPStatus
from typing import Any
from weakref import WeakSet

import uvicorn.config
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from serve.errors import LOG, ApiError
from serve.http.middleware import problem_response
from serve.settings import LIMITS_VARIABLE, RequestLimits

MOST_HEADERS = 100
MOST_HELD_BYTES = 64 << 10
"""A limit for the request line and all headers, and for what comes between pieces of a body."""
MOST_PIPELINED = 8
"""Requests of one connection that wait behind the one under way."""
LEAST_READ_BYTES = 32 << 10
"""What a client reads of an answer within ``stall_seconds``, or it is given up."""

_SWEEP_SECONDS = 0.5
_LINGER_SECONDS = 5.0
"""Longest silence while what is left of a body is read and dropped after an early answer: closing
at once would take the answer away from a client that still sends (RFC 9112, 9.6). ``body_seconds``
are the most in all."""

_MOST_DROPPED_BYTES = 128 << 20

_SERVES_OWN = frozenset(
    {
        "x_request_timeout_seconds",
        "x_request_disconnect_disabled",
        "x_session_id",
        "serve_multiplexed_model_id",
    }
)
"""Headers by which Ray Serve is told to wait for ever, to work on for nobody, or where to go. They
are for proxies of one's own; Serve reads ``_`` and ``-`` as the same."""

_TEMPORARY = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)
_HOSTS = {"1.0": (0, 1), "1.1": (1,)}
"""How many hosts a request names, by version (RFC 9112, 3.2)."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


@functools.cache
def limits_of_environment() -> RequestLimits:
    """The limits of :data:`LIMITS_VARIABLE`; defaults where it is not set."""
    text = os.environ.get(LIMITS_VARIABLE)
    return RequestLimits.model_validate_json(text) if text else RequestLimits()


def bounded() -> list[Middleware]:
    """Make uvicorn in this process use :class:`BoundedConnection`; what requests pass then."""
    uvicorn.config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{BoundedConnection.__name__}"
    return [Middleware(PlainRequests)]


class PlainRequests:
    """Takes from requests what is for Ray Serve and not for strangers to say.

    Where Serve itself fails before it answers, as with a replica that just died, the client is told
    to come again.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [each for each in scope["headers"] if _may_pass(*each)]
        begun = failed = False

        async def sent(message: Message) -> None:
            nonlocal begun, failed
            if message["type"] == "http.response.start":
                failed = not begun and _is_of_serve(message)
            if not failed:
                begun = True
                await send(message)

        try:
            await self._app(scope, receive, sent)
        except Exception:
            if begun or scope["type"] != "http":
                raise
            LOG.exception("no answer from a replica")
            failed = True
        if failed:
            error = ApiError(503, "no_replica", "no replica could answer", retry_after=1)
            await problem_response(error, "")(scope, receive, send)


def _is_of_serve(start: Message) -> bool:
    """Whether an error is Serve's own: answers of the ingress have an id."""
    named = any(name.lower() == b"x-request-id" for name, _ in start.get("headers", ()))
    return int(start["status"]) >= 500 and not named


def _may_pass(name: bytes, value: bytes) -> bool:
    if name == b"x-request-id":
        return _REQUEST_ID.fullmatch(value) is not None
    return name.decode("latin-1").replace("-", "_") not in _SERVES_OWN


class _ClosedInTurn:
    """A transport that closes its own direction first where the other side may be sending."""

    def __init__(self, transport: asyncio.Transport, connection: BoundedConnection) -> None:
        self._transport, self._connection = transport, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self._transport.is_closing() or self._connection.is_dropping

    def close(self) -> None:
        """Say that nothing more comes; the connection ends when the client has said so, too."""
        if not self._connection.is_dropping and self._connection.may_be_sent_more:
            self._connection.drop_the_rest()
            self._transport.write_eof()
        else:
            self._transport.close()


class BoundedConnection(HttpToolsProtocol):
    """A connection with bounds in time, size and number; see :class:`RequestLimits`."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limits = limits_of_environment()
        now = time.monotonic()
        self._idle_since: float | None = now
        """It is None while a request is under way."""
        self._headers_since: float | None = now
        """Since when a request's headers are expected; uvicorn closes what is kept alive itself."""
        self._lingers_since: float | None = None
        """Since when a body that nobody waits for any more is read and dropped."""
        self._dropped_at = now
        self._dropped_bytes = 0
        self.is_dropping = False
        """Whether whatever comes is dropped: all that was to be said is."""
        self._is_refused = False
        self._in_headers = True
        self._held_bytes = 0
        """Received since the parser last handed something on: headers, trailers, extensions."""
        self._unread, self._read_at = 0, now
        self._refusal = HTTPStatus.BAD_REQUEST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_ClosedInTurn(transport, self))  # type: ignore[arg-type]
        _watch(self.loop, self.server_state)
        if len(self.connections) > self._limits.connections and not self._make_room():
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)

    def _make_room(self) -> bool:
        """Close the connection that has been idle longest; False where none is."""
        idle = [
            (each._idle_since, each)
            for each in self.connections
            if isinstance(each, BoundedConnection) and each is not self and each._idle_since
        ]
        if not idle:
            return False
        _, longest = min(idle, key=lambda pair: pair[0])
        self.connections.discard(longest)
        longest._reset()
        return True

    @property
    def may_be_sent_more(self) -> bool:
        """Whether the client is, as far as is known, in the middle of a request."""
        return self._is_refused or (self.cycle is not None and self.cycle.more_body)

    def drop_the_rest(self) -> None:
        """Read on, so that the client comes to read what it was answered."""
        self.is_dropping = True
        self._headers_since = None
        self._idle_since = self._lingers_since = self._dropped_at = time.monotonic()
        self.flow.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._lingers_since is not None:
            self._dropped_at = time.monotonic()
            self._dropped_bytes += len(data)
            if self._dropped_bytes > _MOST_DROPPED_BYTES:
                self.transport.abort()
                return
        if self.transport.is_closing():
            return
        is_waited_for = self._idle_since is not None and self._lingers_since is None
        if is_waited_for and self._headers_since is None:
            self._headers_since = time.monotonic()
        self._held_bytes += len(data)
        super().data_received(data)
        if self._held_bytes > MOST_HELD_BYTES and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_headers:  # a trailer is no header: the request has been judged without it
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Raises ``ValueError`` for a request that is refused: uvicorn answers then."""
        self._check_headers()
        super().on_headers_complete()
        self._in_headers = False
        self._held_bytes = 0
        self._headers_since = self._idle_since = None

    def _check_headers(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if len(self.headers) > MOST_HEADERS or size > MOST_HELD_BYTES:
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise ValueError("too many headers")
        names = Counter(name for name, _ in self.headers)
        version = self.parser.get_http_version()
        if version not in _HOSTS or names[b"host"] not in _HOSTS[version]:
            raise ValueError("not HTTP/1.0 or 1.1, or more than one host, or none")
        if names[b"authorization"] > 1:
            raise ValueError("proxies differ in which of two keys they mean")
        if len(self.pipeline) >= MOST_PIPELINED:
            self._refusal = HTTPStatus.TOO_MANY_REQUESTS
            raise ValueError("too many requests at once")

    def on_body(self, body: bytes) -> None:
        self._held_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._held_bytes = 0
        if self._lingers_since is not None:
            self._lingers_since = None
            self._headers_since = time.monotonic()  # uvicorn's own timer is off since the body
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and not self.pipeline:
            self._idle_since = time.monotonic()
            if self.cycle.more_body:
                self._lingers_since = self._dropped_at = self._idle_since
                self._dropped_bytes = 0

    def resume_writing(self) -> None:
        self._read_at = time.monotonic()
        super().resume_writing()

    def _should_upgrade(self) -> bool:
        """Nothing here speaks WebSocket."""
        return False

    def send_400_response(self, msg: str) -> None:
        del msg
        self._refuse(self._refusal)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer outside the application, and close."""
        code = status.phrase.lower().replace(" ", "_")
        problem = {"code": code, "message": f"{status.phrase}: {status.description}"}
        body = json.dumps({"error": problem}).encode()
        lines = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            "content-type: application/json",
            f"content-length: {len(body)}",
            "cache-control: no-store",
            "connection: close",
            *(["retry-after: 1"] if status in _TEMPORARY else []),
        ]
        if not (self.cycle and self.cycle.response_started and not self.cycle.response_complete):
            self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self._is_refused = status is not HTTPStatus.REQUEST_TIMEOUT
        self.transport.close()

    def excuse(self, seconds: float) -> None:
        """This process was busy for so long: what came meanwhile has not been read."""
        self._read_at += seconds
        if self._headers_since is not None:
            self._headers_since += seconds
        self._dropped_at += seconds
        if self._lingers_since is not None:
            self._lingers_since += seconds

    def sweep(self, now: float) -> None:
        """End the connection where it takes too long."""
        limits = self._limits
        if self._headers_since is not None and now - self._headers_since > limits.header_seconds:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        elif self._lingers_since is not None and (
            now - self._dropped_at > _LINGER_SECONDS
            or now - self._lingers_since > limits.body_seconds
        ):
            self.is_dropping = True
            self.transport.close()
        unread = self.transport.get_write_buffer_size()
        if unread == 0 or self._unread == 0 or unread <= self._unread - LEAST_READ_BYTES:
            self._unread, self._read_at = unread, now
        elif now - self._read_at > limits.stall_seconds:
            self._reset()

    def _reset(self) -> None:
        """Drop what is not sent, in the kernel too, where it would wait for a reader."""
        connected = self.transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


_watched: WeakSet[ServerState] = WeakSet()
"""Servers of this process whose connections are swept."""


def _watch(loop: asyncio.AbstractEventLoop, server: ServerState) -> None:
    if server in _watched:
        return
    _watched.add(server)
    due = time.monotonic() + _SWEEP_SECONDS

    def sweep() -> None:
        nonlocal due
        now = time.monotonic()
        late = now - due
        for each in list(server.connections):
            if isinstance(each, BoundedConnection):
                if late > _SWEEP_SECONDS:
                    each.excuse(late)
                each.sweep(now)
        due = now + _SWEEP_SECONDS
        if server.connections:
            loop.call_later(_SWEEP_SECONDS, sweep)
        else:
            _watched.discard(server)

    loop.call_later(_SWEEP_SECONDS, sweep)
