"""Nodes of Ray that start slowly are waited for.

Ray looks for half a minute whether a node that it starts is there, and then ends what has started.
On a machine that is busy compiling, a start takes longer, and the next attempt makes it busier.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from ray._private import services

START_SECONDS = 120.0
_POLL_SECONDS = 0.2


@contextlib.contextmanager
def patience(seconds: float = START_SECONDS) -> Iterator[None]:
    """Let each look for a node that is not there yet take ``seconds``."""
    ask = services.get_node

    def wait(*place: Any) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return ask(*place)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)

    services.get_node = wait
    try:
        yield
    finally:
        services.get_node = ask
