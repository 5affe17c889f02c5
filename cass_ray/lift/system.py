"""Functions that the driver provides to device code: assertions, printf and the heap.

Arguments and results are where Nvidia's calling convention has them: from R4 on, addresses in
pairs. Each function says whether it returns.
"""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.lift.thread import Thread


def _assertion_failed(thread: Thread) -> bool:
    """``__assertfail(message, file, line, function, size)``."""
    del thread
    return False


SYSTEM_FUNCTIONS: dict[str, Callable[[Thread], bool]] = {"__assertfail": _assertion_failed}
