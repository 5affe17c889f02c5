"""``cass serve``: the service on this machine, or on the Ray cluster that is named."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Any

import typer

from cass_ray.commands.endings import ending
from cass_ray.config import load, parse_overrides
from cass_ray.exit_codes import EXIT_INTERRUPTED
from cass_ray.extras import needing

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def serve(
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="[default: 8000]")] = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")
    ] = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Ask for no API key; on loopback only.")
    ] = False,
    config: Annotated[Path | None, typer.Option(help="YAML settings (serve/settings.py).")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, such as limits.in_flight=32.")
    ] = None,
    address: Annotated[
        str, typer.Option(help="Ray cluster to run on; `local` starts one.")
    ] = "local",
    new_key: Annotated[
        str, typer.Option(metavar="NAME", help="Print a new API key and its settings, and end.")
    ] = "",
    as_config: Annotated[
        bool, typer.Option("--print-config", help="Print the file for `serve deploy`, and end.")
    ] = False,
) -> None:
    """Serve translations over HTTP, with a page at /.

    Without keys in the settings a key is made for this run, and printed with the page's address.
    """
    if new_key:
        _print_key(new_key)
        return
    with needing("serve", "serve"):
        from serve.settings import ServeSettings
    with ending("serve"):
        given: dict[str, Any] = parse_overrides(overrides or [])
        flags = {"port": port, "host": host}
        given |= {name: value for name, value in flags.items() if value is not None}
        if no_auth:
            given["authentication"] = {"enabled": False}
        settings = load(ServeSettings, config, given)
    if as_config:
        with needing("serve", "serve"):
            from serve.deployments.deploy import deploy_config

        sys.stdout.write(deploy_config(settings))
        return
    _run(settings, address)


def _print_key(name: str) -> None:
    from cass_ray.api.keys import key_digest, new_key

    key = new_key()
    sys.stdout.write(
        f"{key}\n\nThe key is kept nowhere. For the settings:\n\n"
        f"authentication:\n  keys:\n    - name: {name}\n      sha256: {key_digest(key)}\n"
    )


def _say(what: str) -> None:
    sys.stderr.write(f"serve: {what}\n")
    sys.stderr.flush()


def _run(settings: Any, address: str) -> None:
    with needing("serve", "serve"):
        from serve.deployments.ray_environment import prepare

        if address == "local":
            prepare(settings)
        # What its parts import later, when Ray has been started.
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import ray.serve  # noqa: F401

        from serve.deployments.local_service import DidNotStart, Service, with_key
    # A handler may run while the main thread is in the middle of waiting: only this queue may be
    # used from both (an event's lock would never be released).
    ended_by: SimpleQueue[int] = SimpleQueue()
    settings, key = with_key(settings)
    with ExitStack() as stack:
        with needing("serve", "serve"), ending("serve", failed=(DidNotStart,)):
            service = stack.enter_context(Service(settings, address, _say))
        # Only now: Ray puts handlers of its own in place, which end the process at once.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda received, _: ended_by.put(received))
        place = f"{service.url}/" + (f"#key={key}" if key else "")
        sys.stdout.write(f"cass-ray serves at {place}\n")
        if key:
            sys.stdout.write(f"API key of this run: {key}\n")
        sys.stdout.flush()
        received = ended_by.get()
    if received == signal.SIGINT:
        raise typer.Exit(EXIT_INTERRUPTED)
