"""Functions that the driver provides to device code: assertions, printf and the heap.

Arguments and results are where Nvidia's calling convention has them: from R4 on, addresses in
pairs. Each function says whether it returns. What does the work is ``device/support.hip``.
"""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.lift.frontend.operands import Register
from cass_ray.lift.lowering.context import Thread

SUPPORT_PREFIX = "__cass_"
"""Names of the functions of ``device/support.hip`` begin so."""

_FIRST = Register("R", 4)


def _assertion_failed(thread: Thread) -> bool:
    """``__assertfail(message, file, line, function, size)``."""
    del thread
    return False


def _print(thread: Thread) -> bool:
    """``int vprintf(format, arguments)``."""
    format_address, arguments = thread.wide(_FIRST), thread.wide(_FIRST.following(2))
    count = thread.call("i32", f"{SUPPORT_PREFIX}vprintf", format_address, arguments)
    thread.write(_FIRST, count)
    return True


def _allocate(thread: Thread) -> bool:
    """``void *malloc(size)``."""
    address = thread.call("i64", f"{SUPPORT_PREFIX}malloc", thread.wide(_FIRST))
    thread.write_wide(_FIRST, address)
    return True


def _free(thread: Thread) -> bool:
    """``void free(address)``."""
    thread.call_void(f"{SUPPORT_PREFIX}free", thread.wide(_FIRST))
    return True


SYSTEM_FUNCTIONS: dict[str, Callable[[Thread], bool]] = {
    "__assertfail": _assertion_failed,
    "vprintf": _print,
    "malloc": _allocate,
    "free": _free,
}
