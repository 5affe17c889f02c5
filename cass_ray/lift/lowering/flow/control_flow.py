"""Control flow: the graph of a kernel's blocks, what analyses say of it, and its lowering.

The graph is built first, by a walk from the kernel's entry along every path on which instructions
are read and not lowered. Where analyses find that warps or lanes have to be scheduled, blocks end
at other places, and the graph is built anew. Then the kernel is lowered, once. Subroutines:
:mod:`.calls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cass_ray.lift.analysis import liveness
from cass_ray.lift.analysis.function_flow import FunctionFlow
from cass_ray.lift.analysis.function_signatures import FunctionSignatures, function_signatures
from cass_ray.lift.analysis.ieee_idioms import recognized_operations
from cass_ray.lift.analysis.indexed_registers import loops_to_unroll
from cass_ray.lift.analysis.outlining import large_functions, outlines_of_large_functions
from cass_ray.lift.convergence.divergence import barrier_may_diverge
from cass_ray.lift.convergence.forward_progress import (
    LaneSchedule,
    diverges_before_barriers,
    first_spin_loads,
    lane_schedule,
    waits_for_own_warp,
)
from cass_ray.lift.convergence.kernel_graph import KernelGraph
from cass_ray.lift.convergence.mask_origins import Flow
from cass_ray.lift.convergence.pairing import needs_warp_scheduler, waits_for_words
from cass_ray.lift.convergence.phase_waits import PhaseWaits, phase_waits
from cass_ray.lift.convergence.spin_loops import must_keep_loads, spin_loads
from cass_ray.lift.convergence.warp_collectives import collective_in_both_branches
from cass_ray.lift.frontend.code import CubinCode
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.lowering.cluster_launch import shows_clusters
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.flow.basic_blocks import BlockLowering, BlockReading
from cass_ray.lift.lowering.flow.block_bodies import (
    InstructionLowering,
    InstructionReading,
    LoweringFacts,
)
from cass_ray.lift.lowering.flow.block_ends import BlockEnds
from cass_ray.lift.lowering.flow.calls import CallLowering, CallPlan
from cass_ray.lift.lowering.flow.divergent_collectives import DivergentCollectives
from cass_ray.lift.lowering.flow.functions import Functions
from cass_ray.lift.lowering.flow.outlined_regions import OutlinedRegions
from cass_ray.lift.lowering.flow.walk import KernelWalk

DEEP_STACK = 8192
"""Bytes of stack added where calls recurse or are indirect: the cubin does not say how deep."""


class KernelLifter:
    """Lifts one kernel; :meth:`lift` gives the lines of its body."""

    def __init__(self, program: CubinCode, environment: KernelEnvironment) -> None:
        self._program = program
        self.environment = environment
        self._waits: PhaseWaits | None = None
        """Where the warps of a wave are scheduled one after the other."""
        self._lane_schedule: LaneSchedule | None = None
        """Where lanes are scheduled independently."""
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
        walk, calls = self._graph()
        while self._changes_graph(walk):
            walk, calls = self._graph()
        if calls.needs_deep_stack:
            kernel = self.environment.kernel
            deeper = replace(kernel, frame_size=kernel.frame_size + DEEP_STACK)
            self.environment = replace(self.environment, kernel=deeper)
        return self._lowered(self._with_outlines(self._facts(walk, calls), walk))

    def _changes_graph(self, walk: KernelWalk) -> bool:
        """Learn from a graph; whether blocks, or what is in them, are others by what it says."""
        graph = (walk.blocks, (self.environment.kernel.name, 0), self._instruction_at)
        code = KernelGraph(*graph, self._labels)
        operations = recognized_operations(walk.blocks, self._program)
        has_more = not operations.keys() <= self.environment.recognized_operations.keys()
        self.shows_clusters = shows_clusters(*graph)
        self.environment = replace(
            self.environment,
            keeps_shared_loads=must_keep_loads(*graph),
            unrolled=loops_to_unroll(*graph),
            spin_loads=spin_loads(*graph),
            barriers_may_diverge=bool(self.environment.unaligned_barriers)
            and barrier_may_diverge(*graph),
            # A graph that was built with some has not come to their slow paths.
            recognized_operations={**self.environment.recognized_operations, **operations},
        )
        if self._scheduling_points() is None and self._needs_scheduler(code, walk.successors):
            return True
        if self._schedule_grows(code):
            return True
        # There are fewer blocks, and outlines are to fit.
        return has_more and bool(large_functions(walk.successors, walk.weights))

    def _needs_scheduler(self, code: KernelGraph, flow: Flow) -> bool:
        """Whether parts of a wave have to run one after the other; sets how."""
        graph = code.blocks, code.entry, code.at
        environment = self.environment
        barriers = environment.unaligned_barriers
        waits_for_lanes = waits_for_own_warp(code) or collective_in_both_branches(
            code, flow, self._program.code, barriers
        )
        if not environment.target.pairs_warps:
            if waits_for_lanes or (
                environment.barriers_may_diverge and diverges_before_barriers(code, barriers)
            ):
                self._lane_schedule = lane_schedule(code)
            return self._lane_schedule is not None
        waits = phase_waits(*graph)
        words = waits_for_words(*graph, waits)
        if words or waits_for_lanes:
            self._lane_schedule = lane_schedule(code, waits.polls | first_spin_loads(code, words))
        elif needs_warp_scheduler(*graph, waits):
            self._waits = waits
        return self._scheduling_points() is not None

    def _schedule_grows(self, code: KernelGraph) -> bool:
        """Whether independently scheduled lanes reconverge in code for divergent lanes, too."""
        if self._lane_schedule is None:
            return False
        before, self._lane_schedule = (
            self._lane_schedule,
            lane_schedule(code, self._lane_schedule.yield_points),
        )
        return self._lane_schedule != before

    def _facts(self, walk: KernelWalk, calls: CallLowering) -> LoweringFacts:
        accesses = {
            place: access for block in walk.blocks.values() for place, access in block.accesses
        }
        unneeded = frozenset(liveness.unneeded_old_values(walk.blocks))
        return LoweringFacts(accesses, unneeded, self._signatures(walk, calls.functions))

    def _signatures(self, walk: KernelWalk, functions: Functions) -> FunctionSignatures | None:
        if not functions:
            return None
        flow = FunctionFlow(
            walk.blocks,
            walk.successors,
            frozenset(walk.returns),
            self._instruction_at,
            functions.calls_by_block(),
            functions.places(),
            functions.by_pointer(),
        )
        # A load of a handle reads the word above it, too.
        return function_signatures(flow, drops_stores=not self.environment.uses_handles)

    def _with_outlines(self, facts: LoweringFacts, walk: KernelWalk) -> LoweringFacts:
        """How large functions are to be outlined; not where turns end inside of them."""
        if self._scheduling_points() is not None:
            return facts
        outlines = outlines_of_large_functions(walk.successors, walk.weights, walk.entry)
        if not outlines:
            return facts
        return replace(facts, outlines=outlines, live=liveness.live_at_starts(walk.blocks))

    def _scheduling_points(self) -> PhaseWaits | None:
        """Where turns end inside of basic blocks; None where nothing is scheduled."""
        return (
            PhaseWaits(self._lane_schedule.yield_points)
            if self._lane_schedule is not None
            else self._waits
        )

    def _instruction_at(self, place: liveness.CodePlace) -> DecodedInstruction:
        code = self._program.code(place[0])
        return code.instructions[code.position[place[1]]]

    def _labels(self, function: str) -> Mapping[str, int]:
        return self._program.code(function).function.labels

    def _graph(self) -> tuple[KernelWalk, CallLowering]:
        """A walk of all that the kernel's code leads to, and its calls as they are planned."""
        while True:
            walk, calls, reading = self._start(None)
            for place in walk.places():
                reading.lower(place)
                scheduler = walk.context.scheduler
                if scheduler is not None and scheduler.stops_in is not None:
                    calls.plan = calls.plan.with_copied(scheduler.stops_in)
                if calls.plan != self._call_plan:
                    break
            else:
                return walk, calls
            self._call_plan = calls.plan

    def _lowered(self, facts: LoweringFacts) -> LoweringContext:
        walk, calls, lowering = self._start(facts)
        self.entry_label = walk.first_label(walk.entry)
        self.instruction_count = sum(lowering.lower(place) for place in walk.places())
        assert calls.plan == self._call_plan
        calls.finish(facts.signatures)
        self.functions = calls.functions
        return walk.context

    def _start(self, facts: LoweringFacts | None) -> tuple[KernelWalk, CallLowering, BlockLowering]:
        """A walk that begins, and what lowers blocks by ``facts``, or with None only reads them."""
        is_scheduled = self._waits is not None or self._lane_schedule is not None
        context = LoweringContext(
            self.environment, is_scheduled=self._waits is not None, schedule=self._lane_schedule
        )
        regions = OutlinedRegions(context, facts.outlines, facts.live) if facts else None
        walk = KernelWalk(self._program, context, self.environment.kernel.name, regions)
        calls = CallLowering(walk, self._call_plan)
        points = self._scheduling_points()
        if facts is None:
            reader = InstructionReading(walk, points)
            collectives = DivergentCollectives(walk, reader)
            ends = BlockEnds(walk, calls, collectives, is_scheduled=is_scheduled)
            return walk, calls, BlockReading(walk, reader, ends, collectives)
        body = InstructionLowering(walk, facts, points)
        collectives = DivergentCollectives(walk, body)
        ends = BlockEnds(walk, calls, collectives, is_scheduled=is_scheduled)
        return walk, calls, BlockLowering(walk, body, ends, collectives)
