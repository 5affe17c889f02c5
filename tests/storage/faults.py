"""A file system that fails, loses answers, or takes its caller down, on a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from cass_ray.storage.store import Store


class Fault(Enum):
    NONE = "none"
    FAILED = "failed"
    """Nothing was done."""
    ANSWER_LOST = "answer lost"
    """It was done, and the caller hears of a time limit."""
    DIED_BEFORE = "died before"
    DIED_AFTER = "died after"


class WorkerDied(BaseException):
    """Not an ``Exception``: no code under test may catch it, as none catches SIGKILL."""


class FaultyFiles:
    """``files``, whose n-th request to write or delete meets ``faults[n]``; then all is well."""

    def __init__(self, files: Any, faults: Sequence[Fault]) -> None:
        self._files = files
        self._faults: Iterator[Fault] = iter(faults)

    def __getattr__(self, name: str) -> Any:
        work = getattr(self._files, name)
        if name not in ("pipe_file", "rm_file"):
            return work

        def faulty(*arguments: Any, **keywords: Any) -> Any:
            fault = next(self._faults, Fault.NONE)
            if fault is Fault.DIED_BEFORE:
                raise WorkerDied
            if fault is Fault.FAILED:
                raise TimeoutError("503 slow down")
            result = work(*arguments, **keywords)
            if fault is Fault.DIED_AFTER:
                raise WorkerDied
            if fault is Fault.ANSWER_LOST:
                raise TimeoutError("no answer")
            return result

        return faulty


def faulty_store(url: str, faults: Sequence[Fault]) -> Store:
    """A store at ``url`` with ``faults``, which does not wait between attempts."""
    store = Store(url, wait=lambda seconds: None)
    store._files = FaultyFiles(store._files, faults)
    return store
