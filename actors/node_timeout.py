"""Nodes of Ray that start slowly are waited for, unless they have ended.

Ray looks for half a minute whether a node that it starts is there, and then ends what has started.
On a machine that is busy compiling, a start takes longer, and the next attempt makes it busier.

The node's own raylet waits 15 seconds for its agents to note which ports they have drawn, and ends
where that takes longer, which Ray does not see. So they are told which to take, and that is noted
for them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import ray._raylet
from ray._private import services

from actors.ports import free_ports

START_SECONDS = 120.0
_POLL_SECONDS = 0.2

AGENTS_PORTS = (
    ray._raylet.METRICS_AGENT_PORT_NAME,
    ray._raylet.METRICS_EXPORT_PORT_NAME,
    ray._raylet.DASHBOARD_AGENT_LISTEN_PORT_NAME,
    ray._raylet.RUNTIME_ENV_AGENT_PORT_NAME,
)
"""Names of the notes, and of the arguments of Ray's ``start_raylet``."""


def ended_raylets(parent: int) -> set[int]:
    """Raylets that the process ``parent`` has started, that have ended, and that it has not
    noticed."""
    raylets: set[int] = set()
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            raylets |= {child for child in map(int, path.read_text().split()) if _is_ended(child)}
    return raylets


def _is_ended(process: int) -> bool:
    try:
        name, _, rest = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return False
    return name == "raylet" and rest.split()[0] == "Z"


@contextlib.contextmanager
def longer_node_timeout(seconds: float = START_SECONDS) -> Iterator[None]:
    """Let each look for a node that is not there yet take ``seconds``, while its raylet lives."""
    ask = services.get_node
    before = ended_raylets(os.getpid())

    def wait(*place: Any) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return ask(*place)
            except RuntimeError:
                if time.monotonic() > deadline or ended_raylets(os.getpid()) - before:
                    raise
                time.sleep(_POLL_SECONDS)

    services.get_node = wait
    try:
        yield
    finally:
        services.get_node = ask


@contextlib.contextmanager
def noted_ports() -> Iterator[None]:
    """Raylets that are started meanwhile find the ports of their agents noted.

    Those that the caller of Ray has not chosen are drawn; raises :class:`~.ports.PortsTaken`.
    """
    start = services.start_raylet

    @functools.wraps(start)
    def start_raylet(*arguments: Any, **options: Any) -> Any:
        given = inspect.signature(start).bind(*arguments, **options)
        drawn = zip(AGENTS_PORTS, free_ports(len(AGENTS_PORTS)), strict=True)
        for name, port in drawn:
            given.arguments[name] = given.arguments.get(name) or port
            node = given.arguments["session_dir"], given.arguments["node_id"]
            ray._raylet.persist_port(*node, name, given.arguments[name])
        return start(*given.args, **given.kwargs)

    with mock.patch.object(services, "start_raylet", start_raylet):
        yield
