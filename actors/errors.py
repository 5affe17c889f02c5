"""What went wrong in a worker, as the caller of a job knows it: without Ray's wrapping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ray.exceptions import (
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfDiskError,
    OutOfMemoryError,
    RayActorError,
    RayError,
    RaySystemError,
    RpcError,
    WorkerCrashedError,
)

from cass_ray.exit_codes import no_room

_OURS = "cass_ray."
_RAYS_WORDS = re.compile(r"\nFailed to [^\n]* attempts \(total backoff .*", re.DOTALL)
"""What Ray Data adds to the message of whatever a function raises."""


_LOST = (
    *(LocalRayletDiedError, NodeDiedError, ObjectLostError, OutOfDiskError, OutOfMemoryError),
    *(RayActorError, RaySystemError, RpcError, WorkerCrashedError),
)


def lost_processes(error: BaseException) -> str:
    """Words for a job that ended because a process of Ray's did; empty for any other error.

    A node ends with its dashboard's agent, a driver's calls with its node.
    """
    for each in _chain(error):
        if isinstance(each, _LOST):
            lines = str(each).strip().splitlines() or [""]
            return f"Ray ended under the job ({type(each).__name__}): {lines[0]}"
    return ""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Errors that have a message for people are raised as if they had happened here.

    Those are ours, and disks that take no more; of others Ray's whole account is wanted.
    """
    try:
        yield
    except Exception as error:
        cause = next((each for each in _chain(error) if _is_known(each)), None)
        if cause is None:
            raise
        cause.args = tuple(_without_rays_words(each) for each in cause.args)
        raise cause from None


def _without_rays_words(value: object) -> object:
    return _RAYS_WORDS.sub("", value) if isinstance(value, str) else value


def _is_known(error: BaseException) -> bool:
    # Ray's own wrapping is a subclass of both.
    return type(error).__module__.startswith(_OURS) or (
        isinstance(error, OSError)
        and not isinstance(error, RayError)
        and no_room(error) is not None
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """``error`` and what caused it, from the outside in; Ray and Ray Data wrap it in turn."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        inner = getattr(error, "cause", None)
        error = inner if isinstance(inner, BaseException) else error.__cause__
