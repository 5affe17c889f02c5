"""Rewards over HTTP: batches of programs and answers in, verdicts out.

    python -m serve.rewards --port 8100 --partial
    curl -H "authorization: Bearer $KEY" -d '{"items": [{"question": …, "answer": …}]}' \\
        http://127.0.0.1:8100/v1/rewards

An answer is untrusted: it is compiled and run in the sandbox alone. Who may ask is whoever has the
key that the server prints, or ``$CASS_REWARDS_KEY``.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import sys
from typing import Annotated, Any

import typer
from fastapi import FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cass_ray.config import StrictModel
from cass_ray.execute.rewards.client import KEY_VARIABLE
from cass_ray.execute.rewards.judge import LocalRewards
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import (
    LARGEST_BATCH,
    PartialCredit,
    Rewarder,
    RewardItem,
    RewardVerdict,
)
from cass_ray.exit_codes import EXIT_TOOL_MISSING, EXIT_USAGE, fail
from cass_ray.toolchain.errors import ToolMissing
from serve.request.access import key_digest, new_key

LARGEST_BODY = 64 << 20
_WAITING = 8
"""Batches that may wait; a trainer sends one at a time."""

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class RewardBatch(StrictModel):
    """What is judged together."""

    items: list[RewardItem] = Field(max_length=LARGEST_BATCH)


class RewardAnswers(StrictModel):
    """A verdict for each item, in their order."""

    verdicts: list[RewardVerdict]


class _Bounded:
    """Refuses bodies that are too large before they are kept."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what arrives; past the bound the request ends with 413."""
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._most:
                raise HTTPException(413, f"a batch has at most {self._most >> 20} MiB")
            return message

        await self._app(scope, counted if scope["type"] == "http" else receive, send)


def make_app(rewarder: Rewarder, key: str) -> FastAPI:
    """The application; without a ``key`` anyone may ask."""
    digest = key_digest(key) if key else ""
    made = FastAPI(title="cass-ray rewards", docs_url=None, redoc_url=None)
    made.add_middleware(_Bounded, most=LARGEST_BODY)
    room = asyncio.Semaphore(_WAITING)

    def admit(request: Request) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if digest and not (
            scheme.lower() == "bearer" and hmac.compare_digest(key_digest(given), digest)
        ):
            raise HTTPException(401, "give the server's key: authorization: Bearer KEY")
        if room.locked():
            raise HTTPException(503, "too many batches wait; send one at a time")

    @made.middleware("http")
    async def first(request: Request, following: Any) -> Any:
        if request.url.path.startswith("/v1/"):
            try:
                admit(request)
            except HTTPException as error:
                from starlette.responses import JSONResponse

                return JSONResponse({"detail": error.detail}, error.status_code)
        return await following(request)

    @made.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @made.post("/v1/rewards")
    async def rewards(batch: RewardBatch) -> RewardAnswers:
        async with room:
            verdicts = await run_in_threadpool(rewarder.rewards, batch.items)
        return RewardAnswers(verdicts=verdicts)

    return made


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=1, max=65_535)] = 8100,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Answers judged at a time. [default: one a core]")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Credit for what compiles, runs, is right in part.")
    ] = False,
    backend: Annotated[str, typer.Option(help="Where answers run.")] = "auto",
) -> None:
    """Judge translations over HTTP, as rewards for training."""
    import uvicorn

    settings = RewardSettings(backend=backend, partial=PartialCredit() if partial else None)
    try:
        judge = settings.judge()
    except ToolMissing as error:
        fail("reward", error, EXIT_TOOL_MISSING)
    except ValueError as error:
        fail("reward", error, EXIT_USAGE)
    key = os.environ.get(KEY_VARIABLE) or new_key()
    if not os.environ.get(KEY_VARIABLE):
        sys.stdout.write(f"{KEY_VARIABLE}={key}\n")
        sys.stdout.flush()
    rewarder = LocalRewards(judge, workers or len(os.sched_getaffinity(0)))
    uvicorn.run(make_app(rewarder, key), host=host, port=port, log_level="warning")


if __name__ == "__main__":
    app()
