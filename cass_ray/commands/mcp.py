"""``cass mcp``: the tools of cass-ray for agents, over the Model Context Protocol."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.api.keys import BearerGuard, key_digest, new_key
from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.extras import needing

TOKEN_VARIABLE = "CASS_MCP_TOKEN"

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(name="mcp")
def mcp_command(
    root: Annotated[
        Path, typer.Option(help="The workspace: what tools read and write lies inside.")
    ] = Path(),
    http: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65_535, help="Serve HTTP on 127.0.0.1, not stdio."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Compilations and runs at a time.")] = 1,
) -> None:
    """Serve tools for agents: translate, compile, run, verify, explain, findings, projects.

    Without --http it speaks on standard input and output, as agents start it. With --http the
    address is /mcp, and clients send the token of $CASS_MCP_TOKEN (one is made and printed where
    there is none). Programs run in the sandbox.
    """
    if not root.is_dir():
        fail("mcp", f"{root} is not a folder", EXIT_USAGE)
    with needing("mcp", "mcp"):
        from cass_ray.agents.server import make_server
    server = make_server(root, jobs)
    if http is None:
        server.run()
        return
    with needing("mcp", "mcp"):
        import uvicorn

    token = os.environ.get(TOKEN_VARIABLE) or new_key()
    if TOKEN_VARIABLE not in os.environ:
        typer.echo(f"{TOKEN_VARIABLE}={token}", err=True)
    typer.echo(f"http://127.0.0.1:{http}/mcp", err=True)
    guarded = BearerGuard(server.streamable_http_app(), key_digest(token))
    uvicorn.run(guarded, host="127.0.0.1", port=http, log_level="warning")
