"""Errors with an HTTP status, and what the service makes of those of others."""

from __future__ import annotations

import functools
import logging
import math

from pydantic import ValidationError

from cass_ray.api.schema import Problem
from cass_ray.lift.errors import LiftError
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.translate.protocol import TranslatorError
from serve.messages import without_paths

LOG = logging.getLogger("cass.serve")


class ApiError(Exception):
    """An answer that is no success. ``retry_after`` is seconds."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        retry_after: float | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        """Replicas raise it across processes; by default only the message would come along."""
        make = functools.partial(
            ApiError, retry_after=self.retry_after, details=tuple(self.details)
        )
        return make, (self.status, self.code, self.message)

    def problem(self, request_id: str) -> Problem:
        return Problem(
            code=self.code,
            message=without_paths(self.message),
            request_id=request_id,
            details=[without_paths(each) for each in self.details],
        )

    def headers(self) -> dict[str, str]:
        """``Retry-After`` in whole seconds, at least one."""
        if self.retry_after is None:
            return {}
        return {"Retry-After": str(max(1, math.ceil(self.retry_after)))}


def overloaded(what: str, retry_after: float = 1.0) -> ApiError:
    """The 429 for more work than is let in."""
    return ApiError(429, "overloaded", f"{what}: try again later", retry_after=retry_after)


def as_api_error(error: Exception, request_id: str) -> ApiError:
    """Return what a client is told of ``error``; one that is a bug is logged."""
    api_error = from_library(error)
    if api_error is None:
        LOG.error("unexpected error", exc_info=error, extra={"request_id": request_id})
        return ApiError(500, "internal", f"an error of the server, logged as {request_id}")
    return api_error


def from_library(error: Exception) -> ApiError | None:
    """An error of the library in the API's terms; None for one that is a bug."""
    match error:
        case ApiError():
            return error
        case ToolMissing():
            return ApiError(503, "tool_missing", f"{error.tool} is missing on the server")
        case IsolationUnavailableError():
            return ApiError(503, "no_sandbox", "the server cannot isolate programs: nothing runs")
        case Starved():
            return ApiError(503, "machine_busy", str(error), retry_after=5)
        case TranslatorError() | LiftError():
            return ApiError(422, "not_translated", str(error))
        case ValidationError():
            details = tuple(
                f"{'.'.join(map(str, each['loc']))}: {each['msg']}".lstrip(": ")
                for each in error.errors(include_input=False)
            )
            return ApiError(422, "invalid", "the request is not valid", details=details)
        case TimeoutError():
            return ApiError(504, "time_limit", "the request took longer than the server allows")
        case _:
            return None
