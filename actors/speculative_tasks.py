"""Items that tasks work on; one that takes far longer than all others is begun again elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import ray

from actors.errors import plain_errors

LATE_SECONDS = 60.0
"""No item is late before."""
_LATE_TIMES = 3
"""An item is late when it has taken this many times as long as the longest that has ended."""
_POLL_SECONDS = 2.0


@dataclass(eq=False)
class _Begun:
    item: Any
    since: float = field(default_factory=time.monotonic)
    tasks: list[Any] = field(default_factory=list)


class SpeculativeTasks:
    """Tasks by item.

    Args:
        task: starts a task of an item.
        may_repeat: whether an item may be worked on twice at a time.
        late_seconds: see :data:`LATE_SECONDS`.
    """

    def __init__(
        self,
        task: Callable[[Any], Any],
        may_repeat: Callable[[Any], bool],
        late_seconds: float = LATE_SECONDS,
    ) -> None:
        self._task = task
        self._may_repeat = may_repeat
        self._late_seconds = late_seconds
        self._of_task: dict[Any, _Begun] = {}
        self._longest = 0.0

    def __len__(self) -> int:
        return len(self._of_task)

    def begin(self, item: Any) -> None:
        """Have a task work on ``item``."""
        self._begin(_Begun(item))

    def finished(self, last: bool) -> Iterator[Any]:
        """Results of what has ended; waits for one, raises what it raised.

        When nothing else is to be begun (``last``), it waits a while only, and what is late then is
        worked on twice. The first result counts, so work must come to the same whoever does it.
        """
        ended, _ = ray.wait(list(self._of_task), timeout=_POLL_SECONDS if last else None)
        for task in ended:
            begun = self._of_task[task]
            self._longest = max(self._longest, time.monotonic() - begun.since)
            for each in begun.tasks:
                del self._of_task[each]
                if each != task:
                    ray.cancel(each)
            with plain_errors():
                result = ray.get(task)
            yield result
        if last:
            self._begin_late_again()

    def _begin(self, begun: _Begun) -> None:
        task = self._task(begun.item)
        begun.tasks.append(task)
        self._of_task[task] = begun

    def _begin_late_again(self) -> None:
        limit = max(self._late_seconds, _LATE_TIMES * self._longest)
        now = time.monotonic()
        for begun in list(self._of_task.values()):
            once = len(begun.tasks) == 1 and self._may_repeat(begun.item)
            if once and now - begun.since > limit:
                self._begin(begun)
