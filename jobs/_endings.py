"""How a job ends whose processes in the cluster do."""

from __future__ import annotations

from functools import partial

from cass_ray.commands.endings import ending


def _lost(error: BaseException) -> str:
    from actors.errors import lost_processes

    return lost_processes(error)


def _in_words(error: BaseException) -> str:
    """Return the workers' errors without Ray's frames; empty where Ray raised nothing."""
    if type(error).__module__.partition(".")[0] != "ray":
        return ""
    failures = getattr(error, "worker_failures", None) or {}
    texts = {str(item).strip() for item in failures.values()} or {str(error).strip()}
    return "\n".join(sorted(texts))


job_ending = partial(ending, lost=_lost)
"""It is :func:`ending` for work that a cluster may do."""
training_ending = partial(ending, usage=(ValueError,), kept="go on with --resume", lost=_in_words)
"""It is :func:`ending` for training: a ``ValueError`` is a mistake of usage, and a run that is
interrupted goes on with --resume."""
