"""Where lanes of a warp, or all threads of a block, come together, and where they may part."""

from __future__ import annotations

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.opcodes import is_reconvergence_point
from cass_ray.lift.frontend.instruction import DecodedInstruction


def is_convergence_point(i: DecodedInstruction) -> bool:
    """Whether lanes of a warp, or all threads of a block, come together there."""
    return is_reconvergence_point(i) or i.opcode in ("BAR", "WARPGROUP", "UCGABAR_WAIT")


def reconverges(graph: KernelGraph, block: CodePlace) -> bool:
    """Whether lanes of a warp, or all threads of the CUDA block, reconverge in ``block``."""
    return any(is_convergence_point(graph.at(place)) for place in graph.instructions([block]))


def may_diverge(graph: KernelGraph, block: CodePlace) -> bool:
    """Whether the branch at its end may be divergent, by its form alone."""
    accesses = graph.blocks[block].accesses
    if not accesses or len(graph.blocks[block].successors) < 2:
        return False
    last = graph.at(accesses[-1][0])
    return not last.has("U") and (last.guard is None or last.guard.file != "UP")
