"""Projects ported by tasks all over a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ray

from actors.errors import plain_errors
from cass_ray.project.batch import BatchPortSettings, ProjectOutcome, port_kept


def ported(settings: BatchPortSettings) -> Iterator[ProjectOutcome]:
    """Outcomes in the order in which they come; ``settings.out`` is where all nodes see it.

    A task takes as many processors as a project has compilers at a time. Ray has been joined.
    Raises :class:`ToolMissing` where a node has not what the work needs.
    """
    processors = min(settings.jobs, max(1, int(ray.cluster_resources().get("CPU", 1))))
    # One try more for a node that is lost; an error of ours comes back at once.
    work = ray.remote(max_retries=3, num_cpus=processors)(port_kept)
    running: list[Any] = [work.remote(entry, settings) for entry in settings.projects]
    while running:
        done, running = ray.wait(running)
        with plain_errors():
            outcomes = ray.get(done)
        yield from outcomes
