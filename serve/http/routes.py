"""The routes of API v1, beside jobs and those that are compatible with OpenAI's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response
from fastapi.responses import StreamingResponse

from cass_ray.api.machine_code import AssemblyRequest, AssemblyResponse, AssemblySide
from cass_ray.api.schema import (
    ARCHITECTURES,
    EXAMPLE,
    Capabilities,
    Check,
    Event,
    Example,
    ProblemResponse,
    TranslateRequest,
    TranslateResponse,
)
from cass_ray.architectures import NVIDIA_ARCHITECTURES, cards_of
from cass_ray.version import __version__
from serve.errors import ApiError, as_api_error
from serve.http.dependencies import (
    Admitted,
    Authenticated,
    ServicesOf,
    facts,
    services_of,
    unless_gone,
)
from serve.http.json_bodies import JsonRoute
from serve.http.streams import within
from serve.request.pipeline import Pipeline
from serve.ui.examples import examples

router = APIRouter(route_class=JsonRoute)

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemResponse, "description": text}
    for status, text in {
        400: "Not HTTP or JSON",
        401: "No API key, or an unknown one",
        404: "No such engine or job",
        413: "The body is too large",
        422: "The request cannot be carried out",
        429: "Too many requests: see Retry-After",
        500: "An error of the server",
        503: "A tool or a replica is missing",
        504: "It took too long",
    }.items()
}

EVENT_SCHEMA = {
    "type": "object",
    "description": "One server-sent event; `data` is JSON (see the schema Event)",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
    "required": ["data"],
}

_EXAMPLES = {
    "rules": {
        "summary": "Rules, executed before it is handed over",
        "value": {"source": EXAMPLE, "check": "execute"},
    },
    "compile": {
        "summary": "For an MI300, compiled only",
        "value": {"source": EXAMPLE, "arch": "gfx942", "check": "compile"},
    },
}


@router.post(
    "/v1/translate",
    response_model=TranslateResponse,
    responses={
        **PROBLEMS,
        200: {
            "description": "The translation and its verdict; a stream of events with stream=true",
            "content": {"text/event-stream": {"schema": EVENT_SCHEMA}},
        },
    },
    tags=["translate"],
)
async def translate(
    request: Request,
    body: Annotated[TranslateRequest, Body(openapi_examples=_EXAMPLES)],
    client: Admitted,
) -> Response:
    """Translate a program; compile it and run it as far as ``check`` says."""
    services, noted = services_of(request), facts(request)
    noted.update(engine=body.engine, check=body.check.value)
    pipeline = Pipeline(services, body, request.state.request_id)
    if body.stream:
        held = ExitStack()
        if body.check is not Check.NONE:
            held.enter_context(services.admission.check(client.name))
        pieces = within(
            _events(pipeline, noted),
            services.settings.limits.request_seconds,
            lambda error: _failed(error, pipeline.id),
            held,
        )
        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(pieces, media_type="text/event-stream", headers=headers)
    if body.check is Check.NONE and services.is_quick(body):
        response = await pipeline.result()
    else:
        with ExitStack() as held:
            if body.check is not Check.NONE:
                held.enter_context(services.admission.check(client.name))
            async with asyncio.timeout(services.settings.limits.request_seconds):
                response = await unless_gone(request, pipeline.result())
    noted.update(answered=response.engine, verification=response.verdict.verification.value)
    # pydantic writes its own JSON: half the time of validating and encoding it once more.
    return Response(response.model_dump_json(), media_type="application/json")


async def _events(pipeline: Pipeline, noted: dict[str, Any]) -> AsyncIterator[str]:
    async for event in pipeline.events():
        if isinstance(event, TranslateResponse):
            verification = event.verdict.verification.value
            noted.update(answered=event.engine, verification=verification)
            yield _encoded(Event(type="result", data=event.model_dump(mode="json")))
        else:
            yield _encoded(event)


def _failed(error: Exception, request_id: str) -> str:
    problem = as_api_error(error, request_id)
    return _encoded(Event(type="error", data=problem.problem(request_id).model_dump(mode="json")))


def _encoded(event: Event) -> str:
    return f"event: {event.type}\ndata: {json.dumps(event.data)}\n\n"


@router.post("/v1/assembly", responses=PROBLEMS, tags=["translate"])
async def assembly(
    request: Request, body: AssemblyRequest, services: ServicesOf, client: Admitted
) -> AssemblyResponse:
    """A program and its translation as machine code: SASS beside AMD's, each instruction with the
    line of its source. What does not compile is a side with a problem."""
    sides: dict[str, AssemblySide] = {}

    async def both() -> None:
        async for side in services.checker.listings(body):
            sides[side.vendor] = side

    with services.admission.check(client.name):
        async with asyncio.timeout(services.settings.limits.request_seconds):
            await unless_gone(request, both())
    return AssemblyResponse.model_validate(sides)


@router.get("/v1/examples", tags=["page"])
async def list_examples() -> list[Example]:
    """Programs to try; their outputs on an Nvidia GPU are known."""
    return examples()


@router.get("/v1/capabilities", responses=PROBLEMS, tags=["page"])
async def capabilities(services: ServicesOf, client: Authenticated) -> Capabilities:
    """Engines, architectures, backends and limits."""
    del client
    limits = services.settings.limits
    return Capabilities(
        version=__version__,
        engines=[engine.info for engine in services.engines.values()],
        checks=list(Check),
        architectures=[*ARCHITECTURES, *NVIDIA_ARCHITECTURES],
        targets=await services.checker.targets(),
        backends=await services.checker.backends(),
        limits={
            "body_kib": limits.body_kib,
            "request_seconds": limits.request_seconds,
            "archive_mib": services.settings.jobs.archive_mib,
        },
        authentication=services.settings.authentication.enabled,
        cards={name: list(cards_of(name)) for name in [*ARCHITECTURES, *NVIDIA_ARCHITECTURES]},
        shares=services.settings.shares.enabled,
    )


@router.get("/healthz", tags=["operations"])
async def healthz() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: PROBLEMS[503]}, tags=["operations"])
async def readyz(services: ServicesOf) -> dict[str, str]:
    """Whether a request would be worked on."""
    if services.admission.in_flight >= services.settings.limits.in_flight:
        raise ApiError(503, "busy", "all places are taken", retry_after=1)
    return {"status": "ready"}


@router.get(
    "/metrics",
    response_class=Response,
    responses={401: PROBLEMS[401], 200: {"content": {"text/plain": {}}}},
    tags=["operations"],
)
async def metrics(services: ServicesOf, client: Authenticated) -> Response:
    """Counters in Prometheus' text format."""
    del client
    return Response(services.metrics.text(), media_type=services.metrics.content_type)
