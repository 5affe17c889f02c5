"""Whether two warps can go on together, as they do in one wave of 64 lanes."""

from __future__ import annotations

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.opcodes import counts_threads
from cass_ray.lift.convergence.divergence import barrier_may_diverge
from cass_ray.lift.convergence.phase_waits import PhaseWaits
from cass_ray.lift.convergence.spin_loops import waiting_loops


def needs_warp_scheduler(graph: KernelGraph, waits: PhaseWaits) -> bool:
    """Whether one warp could wait for the other for ever, or come to a barrier without it.

    ``waits``: for which phases of barriers the kernel waits; it waits for nothing else.
    """
    if waits.polls:
        return True
    reached = map(graph.at, graph.instructions(graph.blocks))
    return any(map(counts_threads, reached)) or graph.get(barrier_may_diverge)


def waits_for_words(graph: KernelGraph, waits: PhaseWaits) -> list[list[CodePlace]]:
    """Instructions of each loop that waits for what may be the other warp's, and is no barrier."""
    loops = graph.get(waiting_loops)
    return [places for places in loops if not waits.polls.intersection(places)]
