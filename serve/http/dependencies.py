"""What routes are given: the services, who asks, and a place in the queue.

All asynchronous: FastAPI calls others in a thread, which takes as long as translating does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from serve.request.access import Caller
from serve.request.ingress_services import IngressServices

Result = TypeVar("Result")

_bearer = HTTPBearer(auto_error=False, description="An API key of this server")


def services_of(request: Request) -> IngressServices:
    """The services of the replica that answers ``request``."""
    services: IngressServices = request.app.state.services()
    return services


async def get_services(request: Request) -> IngressServices:
    """:func:`services_of` as a FastAPI dependency."""
    return services_of(request)


async def request_id(request: Request) -> str:
    """The id that the log line and the answer carry."""
    value: str = request.state.request_id
    return value


def facts(request: Request) -> dict[str, Any]:
    """Fields of the request's log line; never source code."""
    value: dict[str, Any] = request.state.facts
    return value


# Each dependency of a dependency takes as long as translating a line: these have the least.
async def authenticated(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Caller:
    """The client that asks. Raises ``ApiError`` 401."""
    header = f"{credentials.scheme} {credentials.credentials}" if credentials else None
    client = services_of(request).keyring.client(header)
    facts(request)["key"] = client.name
    return client


async def admitted(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> AsyncIterator[Caller]:
    """The client, with a place held until the answer is made. Raises ``ApiError`` 401, 429."""
    client = await authenticated(request, credentials)
    client.take()
    with client.working(), services_of(request).admission.request():
        yield client


ServicesOf = Annotated[IngressServices, Depends(get_services)]
RequestId = Annotated[str, Depends(request_id)]
Authenticated = Annotated[Caller, Depends(authenticated)]
# Held until the last byte of a stream is sent, not until the route returns.
Admitted = Annotated[Caller, Depends(admitted, scope="request")]


async def unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of ``work``, which is cancelled when the client hangs up."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return await task
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
