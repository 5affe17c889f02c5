"""A kernel's graph, by a walk from its entry along every path on which instructions are read."""

from __future__ import annotations

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.convergence.schedule import WaveSchedule
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.flow.basic_blocks import BlockReading
from cass_ray.lift.lowering.flow.calls import CallLowering, CallPlan
from cass_ray.lift.lowering.flow.walk import KernelWalk


def kernel_graph(
    environment: KernelEnvironment, schedule: WaveSchedule, plan: CallPlan
) -> tuple[KernelGraph, CallPlan]:
    """The graph, and how calls are lowered: as ``plan`` says, or as the graph shows that they must.

    Raises :class:`LiftError` for control flow that cannot be followed.
    """
    while True:
        walk = KernelWalk(environment, schedule)
        calls = CallLowering(walk, plan)
        reading = BlockReading(walk, calls, schedule)
        scheduler = walk.context.scheduler
        for place in walk.places():
            reading.lower(place)
            if scheduler is not None and scheduler.stops_in is not None:
                calls.plan = calls.plan.with_copied(scheduler.stops_in)
            if calls.plan != plan:
                break
        else:
            return _graph_of(walk, calls), plan
        plan = calls.plan


def _graph_of(walk: KernelWalk, calls: CallLowering) -> KernelGraph:
    functions = calls.functions
    return KernelGraph(
        walk.entry[1],
        walk.program.code,
        walk.blocks,
        walk.successors,
        frozenset(walk.returns),
        walk.weights,
        functions.calls_by_block(),
        functions.places(),
        functions.by_pointer(),
        has_unknown_depth=calls.has_indirect or bool(functions.recursive),
    )
