"""Basic blocks of SASS: lowered, or read for the graph of their kernel."""

from __future__ import annotations

from cass_ray.lift.analysis.kernel_graph import TOGETHER, CallPlace
from cass_ray.lift.analysis.liveness import CodePlace, RegisterAccess
from cass_ray.lift.convergence.schedule import WaveSchedule
from cass_ray.lift.errors import LiftError, UnknownForm
from cass_ray.lift.frontend.blocks import block_of, runs_of, with_few_branches
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES, CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.lowering.flow.block_bodies import (
    InstructionLowering,
    InstructionReading,
    LoweringFacts,
)
from cass_ray.lift.lowering.flow.block_ends import BlockEnds
from cass_ray.lift.lowering.flow.calls import CallLowering
from cass_ray.lift.lowering.flow.divergent_collectives import DivergentCollectives
from cass_ray.lift.lowering.flow.walk import KernelWalk


class BlockLowering:
    """Lowers whole basic blocks."""

    def __init__(
        self,
        walk: KernelWalk,
        calls: CallLowering,
        schedule: WaveSchedule,
        facts: LoweringFacts,
    ) -> None:
        self._walk = walk
        self._body = self._body_lowering(schedule, facts)
        self._collectives = DivergentCollectives(walk, self._body)
        self._ends = BlockEnds(walk, calls, self._collectives).by_opcode()

    def _body_lowering(self, schedule: WaveSchedule, facts: LoweringFacts) -> InstructionLowering:
        return InstructionLowering(self._walk, facts, schedule.points)

    def lower(self, place: CallPlace) -> int:
        """Lower the block at ``place``; the number of its instructions."""
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
        body = block[:-1] if self._ends_block(code, last) else block
        self._lower(place, code, body, last)
        return len(block)

    def _lower(
        self,
        place: CallPlace,
        code: CodeSection,
        body: list[DecodedInstruction],
        last: DecodedInstruction,
    ) -> None:
        self._walk.current.accesses = []  # the same for every copy of a subroutine
        for guard, run in runs_of(body):
            self._body.run(code, guard, run)
        self._end(place, last)

    def _ends_block(self, code: CodeSection, i: DecodedInstruction) -> bool:
        return i.opcode in self._ends or self._body.polls(code, i)

    def _end(self, place: CallPlace, last: DecodedInstruction) -> None:
        code = self._walk.code_at(place)
        following = (*place[:2], last.address + INSTRUCTION_BYTES)
        if self._body.polls(code, last):
            self._body.poll(code, last, following)
        elif last.opcode in self._ends:
            # The branch and its guard read always: whatever it goes on to do is not skipped.
            with self._body.lowering(code, last, RegisterAccess(None)):
                self._ends[last.opcode](place, last, following)
        else:
            self._walk.context.terminators.jump(self._walk.goto(following))


class BlockReading(BlockLowering):
    """Reads basic blocks for the graph: what is lowered of them, mostly their ends, is not kept."""

    def __init__(self, walk: KernelWalk, calls: CallLowering, schedule: WaveSchedule) -> None:
        self._reader = InstructionReading(walk, schedule)
        self._bodies: dict[CodePlace, list[tuple[CodePlace, RegisterAccess]]] = {}
        """What was read of blocks, for their other copies."""
        super().__init__(walk, calls, schedule, LoweringFacts())

    def _body_lowering(self, schedule: WaveSchedule, facts: LoweringFacts) -> InstructionLowering:
        return self._reader

    def _lower(
        self,
        place: CallPlace,
        code: CodeSection,
        body: list[DecodedInstruction],
        last: DecodedInstruction,
    ) -> None:
        known = self._bodies.get(place[1:], [])
        self._walk.current.accesses = [*known]
        if body and not known:
            self._read(place, code, body, last)
        self._end(place, last)

    def _read(
        self,
        place: CallPlace,
        code: CodeSection,
        body: list[DecodedInstruction],
        last: DecodedInstruction,
    ) -> None:
        current = self._walk.current
        if self._is_read(code, body, last):
            self._bodies[place[1:]] = [*current.accesses]
            return
        current.accesses = []
        for guard, run in runs_of(body):
            InstructionLowering.run(self._reader, code, guard, run)

    def _is_read(
        self, code: CodeSection, body: list[DecodedInstruction], last: DecodedInstruction
    ) -> bool:
        """Whether the block could be read without the values that its instructions make."""
        try:
            for guard, run in runs_of(body):
                self._reader.run(code, guard, run)
        except UnknownForm:  # a bank of constants that is indexed by a constant, for one
            return False
        return not self._reader.end_needs_values(body, last)
