"""Rewards over HTTP: batches of programs and answers in, verdicts out.

An answer is untrusted: it is compiled and run in the sandbox alone.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from cass_ray.api.keys import BearerGuard, key_digest
from cass_ray.config import StrictModel
from cass_ray.execute.rewards.verdicts import LARGEST_BATCH, Rewarder, RewardItem, RewardVerdict
from cass_ray.version import __version__

API = "/v1"
LARGEST_BODY = 64 << 20
_WAITING = 8
"""Batches that may wait; a trainer sends one at a time."""


class RewardBatch(StrictModel):
    """What is judged together."""

    items: list[RewardItem] = Field(max_length=LARGEST_BATCH)


class RewardAnswers(StrictModel):
    """A verdict for each item, in their order."""

    verdicts: list[RewardVerdict]


def make_app(rewarder: Rewarder, key: str) -> FastAPI:
    """The application; without a ``key`` anyone may ask."""
    app = FastAPI(title="cass-ray rewards", version=__version__, docs_url=None, redoc_url=None)
    room = asyncio.Semaphore(_WAITING)

    @app.middleware("http")
    async def has_room(request: Request, following: Any) -> Any:
        if request.url.path.startswith(API) and room.locked():
            busy = {"detail": "too many batches wait; send one at a time"}
            return JSONResponse(busy, HTTPStatus.SERVICE_UNAVAILABLE)
        return await following(request)

    if key:  # outermost: no byte of a stranger's body is read
        app.add_middleware(BearerGuard, digest=key_digest(key), prefix=API)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.post(f"{API}/rewards", max_body_size=LARGEST_BODY)
    async def rewards(batch: RewardBatch) -> RewardAnswers:
        async with room:
            verdicts = await run_in_threadpool(rewarder.rewards, batch.items)
        return RewardAnswers(verdicts=verdicts)

    return app
