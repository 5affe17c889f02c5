"""Bodies that would take long to validate, refused before they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from serve.errors import ApiError

MOST_VALUES = 10_000
"""The most values of a body, names included. Validation makes objects of each, several where it is
wrong: a megabyte would take seconds of the process that answers everybody."""

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_MARK = re.compile(rb"[,:\[{]")


def values_of(body: bytes) -> int:
    """How many values and names JSON has, as its marks outside of texts tell. Takes time linear in
    the length of ``body``, whatever it is."""
    return len(_MARK.findall(_TEXT.sub(b"", body))) + 1


class JsonRoute(APIRoute):
    """A route whose body is counted before it is validated."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def counted(request: Request) -> Response:
            if request.method == "POST" and values_of(await request.body()) > MOST_VALUES:
                raise ApiError(
                    422, "invalid", f"the body has more than {MOST_VALUES} names and values"
                )
            return await handler(request)

        return counted
