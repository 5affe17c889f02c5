"""Requests of storage many at a time: each takes milliseconds in which nobody computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

AT_ONCE = 16

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T], R], items: Iterable[T], at_once: int = AT_ONCE) -> Iterator[R]:
    """``work`` of each of ``items``, in their order, up to ``at_once`` of them at a time.

    ``work`` runs in threads; ``items`` are taken by the caller's, as they are needed. Raises what
    ``work`` raises, in its turn; what has begun then goes on to its end, and nothing further
    begins.
    """
    pending: deque[Future[R]] = deque()
    with ThreadPoolExecutor(at_once, thread_name_prefix="cass-storage") as threads:
        try:
            for item in items:
                pending.append(threads.submit(work, item))
                if len(pending) == at_once:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for each in pending:
                each.cancel()
