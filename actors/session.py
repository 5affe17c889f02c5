"""Joining or starting Ray, once for build, training and service."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import ray
from ray._private import ray_constants
from rich.console import Console

from actors.minimal_head import minimal_head
from actors.node_timeout import START_SECONDS, longer_node_timeout, noted_ports
from cass_ray.commands.waiting import waiting
from cass_ray.interrupts import end_as_interrupted
from cass_ray.toolchain.errors import ToolMissing

_START_ATTEMPTS = 2
_CHATTER = (
    b"Set ray log level from environment variable",
    b"The object spilling config is specified from an unstable API",  # of our _system_config
    b"Failed to get node info",  # the start is tried again, or its failure is told
)
_STARTED_TOO_SLOWLY = "timed out during startup"

LEAN_NODE: dict[str, Any] = {
    "enable_metrics_collection": False,
    "task_events_report_interval_ms": 0,
}
"""``_system_config`` of a local node that lives as long as a job and that nobody looks at: its
metrics and task events would take two seconds of CPU a minute."""


_own_node: str | None = None
"""The lean node that :func:`start_local` has started."""

_CLUSTERS = ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR
"""Ray's switch between nodes of a cluster and a node alone, which listens on loopback. It is off by
default on other systems than Linux; nothing else makes all of Ray's ports do so."""


def start_local(*, shown: bool = True, lean: bool = False, **options: Any) -> None:
    """Start a node on this machine for this process alone; ``options`` are ``ray.init``'s.

    A ``lean`` one has no processes but those that work needs (:mod:`.minimal_head`).

    A terminal shows that it is being started, unless not ``shown``. Its ports can be reached from
    this machine only, unless ``RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER`` is 1; another process that joins
    it needs that variable to be 0, else Ray waits for a node at the machine's address. A node that
    does not start in time is tried once more. Raises :class:`ToolMissing` where it does not start
    then either.
    """
    logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
    for attempt in range(_START_ATTEMPTS):
        others = _children()
        try:
            with ExitStack() as stack:
                for each in (
                    _said(shown),
                    _without_chatter(),
                    _on_loopback(),
                    longer_node_timeout(),
                ):
                    stack.enter_context(each)
                stack.enter_context(noted_ports())
                if lean:
                    stack.enter_context(minimal_head(options.get("log_to_driver", True)))
                ray.init(address="local", include_dashboard=False, **options)
            end_as_interrupted()
            global _own_node
            _own_node = str(ray.get_runtime_context().get_node_id()) if lean else None
            return
        except Exception as error:  # Ray raises nothing narrower
            if _STARTED_TOO_SLOWLY not in str(error):
                raise
            ray.shutdown()
            _end(_children() - others)
            if attempt + 1 == _START_ATTEMPTS:
                raise ToolMissing(
                    "A node of Ray on this machine",
                    f"It did not start, twice, in {START_SECONDS:.0f} seconds: try again when the "
                    "machine is less busy, or join a cluster (RAY_ADDRESS).",
                ) from error


def is_alone() -> bool:
    """Whether the cluster is a lean node of :func:`start_local`, which ends with this process."""
    return ray.is_initialized() and _own_node == str(ray.get_runtime_context().get_node_id())


@contextlib.contextmanager
def _said(shown: bool) -> Iterator[None]:
    """A line on the terminal while Ray starts, through a descriptor that stays the terminal's."""
    if not (shown and sys.stderr.isatty()):
        yield
        return
    with (
        os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8") as terminal,
        waiting("starting Ray on this machine", console=Console(file=terminal)),
    ):
        yield


def _children() -> set[int]:
    """Processes that this one has started and that have not been waited for."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(number) for each in lists for number in each.read_text().split()}


def _end(processes: set[int]) -> None:
    """What is left of a node that did not start in time: Ray would end it when this process ends.

    Until then it would take the time that the next attempt needs.
    """
    for number in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGTERM)


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
    end_as_interrupted()
    return True


@contextlib.contextmanager
def _on_loopback() -> Iterator[None]:
    """Ray reads its switch when it is imported, which may have happened."""
    if os.environ.get(_CLUSTERS):
        yield
        return
    kept = ray_constants.ENABLE_RAY_CLUSTER
    os.environ[_CLUSTERS], ray_constants.ENABLE_RAY_CLUSTER = "0", False
    try:
        yield
    finally:
        del os.environ[_CLUSTERS]
        ray_constants.ENABLE_RAY_CLUSTER = kept


@contextlib.contextmanager
def _without_chatter() -> Iterator[None]:
    """Ray's core and Ray's logger write to standard error what nobody asked about."""
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
                if not any(each in line for each in _CHATTER):
                    os.write(2, line)
