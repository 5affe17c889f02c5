"""How a job ends whose processes in the cluster do."""

from __future__ import annotations

from functools import partial

from cass_ray.commands.endings import ending


def _lost(error: BaseException) -> str:
    from actors.errors import lost_processes

    return lost_processes(error)


def _in_words(error: BaseException) -> str:
    """What went wrong in the workers, without Ray's frames around it; nothing of other errors."""
    if type(error).__module__.partition(".")[0] != "ray":
        return ""
    failures = getattr(error, "worker_failures", None) or {}
    texts = {str(item).strip() for item in failures.values()} or {str(error).strip()}
    return "\n".join(sorted(texts))


job_ending = partial(ending, lost=_lost)
"""As :func:`ending`, for work that a cluster may do."""
training_ending = partial(ending, usage=(ValueError,), kept="go on with --resume", lost=_in_words)
"""As :func:`ending`, for a run of training."""
