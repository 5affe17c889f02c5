"""Fences whose waits LLVM keeps, whatever loop they are in.

LLVM 19 puts a wait where a fence releases memory, and on CDNA takes it away again where nothing is
out on the first path that it follows to it: operations that the next round of a loop leaves out are
then not waited for (``benchmarks/results/miscompilations.md``). A wait of our own it keeps, and
makes one of both.
"""

from __future__ import annotations

from cass_ray.lift.llvm.builder import i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.target import WAIT_FOR_LDS


def release(ctx: LoweringContext) -> None:
    """What this thread wrote is seen by those of its block that acquire it.

    Threads of a block share a vector cache, so that on CDNA only LDS is waited for (LLVM's "User
    Guide for AMDGPU Backend", memory model of gfx942, where threads are not split).
    """
    ctx.ir.line('fence syncscope("workgroup") release')
    wait(ctx, WAIT_FOR_LDS)


def wait(ctx: LoweringContext, operand: int) -> None:
    """After a fence, where LLVM loses the fence's own wait."""
    if ctx.environment.target.pairs_warps:
        ctx.ir.call_void("llvm.amdgcn.s.waitcnt", i32(operand))
