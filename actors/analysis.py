"""Parts of a data set analysed by tasks all over a cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ray

from actors.errors import plain_errors
from cass_ray.analysis.parts import FileFigures, PartTask, analyse_kept

_AHEAD = 2
"""Tasks under way for each processor of the cluster, so that none waits for the driver."""


def analysed(tasks: Sequence[PartTask], folder: Path) -> Iterator[FileFigures]:
    """Results in the order of ``tasks``; ``folder`` keeps them, best where all nodes see it.

    Ray has been joined. Raises what a part fails with.
    """
    # One try more for a node that is lost; an error of ours comes back at once.
    work = ray.remote(max_retries=3)(analyse_kept)
    most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    running: deque[Any] = deque()
    for task in tasks:
        if len(running) == most:
            yield _result(running.popleft())
        running.append(work.remote(task, folder))
    while running:
        yield _result(running.popleft())


def _result(running: Any) -> FileFigures:
    with plain_errors():
        part: FileFigures = ray.get(running)
    return part
