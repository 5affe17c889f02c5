"""Control flow: the graph of a kernel's blocks, what analyses say of it, and its lowering.

Where analyses find that warps or lanes have to be scheduled, blocks end at other places, and the
graph is built anew. Then the kernel is lowered, once.
"""

from __future__ import annotations

from dataclasses import replace

from cass_ray.lift.analysis.function_signatures import FunctionSignatures, function_signatures
from cass_ray.lift.analysis.ieee_idioms import recognized_operations
from cass_ray.lift.analysis.indexed_registers import loops_to_unroll
from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import live_at_starts, unneeded_old_values
from cass_ray.lift.analysis.outlining import large_functions, outlines_of_large_functions
from cass_ray.lift.convergence.divergence import barrier_may_diverge
from cass_ray.lift.convergence.schedule import WaveSchedule, wave_schedule
from cass_ray.lift.convergence.spin_loops import must_keep_loads, spin_loads
from cass_ray.lift.lowering.cluster_launch import shows_clusters
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.flow.basic_blocks import BlockLowering, BlockReading
from cass_ray.lift.lowering.flow.block_bodies import LoweringFacts
from cass_ray.lift.lowering.flow.calls import CallLowering, CallPlan
from cass_ray.lift.lowering.flow.functions import Functions
from cass_ray.lift.lowering.flow.outlined_regions import OutlinedRegions
from cass_ray.lift.lowering.flow.walk import KernelWalk

DEEP_STACK = 8192
"""Bytes of stack added where calls recurse or are indirect: the cubin does not say how deep."""


class KernelLifter:
    """Lifts one kernel; :meth:`lift` gives the lines of its body."""

    def __init__(self, environment: KernelEnvironment) -> None:
        self.environment = environment
        self._schedule = WaveSchedule()
        self._call_plan = CallPlan()
        self.instruction_count = 0
        self.entry_label = ""
        """The label of the kernel's first block."""
        self.shows_clusters = False
        """Whether the kernel can tell clusters from blocks, as far as its instructions go."""
        self.functions: Functions
        """What the kernel calls; there once it is lifted."""

    def lift(self) -> LoweringContext:
        """The context whose ``ir`` has the kernel's blocks, in the order of the walk.

        Raises:
            LiftError: a form that the table lacks, or control flow that cannot be followed.
        """
        graph = self._graph()
        while self._changes(graph):
            graph = self._graph()
        self.shows_clusters = shows_clusters(graph)
        if graph.has_unknown_depth:
            kernel = self.environment.kernel
            deeper = replace(kernel, frame_size=kernel.frame_size + DEEP_STACK)
            self.environment = replace(self.environment, kernel=deeper)
        return self._lowered(self._facts(graph))

    def _graph(self) -> KernelGraph:
        graph, self._call_plan = kernel_graph(self.environment, self._schedule, self._call_plan)
        return graph

    def _changes(self, graph: KernelGraph) -> bool:
        """Learn from a graph; whether it is another one by what it says."""
        before, schedule = self.environment, self._schedule
        operations = recognized_operations(graph)
        barriers = before.unaligned_barriers
        self.environment = replace(
            before,
            keeps_shared_loads=must_keep_loads(graph),
            unrolled=loops_to_unroll(graph),
            spin_loads=spin_loads(graph),
            barriers_may_diverge=bool(barriers) and graph.get(barrier_may_diverge),
            # A graph that was built with some has not come to their slow paths.
            recognized_operations={**before.recognized_operations, **operations},
        )
        pairs_warps = before.target.pairs_warps
        self._schedule = wave_schedule(graph, schedule, barriers, pairs_warps=pairs_warps)
        if self._schedule != schedule:
            return True
        # There are fewer blocks, and outlines are to fit.
        has_more = not operations.keys() <= before.recognized_operations.keys()
        return has_more and bool(graph.get(large_functions))

    def _facts(self, graph: KernelGraph) -> LoweringFacts:
        is_scheduled = self._schedule.points is not None  # turns end in functions, then
        outlines = {} if is_scheduled else outlines_of_large_functions(graph)
        live = live_at_starts(graph.blocks)
        return LoweringFacts(
            dict(each for block in graph.blocks.values() for each in block.accesses),
            unneeded_old_values(graph.blocks, live),
            self._signatures(graph),
            outlines,
            live,
        )

    def _signatures(self, graph: KernelGraph) -> FunctionSignatures | None:
        # A load of a handle reads the word above it, too.
        drops_stores = not self.environment.uses_handles
        return function_signatures(graph, drops_stores=drops_stores) if graph.functions else None

    def _lowered(self, facts: LoweringFacts) -> LoweringContext:
        walk = KernelWalk(self.environment, self._schedule)
        walk.regions = OutlinedRegions(walk.context, facts.outlines, facts.live)
        calls = CallLowering(walk, self._call_plan)
        lowering = BlockLowering(walk, calls, self._schedule, facts)
        self.entry_label = walk.first_label(walk.entry)
        self.instruction_count = sum(lowering.lower(place) for place in walk.places())
        assert calls.plan == self._call_plan
        calls.finish(facts.signatures)
        self.functions = calls.functions
        return walk.context


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
