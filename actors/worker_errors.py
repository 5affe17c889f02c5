"""Errors of workers as the library raised them, without Ray's account of where that was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ray.exceptions import RayTaskError


@contextmanager
def as_raised() -> Iterator[None]:
    """Raise what a task raised, where that is an error of ours: its message says what to do. Of
    other errors Ray's whole account is wanted."""
    try:
        yield
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, Exception) and type(cause).__module__.startswith("cass_ray."):
            raise cause from None
        raise
