"""Whether parts of a wave run one after the other, and where their turns end."""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.opcodes import counts_threads
from cass_ray.lift.convergence.divergence import barrier_may_diverge
from cass_ray.lift.convergence.forward_progress import (
    LaneSchedule,
    diverges_before_barriers,
    first_spin_loads,
    lane_schedule,
    waits_for_own_warp,
)
from cass_ray.lift.convergence.phase_waits import PhaseWaits, phase_waits
from cass_ray.lift.convergence.spin_loops import waiting_loops
from cass_ray.lift.convergence.warp_collectives import collective_in_both_branches


@dataclass(frozen=True)
class WaveSchedule:
    """How a wave is scheduled; at most one of both is there."""

    warps: PhaseWaits | None = None
    """Where its two warps run one after the other."""
    lanes: LaneSchedule | None = None
    """Where lanes are scheduled independently."""

    @property
    def points(self) -> PhaseWaits | None:
        """Where turns end inside of basic blocks; None where nothing is scheduled."""
        return self.warps if self.lanes is None else PhaseWaits(self.lanes.yield_points)


def wave_schedule(
    graph: KernelGraph, before: WaveSchedule, barriers: frozenset[CodePlace], *, pairs_warps: bool
) -> WaveSchedule:
    """The schedule of a kernel; ``before`` is the one that its graph was built for.

    ``barriers``: those to which lanes may come one after the other; ``pairs_warps``: whether a wave
    is two warps.
    """
    if before.warps is not None:
        return before
    if before.lanes is not None:  # lanes reconverge in code for divergent lanes, too
        return WaveSchedule(lanes=lane_schedule(graph, before.lanes.yield_points))
    waits_for_lanes = waits_for_own_warp(graph) or collective_in_both_branches(graph, barriers)
    if not pairs_warps:
        if waits_for_lanes or (
            barriers
            and graph.get(barrier_may_diverge)
            and diverges_before_barriers(graph, barriers)
        ):
            return WaveSchedule(lanes=lane_schedule(graph))
        return before
    waits = phase_waits(graph)
    # Loops that wait for what may be the other warp's, and is no barrier.
    words = [each for each in graph.get(waiting_loops) if waits.polls.isdisjoint(each)]
    if words or waits_for_lanes:
        yield_points = waits.polls | first_spin_loads(graph, words)
        return WaveSchedule(lanes=lane_schedule(graph, yield_points))
    # One warp could wait for the other for ever, or come to a barrier without it.
    counts = any(map(counts_threads, graph.all_instructions))
    needs_turns = bool(waits.polls) or counts or graph.get(barrier_may_diverge)
    return WaveSchedule(warps=waits) if needs_turns else before
