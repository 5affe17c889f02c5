"""``cass reward serve``: translations judged over HTTP.

    cass reward serve --port 8100 --partial
    curl -H "authorization: Bearer $CASS_REWARDS_KEY" -H 'content-type: application/json' \\
        -d '{"items": [{"question": …, "answer": …}]}' http://127.0.0.1:8100/v1/rewards

Who may ask is whoever has the key that the server prints, or ``$CASS_REWARDS_KEY``.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from cass_ray.api.keys import new_key
from cass_ray.commands.endings import ending
from cass_ray.execute.rewards.client import KEY_VARIABLE
from cass_ray.execute.rewards.judge import LocalRewards
from cass_ray.execute.rewards.processes import THREADS, ProcessRewards
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import PartialCredit
from cass_ray.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, fail
from cass_ray.extras import needing

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _reward() -> None:
    """Answers of a model, compiled, run and compared, as rewards for its training."""


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
    """Judge translations over HTTP.

    Clients send the key of $CASS_REWARDS_KEY; one is made and printed where there is none.
    """
    with needing("serve", "reward"):
        import uvicorn

        from serve.http.rewards import make_app
    settings = RewardSettings(backend=backend, partial=PartialCredit() if partial else None)
    with ending("reward", usage=(ValueError,)):
        judge = settings.judge()
    key = os.environ.get(KEY_VARIABLE) or new_key()
    if not os.environ.get(KEY_VARIABLE):
        sys.stdout.write(f"{KEY_VARIABLE}={key}\n")
        sys.stdout.flush()
    workers = workers or len(os.sched_getaffinity(0))
    many = workers > THREADS
    rewarder = ProcessRewards(settings.judge, workers) if many else LocalRewards(judge, workers)
    config = uvicorn.Config(
        make_app(rewarder, key),
        host=host,
        port=port,
        log_level="warning",
        log_config=None,  # uvicorn's own would close all handlers of this process
    )
    server = uvicorn.Server(config)
    try:
        server.run()  # uvicorn.run would keep the interrupt to itself
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if not server.started:
        fail("reward", f"cannot listen on {host}:{port}", EXIT_FAILED)
