"""How a job ends whose processes in the cluster do."""

from __future__ import annotations

from functools import partial

from cass_ray.commands.endings import ending


def _lost(error: BaseException) -> str:
    from actors.errors import lost_processes

    return lost_processes(error)


job_ending = partial(ending, lost=_lost)
"""As :func:`ending`, for work that a cluster may do."""
