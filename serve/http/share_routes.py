"""``/v1/shares``: links to an answer of this server, where its settings allow them."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path

from cass_ray.api.schema import SharedAnswer, ShareId, TranslateRequest
from serve.errors import ApiError
from serve.http.dependencies import Admitted, Authenticated, ServicesOf
from serve.http.json_bodies import JsonRoute
from serve.http.routes import PROBLEMS
from serve.request.answer_cache import answer_key
from serve.request.ingress_services import IngressServices
from serve.request.shares import Shares

router = APIRouter(prefix="/v1/shares", tags=["page"], route_class=JsonRoute)


def _shares(services: IngressServices) -> Shares:
    if not services.settings.shares.enabled:
        raise ApiError(404, "no_shares", "this server makes no links (its setting shares.enabled)")
    return Shares(services.settings.shares)


@router.post("", status_code=201, responses=PROBLEMS)
async def share(body: TranslateRequest, services: ServicesOf, client: Admitted) -> ShareId:
    """Keep a request and the answer that it got here; whoever has the link and a key sees both."""
    del client
    shares, engine = _shares(services), services.engines.get(body.engine)
    version = await engine.version() if engine is not None else ""
    answer = services.answers.get(answer_key(body, f"{body.engine} {version}"))
    if answer is None:
        message = "this server has no such answer, or it failed its check: translate it again"
        raise ApiError(409, "no_answer", message)
    kept = SharedAnswer(request=body, answer=answer)
    return ShareId(id=await asyncio.to_thread(shares.put, kept))


@router.get("/{share}", responses=PROBLEMS)
async def shared(
    share: Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")],
    services: ServicesOf,
    client: Authenticated,
) -> SharedAnswer:
    """A request and its answer."""
    del client
    return await asyncio.to_thread(_shares(services).get, share)
