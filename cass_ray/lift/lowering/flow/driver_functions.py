"""Functions that the driver provides to device code: assertions, printf and the heap.

Arguments and results are where Nvidia's calling convention has them: from R4 on, addresses in
pairs. Each function says whether it returns. What does the work is ``llvm/device/support.hip``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from cass_ray.lift.frontend.operands import Register
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX, Value, i32
from cass_ray.lift.lowering.cluster_launch import RANK_SHIFT
from cass_ray.lift.lowering.clusters import block_id, place_in_first, thread_id
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.flow.formatted_output import print_known
from cass_ray.lift.lowering.semantics.bulk_copy import Multicast, copy_to_each
from cass_ray.lift.lowering.semantics.tensor_copy import load_to_each

_FIRST = Register("R", 4)
_MOST_AXES = 5
_ASSERTION, _FILE, _LINE, _FUNCTION = 0, 2, 4, 6
"""Words of the arguments of ``__assertfail``."""


def _assertion_failed(context: LoweringContext) -> bool:
    """``__assertfail(message, file, line, function, size)``, of which each is told by its line."""
    texts = [
        context.ir.cast("inttoptr", context.wide(_FIRST.following(place)), "ptr")
        for place in (_ASSERTION, _FILE, _FUNCTION)
    ]
    places = [of(context, axis) for of in (block_id, thread_id) for axis in range(3)]
    line = context.register(_FIRST.following(_LINE))
    name = f"{SUPPORT_PREFIX}assertion_failed"
    context.ir.call_void(name, texts[0], texts[1], line, texts[2], *places)
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


# Copies to shared memory of other blocks of a cluster, for which ptxas calls the driver from sm_100
# on, but where it compiles for a single architecture (sm_100a). Without clusters, code goes another
# way: a single block is the first of its cluster.


def _copy_to_blocks(context: LoweringContext, *, several: bool) -> bool:
    """A bulk copy: ``(target, source, size, blocks, barrier)``, the blocks if it is to several."""
    if not context.environment.in_cluster:
        return False
    target, barrier, blocks = _targets(context, several=several, behind=4)
    multicast = Multicast(place_in_first(context, target), place_in_first(context, barrier), blocks)
    copy_to_each(context, multicast, context.wide(_argument(2)), context.register(_argument(4)))
    return True


def _load_tile_to_blocks(context: LoweringContext, *, several: bool, axes: int) -> bool:
    """A copy by a tensor map: ``(target, map, five coordinates, blocks, barrier)``."""
    if not context.environment.in_cluster:
        return False
    coordinates = [
        context.register(_argument(4 + n)) if n < axes else i32(0) for n in range(_MOST_AXES)
    ]
    multicast = Multicast(*_targets(context, several=several, behind=8))
    load_to_each(context, multicast, [context.wide(_argument(2)), i32(axes)], coordinates)
    return True


def _argument(number: int) -> Register:
    return _FIRST.following(number)


def _targets(context: LoweringContext, *, several: bool, behind: int) -> tuple[Value, Value, Value]:
    """Shared addresses of data and barrier, and a bit for each block.

    The last two are behind word ``behind`` of the arguments; a single block is the target's own.
    """
    target = context.register(_argument(0))
    barrier = context.register(_argument(behind + 2))
    if several:
        return (
            target,
            barrier,
            context.ir.op("and", context.register(_argument(behind + 1)), i32(0xFFFF)),
        )
    return (
        target,
        barrier,
        context.ir.op("shl", i32(1), context.ir.op("lshr", target, i32(RANK_SHIFT))),
    )


def _copies() -> Iterator[tuple[str, Callable[[LoweringContext], bool]]]:
    for kind in ("unicast", "multicast"):
        several = kind == "multicast"
        prefix = "__cuda_syscall_cp_async_bulk_"
        yield f"{prefix}{kind}", partial(_copy_to_blocks, several=several)
        for axes in range(1, _MOST_AXES + 1):
            load = partial(_load_tile_to_blocks, several=several, axes=axes)
            yield f"{prefix}tensor_{axes}d_tile_{kind}", load


SYSTEM_FUNCTIONS: dict[str, Callable[[LoweringContext], bool]] = {
    "__assertfail": _assertion_failed,
    "vprintf": _print,
    "malloc": _allocate,
    "free": _free,
    **dict(_copies()),
}
