"""A node of Ray on this machine that lives as long as a job and that nobody else looks at.

Ray starts the same processes for it as for the head of a cluster, each of them a Python that
imports Ray: two seconds of CPU, and more for as long as the job takes. Ray has no switch for those
that have nothing to do here, so that what starts them is replaced while a node starts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from ray._private.node import Node


@contextlib.contextmanager
def minimal_head(log_monitor: bool) -> Iterator[None]:
    """Heads that start meanwhile have no autoscaler and no dashboard, and unless ``log_monitor``
    nobody sends what workers print to the driver."""
    left_out = ["start_monitor", "start_api_server"]
    left_out += [] if log_monitor else ["start_log_monitor"]
    with contextlib.ExitStack() as stack:
        for name in left_out:
            if hasattr(Node, name):  # another version of Ray may start them otherwise, and does
                stack.enter_context(mock.patch.object(Node, name, _nothing))
        yield


def _nothing(*arguments: Any, **options: Any) -> None:
    """It stands for what is left out."""
