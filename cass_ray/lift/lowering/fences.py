"""Fences whose waits LLVM keeps, whatever loop they are in.

LLVM 19 puts a wait where a fence releases memory, and on CDNA takes it away again where nothing is
out on the first path that it follows to it: operations that the next round of a loop leaves out are
then not waited for (``benchmarks/results/miscompilations.md``). A wait of our own it keeps, and
makes one of both.
"""

from __future__ import annotations

from cass_ray.lift.llvm.builder import i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.target import WAIT_FOR_ALL, WAIT_FOR_LDS

WORKGROUP = "workgroup"


def release(ctx: LoweringContext, scope: str = WORKGROUP) -> None:
    """What this thread wrote is seen by those in ``scope`` (LLVM's name) that acquire it.

    Threads of a block share a vector cache, so that on CDNA only LDS is waited for (LLVM's "User
    Guide for AMDGPU Backend", memory model of gfx942, where threads are not split).
    """
    ctx.ir.line(f"fence {_within(scope)}release")
    _wait(ctx, scope)


def acquire(ctx: LoweringContext) -> None:
    """What other threads of the block released is seen by this one."""
    ctx.ir.line(f"fence {_within(WORKGROUP)}acquire")


def order(ctx: LoweringContext, kind: str, scope: str = WORKGROUP) -> None:
    """Memory operations before it are seen before those after it; ``kind`` is LLVM's name for it.

    In two halves where the wait is ours. One fence would have the caches invalidated in front of
    it, while what was not waited for may still be answered by what they had.
    """
    if not ctx.environment.target.pairs_warps:
        ctx.ir.line(f"fence {_within(scope)}{kind}")
        return
    release(ctx, scope)
    ctx.ir.line(f"fence {_within(scope)}acquire")


def _within(scope: str) -> str:
    return f'syncscope("{scope}") ' if scope else ""


def _wait(ctx: LoweringContext, scope: str) -> None:
    """Wait after a fence that releases, where LLVM loses the fence's own wait."""
    if ctx.environment.target.pairs_warps:
        operand = WAIT_FOR_LDS if scope == WORKGROUP else WAIT_FOR_ALL
        ctx.ir.call_void("llvm.amdgcn.s.waitcnt", i32(operand))
