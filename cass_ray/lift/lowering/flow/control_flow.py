"""Control flow: a kernel from its entry along every path, lifted again until nothing new shows.

A first lifting records which registers are read and written, how loops poll shared memory, and
where the two warps of a wave may part; the next one knows. What shows of a block in a first lifting
is kept for its other copies, and for first liftings that begin again. Subroutines: :mod:`.calls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cass_ray.lift.analysis import liveness
from cass_ray.lift.analysis.call_places import TOGETHER, CallPlace
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
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.blocks import block_of, runs_of, with_few_branches
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES, CodeSection, CubinCode
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.lowering.cluster_launch import shows_clusters
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.flow.block_bodies import EarlierLifting, InstructionLowering
from cass_ray.lift.lowering.flow.block_ends import BlockEnds
from cass_ray.lift.lowering.flow.calls import CallLowering, CallPlan
from cass_ray.lift.lowering.flow.divergent_collectives import DivergentCollectives
from cass_ray.lift.lowering.flow.functions import Functions
from cass_ray.lift.lowering.flow.outlined_regions import OutlinedRegions
from cass_ray.lift.lowering.flow.walk import KernelWalk, RecordedBlock
from cass_ray.lift.lowering.restarts import (
    CallByPointer,
    CopySubroutine,
    DeepenStack,
    ShareSubroutine,
)

_LEAVING = frozenset({"CALL", "RET"})
"""Where these lead depends on the calls before."""
DEEP_STACK = 8192
"""Bytes of stack added where calls recurse or are indirect: the cubin does not say how deep."""


class KernelLifter:
    """Lifts one kernel; :meth:`lift` gives the lines of its body."""

    def __init__(self, program: CubinCode, environment: KernelEnvironment) -> None:
        self._program = program
        self.environment = environment
        self._is_deep = False
        self._waits: PhaseWaits | None = None
        """Where the warps of a wave are scheduled one after the other."""
        self._lane_schedule: LaneSchedule | None = None
        """Where lanes are scheduled independently."""
        self._call_plan = CallPlan()
        self._recorded: dict[liveness.CodePlace, RecordedBlock] = {}
        self.instruction_count = 0
        self.entry_label = ""
        """The label of the kernel's first block."""
        self.shows_clusters = False
        """Whether the kernel can tell clusters from blocks, as far as its instructions go."""
        self.functions: Functions
        """What the kernel calls; there once it is lifted."""

    def lift(self) -> LoweringContext:
        """The context whose ``ir`` has the kernel's blocks, in the order they were found.

        Raises:
            LiftError: a form that the table lacks, or control flow that cannot be followed.
        """
        while True:
            try:
                walk = self._attempt(None)
                graph = (walk.blocks, (self.environment.kernel.name, 0), self._instruction_at)
                code = KernelGraph(*graph, self._labels)
                self.shows_clusters = shows_clusters(*graph)
                keeps = must_keep_loads(*graph)
                environment = replace(
                    self.environment,
                    keeps_shared_loads=keeps,
                    unrolled=loops_to_unroll(*graph),
                    spin_loads=spin_loads(*graph),
                    barriers_may_diverge=bool(self.environment.unaligned_barriers)
                    and barrier_may_diverge(*graph),
                    recognized_operations={
                        # An attempt that knew of some has come by no slow path of theirs.
                        **self.environment.recognized_operations,
                        **recognized_operations(walk.blocks, self._program),
                    },
                )
                changes = environment != self.environment
                found_more = (
                    environment.recognized_operations != self.environment.recognized_operations
                )
                self.environment = environment
                if self._scheduling_points() is None and self._needs_scheduler(
                    code, walk.successors
                ):
                    continue
                if self._schedule_grows(code):
                    continue
                if found_more and large_functions(walk.successors, walk.weights):
                    self._recorded.clear()  # there are fewer blocks, and outlines are to fit
                    continue
                earlier = replace(_shown_by(walk), signatures=self._signatures(walk))
                earlier = self._with_outlines(earlier, walk)
                is_last = not changes and not earlier.unneeded and earlier.signatures is None
                is_last = is_last and not earlier.outlines
                if is_last and not walk.is_partial:
                    return walk.context  # lifted again, it would be the same
                return self._attempt(earlier).context
            except ShareSubroutine as found:
                self._call_plan = self._call_plan.with_function(found.callee)
            except CallByPointer as found:
                self._call_plan = self._call_plan.with_pointers(found.section)
            except CopySubroutine as found:
                self._call_plan = self._call_plan.with_copied(found.callee)
            except DeepenStack:
                self._deepen()

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

    def _signatures(self, walk: KernelWalk) -> FunctionSignatures | None:
        if not self.functions:
            return None
        flow = FunctionFlow(
            walk.blocks,
            walk.successors,
            frozenset(walk.returns),
            self._instruction_at,
            self.functions.calls_by_block(),
            self.functions.places(),
            self.functions.by_pointer(),
        )
        # A load of a handle reads the word above it, too.
        return function_signatures(flow, drops_stores=not self.environment.uses_handles)

    def _with_outlines(self, earlier: EarlierLifting, walk: KernelWalk) -> EarlierLifting:
        """How large functions are to be outlined; not where turns end inside of them."""
        if self._scheduling_points() is not None:
            return earlier
        outlines = outlines_of_large_functions(walk.successors, walk.weights, walk.entry)
        if not outlines:
            return earlier
        return replace(earlier, outlines=outlines, live=liveness.live_at_starts(walk.blocks))

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

    def _deepen(self) -> None:
        kernel = self.environment.kernel
        if self._is_deep:
            return
        deeper = replace(kernel, frame_size=kernel.frame_size + DEEP_STACK)
        self.environment = replace(self.environment, kernel=deeper)
        self._is_deep = True
        self._recorded.clear()

    def _attempt(self, first_lifting: EarlierLifting | None) -> KernelWalk:
        """``first_lifting``: what a first attempt has shown; None for the first."""
        is_scheduled = self._waits is not None or self._lane_schedule is not None
        earlier = first_lifting or EarlierLifting()
        context = LoweringContext(
            self.environment, is_scheduled=self._waits is not None, schedule=self._lane_schedule
        )
        regions = OutlinedRegions(context, earlier.outlines, earlier.live)
        walk = KernelWalk(self._program, context, self.environment.kernel.name, regions)
        calls = CallLowering(walk, self._call_plan, self._is_deep)
        body = InstructionLowering(walk, earlier, self._scheduling_points())
        collectives = DivergentCollectives(walk, body)
        lowering = BlockLowering(
            walk,
            body,
            BlockEnds(walk, calls, collectives, is_scheduled=is_scheduled),
            collectives,
            # A turn that ends inside a subroutine decides whether it is copied.
            self._recorded if first_lifting is None and not is_scheduled else None,
        )
        self.entry_label = walk.first_label(walk.entry)
        self.instruction_count = sum(lowering.lower(place) for place in walk.places())
        calls.finish(earlier.signatures)
        self.functions = calls.functions
        return walk


def _shown_by(walk: KernelWalk) -> EarlierLifting:
    writes = {
        place: access.writes for block in walk.blocks.values() for place, access in block.accesses
    }
    return EarlierLifting(frozenset(liveness.unneeded_old_values(walk.blocks)), writes)


class BlockLowering:
    """Lifts whole basic blocks."""

    def __init__(
        self,
        walk: KernelWalk,
        body: InstructionLowering,
        ends: BlockEnds,
        collectives: DivergentCollectives,
        recorded: dict[liveness.CodePlace, RecordedBlock] | None,
    ) -> None:
        """``recorded``: blocks that are not lifted again, for they are wanted for no more."""
        self._walk = walk
        self._body = body
        self._ends = ends.by_opcode()
        self._collectives = collectives
        self._recorded = recorded

    def lower(self, place: CallPlace) -> int:
        """Lift the block at ``place``; the number of its instructions."""
        stack, function, address = place
        if stack == TOGETHER:
            return self._collectives.lower(place)
        code = self._walk.code_at(place)
        position = code.position.get(address)
        if position is None:
            raise LiftError(f"{function}: control reaches {address:#x}, where no instruction is")
        whole = block_of(code, position, lambda i: self._ends_block(code, i))
        block = list(with_few_branches(whole, self._body.has_effect))
        last = block[-1]
        recorded = None if self._recorded is None else self._recorded.get(place[1:])
        if recorded is not None:
            self._walk.go_as(recorded)
            return len(block)
        self._walk.current.accesses = []  # the same for every copy of a subroutine
        for guard, run in runs_of(block[:-1] if self._ends_block(code, last) else block):
            self._body.run(code, guard, run)
        self._end(place, last, (stack, function, last.address + INSTRUCTION_BYTES))
        if self._recorded is not None and last.opcode not in _LEAVING:
            self._recorded[place[1:]] = self._walk.recorded()
        return len(block)

    def _ends_block(self, code: CodeSection, i: DecodedInstruction) -> bool:
        return i.opcode in self._ends or self._body.polls(code, i)

    def _end(self, place: CallPlace, last: DecodedInstruction, following: CallPlace) -> None:
        code = self._walk.code_at(place)
        if self._body.polls(code, last):
            self._body.poll(code, last, following)
        elif last.opcode in self._ends:
            # The branch and its guard read always: whatever it goes on to do is not skipped.
            with self._body.lowering(code, last, liveness.RegisterAccess(None)):
                self._ends[last.opcode](place, last, following)
        else:
            self._walk.context.terminators.jump(self._walk.goto(following))
