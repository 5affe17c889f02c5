"""What happens to every request: an id, a bound on its body, one line in the log, its metrics.

Plain ASGI: it adds well under a millisecond and leaves streams alone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cass_ray.api.schema import ProblemResponse
from serve.errors import LOG, ApiError, as_api_error
from serve.http.origins import check_origin
from serve.request.ingress_services import IngressServices

JOBS_PATH = "/v1/jobs"

_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

_PAGE_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""CodeMirror makes style sheets at run time, hence unsafe-inline for styles."""

_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": _PAGE_POLICY,
}


def problem_response(error: ApiError, request_id: str) -> JSONResponse:
    """``error`` as an answer of its status, with the body that the API describes."""
    body = ProblemResponse(error=error.problem(request_id)).model_dump(mode="json")
    return JSONResponse(body, error.status, error.headers())


class Envelope:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, services: Callable[[], IngressServices]) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send, self._services())
        await exchange.run(self._app)


class _Exchange:
    """One request and its answer."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, services: IngressServices
    ) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._services = services
        self._headers = Headers(scope=scope)
        given = self._headers.get("x-request-id", "")
        self.id = given if _ID.fullmatch(given) else uuid.uuid4().hex
        self._started = time.perf_counter()
        self._status = 0
        self._received = 0
        self._has_body = False
        self._arriving = ExitStack()
        """Held until the body is there."""
        self._limit = self._body_limit()
        scope.setdefault("state", {})
        scope["state"]["request_id"] = self.id
        self._facts: dict[str, Any] = scope["state"].setdefault("facts", {})

    def _body_limit(self) -> int:
        settings = self._services.settings
        if self._scope["path"].rstrip("/") == JOBS_PATH:
            return settings.jobs.archive_mib << 20
        return settings.limits.body_kib << 10

    async def run(self, app: ASGIApp) -> None:
        """Pass the request on; answer for what goes wrong."""
        metrics = self._services.metrics
        metrics.in_flight.inc()
        try:
            self._check_origin()
            self._check_length()
            self._let_in()
            await app(self._scope, self._bounded_receive, self._answer)
        except Exception as error:
            await self._fail(error)
        finally:
            self._arriving.close()
            metrics.in_flight.dec()
            self._record()

    def _check_origin(self) -> None:
        settings = self._services.settings
        if not settings.authentication.enabled:
            check_origin(self._headers, self._scope["method"], settings.cors_origins)

    def _check_length(self) -> None:
        length = self._headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._limit:
            raise _too_large(self._limit)

    def _let_in(self) -> None:
        """Decide, before a byte of a body is kept, whose it is and whether one more may arrive."""
        if self._scope["method"] in _WITHOUT_BODY or not self._scope["path"].startswith("/v1/"):
            return
        caller = self._services.keyring.client(self._headers.get("authorization"))
        self._arriving.enter_context(caller.sending())
        self._arriving.enter_context(self._services.admission.arrival())

    async def _bounded_receive(self) -> Message:
        if self._has_body:  # what comes next is the end of the connection, whenever that is
            return await self._receive()
        limits = self._services.settings.limits
        left = self._started + limits.body_seconds - time.perf_counter()
        try:
            async with asyncio.timeout(min(left, limits.stall_seconds)):
                message = await self._receive()
        except TimeoutError:
            # On a machine that is busy enough it may have come: RFC 9110 lets it be sent again.
            raise ApiError(
                408, "body_too_slow", "the body of the request does not come", retry_after=1
            ) from None
        self._has_body = not message.get("more_body", False)
        if self._has_body:
            self._arriving.close()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            if self._received > self._limit:
                raise _too_large(self._limit)
        return message

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.id
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if not self._scope["path"].startswith("/static/"):
                headers.setdefault("cache-control", "no-store")
        await self._send(message)

    async def _fail(self, error: Exception) -> None:
        problem = as_api_error(error, self.id)
        if self._status:  # the answer has begun: all that is left is to end it
            LOG.warning("answer cut", extra={"request_id": self.id, "code": problem.code})
            return
        self._facts["code"] = problem.code
        await problem_response(problem, self.id)(self._scope, self._receive, self._answer)

    def _record(self) -> None:
        seconds = time.perf_counter() - self._started
        route = getattr(self._scope.get("route"), "path", "other")
        metrics = self._services.metrics
        metrics.requests.labels(route, str(self._status)).inc()
        metrics.seconds.labels(route).observe(seconds)
        if self._status == 429:
            metrics.refused.labels(str(self._facts.get("code", ""))).inc()
        LOG.info(
            "request",
            extra={
                "request_id": self.id,
                "method": self._scope["method"],
                "route": route,
                "status": self._status,
                "seconds": round(seconds, 6),
                "bytes": self._received,
                **self._facts,
            },
        )


def _too_large(limit: int) -> ApiError:
    return ApiError(413, "too_large", f"the body is larger than {limit} bytes")


class JsonLogFormatter(logging.Formatter):
    """One JSON object a line; what was passed as ``extra`` are its fields."""

    _OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            name: value
            for name, value in vars(record).items()
            if name not in self._OWN and not name.startswith("ray_") and name not in _SERVE_FIELDS
        }
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **fields,
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


_SERVE_FIELDS = frozenset({"skip_context_filter", "job_id", "worker_id", "node_id", "actor_id"})


def configure_logging(level: str) -> None:
    """Send our log to standard error as JSON lines; past Serve, which would wrap each line."""
    handler = logging.StreamHandler(sys.__stderr__)
    handler.setFormatter(JsonLogFormatter())
    LOG.handlers = [handler]
    LOG.setLevel(level.upper())
    LOG.propagate = False


_MOST_DETAILS = 20
_DETAIL_CHARACTERS = 300
"""A body of a million unknown names is not answered with as many lines."""


def problem_of_validation(errors: list[dict[str, Any]]) -> ApiError:
    """What pydantic said, a line for each field. Values are not repeated: they are source code."""
    details = [
        f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}"[:_DETAIL_CHARACTERS]
        for error in errors[:_MOST_DETAILS]
    ]
    if len(errors) > _MOST_DETAILS:
        details.append(f"and {len(errors) - _MOST_DETAILS} more")
    return ApiError(422, "invalid", "the request is not valid", details=tuple(details))
