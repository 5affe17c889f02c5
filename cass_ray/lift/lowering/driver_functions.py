"""Functions that the driver provides to device code: assertions, printf and the heap.

Arguments and results are where Nvidia's calling convention has them: from R4 on, addresses in
pairs. Each function says whether it returns. What does the work is ``llvm/device/support.hip``.
"""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.lift.frontend.operands import Register
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.formatted_output import print_known

_FIRST = Register("R", 4)


def _assertion_failed(context: LoweringContext) -> bool:
    """``__assertfail(message, file, line, function, size)``."""
    del context
    return False


def _print(context: LoweringContext) -> bool:
    """``int vprintf(format, arguments)``."""
    format_address, arguments = context.wide(_FIRST), context.wide(_FIRST.following(2))
    text = context.environment.data.literal(format_address)
    if text is not None:
        count = print_known(context, text, format_address, arguments)
    else:
        count = context.ir.call("i32", f"{SUPPORT_PREFIX}vprintf", format_address, arguments)
    context.write(_FIRST, count)
    return True


def _allocate(context: LoweringContext) -> bool:
    """``void *malloc(size)``."""
    address = context.ir.call("i64", f"{SUPPORT_PREFIX}malloc", context.wide(_FIRST))
    context.write_wide(_FIRST, address)
    return True


def _free(context: LoweringContext) -> bool:
    """``void free(address)``."""
    context.ir.call_void(f"{SUPPORT_PREFIX}free", context.wide(_FIRST))
    return True


def _copy_to_another_block(context: LoweringContext) -> bool:
    """A bulk copy to shared memory of another block of a cluster, which there is none of."""
    del context
    return False


SYSTEM_FUNCTIONS: dict[str, Callable[[LoweringContext], bool]] = {
    "__assertfail": _assertion_failed,
    "vprintf": _print,
    "malloc": _allocate,
    "free": _free,
    "__cuda_syscall_cp_async_bulk_unicast": _copy_to_another_block,
}
