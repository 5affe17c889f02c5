"""Work in another thread that ends when whoever asked for it does not want it any more."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cass_ray.toolchain.sandbox.process import ABANDON

Result = TypeVar("Result")


class _Also(threading.Event):
    """Set when it is set itself, or ``other`` is."""

    def __init__(self, other: threading.Event | None) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or (self._other is not None and self._other.is_set())


@contextlib.contextmanager
def background_work(work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Do ``work`` during the block, which gets a function that waits for the result or raises.

    Processes that ``work`` runs (:func:`cass_ray.toolchain.sandbox.process.run`) are ended when the
    block ends before them, and when the block itself is abandoned.
    """
    abandon = _Also(ABANDON.get())
    context = contextvars.copy_context()
    context.run(ABANDON.set, abandon)
    with ThreadPoolExecutor(1) as thread:
        doing = thread.submit(context.run, work)
        try:
            yield doing.result
        finally:
            abandon.set()
