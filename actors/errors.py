"""What went wrong in a worker, as the caller of a job knows it: without Ray's wrapping."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ray.exceptions import RayError

from cass_ray.exit_codes import no_room

_OURS = "cass_ray."


@contextmanager
def plain_errors() -> Iterator[None]:
    """Errors that have a message for people are raised as if they had happened here.

    Those are ours, and disks that take no more; of others Ray's whole account is wanted.
    """
    try:
        yield
    except Exception as error:
        known = [each for each in _chain(error) if _is_known(each)]
        if not known or known[-1] is error:
            raise
        raise known[-1] from None  # the innermost: Ray Data adds words of its own


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
