"""Nodes of Ray that start slowly are waited for, unless they have ended.

Ray looks for half a minute whether a node that it starts is there, and then ends what has started.
On a machine that is busy compiling, a start takes longer, and the next attempt makes it busier. The
node's own raylet waits 15 seconds for its agent, which nothing changes, and ends where that takes
longer: who waits for the node has to see that, for Ray does not.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ray._private import services

START_SECONDS = 120.0
_POLL_SECONDS = 0.2


def ended_raylets(parent: int) -> set[int]:
    """Raylets that the process ``parent`` has started, that have ended, and that it has not
    noticed."""
    found: set[int] = set()
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found |= {child for child in map(int, path.read_text().split()) if _is_ended(child)}
    return found


def _is_ended(process: int) -> bool:
    try:
        name, _, rest = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return False
    return name == "raylet" and rest.split()[0] == "Z"


@contextlib.contextmanager
def patience(seconds: float = START_SECONDS) -> Iterator[None]:
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
