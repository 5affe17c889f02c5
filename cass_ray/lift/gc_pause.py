"""Python's search for garbage in cycles, held back while a kernel is lifted.

Lifting makes some hundred objects for each instruction, few of them in cycles, and keeps most until
the kernel is done. Python looks through the new ones after every 700: a third of the time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_NEW_OBJECTS = 500_000
"""Python looks after so many, about 100 MB of them, even so: threads may lift without end."""

_lock = threading.Lock()


@dataclass
class _Lifting:
    threads: int = 0
    usual: tuple[int, int, int] = (0, 0, 0)
    """What was set before the first of them came."""


_lifting = _Lifting()


@contextmanager
def gc_relaxed() -> Iterator[None]:
    """Inside, cycles are searched for once in :data:`_NEW_OBJECTS`; for any number of threads."""
    with _lock:
        if not _lifting.threads:
            _lifting.usual = gc.get_threshold()
            first, *others = _lifting.usual
            if first:  # 0: it never searches
                gc.set_threshold(max(_NEW_OBJECTS, first), *others)
        _lifting.threads += 1
    try:
        yield
    finally:
        with _lock:
            _lifting.threads -= 1
            if not _lifting.threads:
                gc.set_threshold(*_lifting.usual)
