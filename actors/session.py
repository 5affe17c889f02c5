"""Joining or starting Ray, once for build, training and service."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import ray

_START_ATTEMPTS = 4
_CHATTER = b"Set ray log level from environment variable"
_STARTED_TOO_SLOWLY = "timed out during startup"

LEAN_NODE: dict[str, Any] = {
    "enable_metrics_collection": False,
    "task_events_report_interval_ms": 0,
}
"""``_system_config`` of a local node that lives as long as a job and that nobody looks at: its
metrics and task events would take two seconds of CPU a minute."""


def start_local(**options: Any) -> None:
    """Start a node on this machine for this process alone; ``options`` are ``ray.init``'s.

    Ray gives a node 30 s, which a machine that is busy compiling may exceed: then once more.
    """
    logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
    for attempt in range(_START_ATTEMPTS):
        try:
            with _without_chatter():
                ray.init(address="local", include_dashboard=False, **options)
            return
        except Exception as error:  # Ray raises nothing narrower
            if _STARTED_TOO_SLOWLY not in str(error) or attempt + 1 == _START_ATTEMPTS:
                raise
            ray.shutdown()


def join_submitted(**options: Any) -> bool:
    """Join the cluster of ``RAY_ADDRESS``, which a submitted job has; False where there is none.

    True also where this process has joined one already.
    """
    if ray.is_initialized():
        return True
    if not os.environ.get("RAY_ADDRESS"):
        return False
    with _without_chatter():
        ray.init(**options)
    return True


@contextlib.contextmanager
def _without_chatter() -> Iterator[None]:
    """Ray's core says on standard error, past Python's, which log level it was given."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            said.seek(0)
            for line in said:
                if _CHATTER not in line:
                    os.write(2, line)
