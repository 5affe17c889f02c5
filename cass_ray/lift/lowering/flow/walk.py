"""The places of a kernel that a walk of its code comes to: one IR block per SASS block and
caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from cass_ray.lift.analysis import liveness
from cass_ray.lift.analysis.kernel_graph import CallPlace, CallStack, function_of
from cass_ray.lift.convergence.schedule import WaveSchedule
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.llvm.builder import Value
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.flow.outlined_regions import OutlinedRegions

MOST_BLOCKS = 60_000
"""Blocks of one kernel, copies of subroutines included."""


class KernelWalk:
    """Walks from a kernel's entry along every path; :attr:`blocks` are those that it came to."""

    def __init__(self, environment: KernelEnvironment, schedule: WaveSchedule) -> None:
        self.program = environment.program
        self.context = LoweringContext(environment, schedule)
        self.regions = OutlinedRegions(self.context)
        """What is outlined of large functions: nothing, unless that is set before the walk."""
        self.blocks: dict[liveness.CodePlace, liveness.LivenessBlock] = {}
        self.current = liveness.LivenessBlock()
        """The block that the walk is in."""
        self.successors: dict[CallPlace, set[CallPlace]] = {}
        """What follows each block, copies of subroutines apart."""
        self.returns: set[CallPlace] = set()
        """Blocks that end with the return of a function that has one copy."""
        self.weights: dict[liveness.CodePlace, int] = {}
        """Blocks of LLVM of each block."""
        self._kernel = environment.kernel.name
        self._stacks: dict[CallStack, int] = {(): 0}
        self._pending: list[CallPlace] = []
        self._labels_before = 0
        self.place = self.entry
        """The block that the walk is in."""

    @property
    def entry(self) -> CallPlace:
        """The kernel's first instruction."""
        return (), self._kernel, 0

    def code_at(self, place: CallPlace) -> CodeSection:
        """The function that ``place`` is in."""
        return self.program.code(place[1])

    def label(self, place: CallPlace) -> str:
        stack, function, address = place
        number = self._stacks.setdefault(stack, len(self._stacks))
        code = self.program.code(function)
        return f"sass_{code.index}_{address:x}" + (f".call{number}" if number else "")

    def goto(self, place: CallPlace) -> str:
        """The operand of a jump to ``place``; the walk goes there, if it has not been."""
        self._visit(place)
        return self.regions.exit_edge(self.place, place) or f"label %{self.label(place)}"

    def goto_from(self, source: CallPlace, place: CallPlace) -> str:
        """As :meth:`goto`, where the jump is at the end of another block than the current one."""
        self._visit(place, source)
        return f"label %{self.label(place)}"

    def enter(self, function: CallPlace) -> str:
        """The operand of the first jump in a function of LLVM that begins at ``function``."""
        self._visit(function)
        return f"label %{self.first_label(function)}"

    def first_label(self, entry: CallPlace) -> str:
        """What is jumped to first in the function that begins at ``entry``."""
        return self.regions.first_label(function_of(entry[0])) or self.label(entry)

    def jump_by_table(self, address: Value, targets: Sequence[CallPlace]) -> bool:
        """:meth:`.Pieces.jump_by_table` at the end of the current block."""
        has_table = self.regions.jump_by_table(self.place, address, targets)
        for target in targets if has_table else ():
            self._visit(target)
        return has_table

    def where_taken(
        self, i: DecodedInstruction, following: CallPlace
    ) -> AbstractContextManager[None]:
        """Inside, write the block's end for where control goes as ``i`` says; elsewhere it goes on
        to ``following``."""
        condition = self.context.condition_of(i)
        return self.context.terminators.leaving_if(condition, lambda: self.goto(following))

    def _visit(self, place: CallPlace, source: CallPlace | None = None) -> None:
        source = source or self.place
        self._pending.append(place)
        self.successors.setdefault(source, set()).add(place)
        self._block(source).successors.add(place[1:])

    def _block(self, place: CallPlace) -> liveness.LivenessBlock:
        return self.blocks.setdefault(place[1:], liveness.LivenessBlock())

    def _weight(self) -> int:
        """Blocks of LLVM that the current one has become, and that ways out of it may need."""
        new_labels = self.context.ir.labels - self._labels_before
        return new_labels + len(self.successors[self.place])

    def places(self) -> Iterator[CallPlace]:
        """Each place once, with its block begun; those that jumps lead to follow.

        Raises :class:`LiftError` for more than :data:`MOST_BLOCKS`.
        """
        self._pending = [self.entry]
        done: set[CallPlace] = set()
        while self._pending:
            place = self._pending.pop()
            if place in done:
                continue
            done.add(place)
            if len(done) > MOST_BLOCKS:
                raise LiftError(f"{self._kernel}: more than {MOST_BLOCKS} basic blocks")
            self.place = place
            self.successors.setdefault(place, set())
            self.current = self._block(place)
            self.context.enter(self.regions.function_at(place))
            label = self.label(place)
            self.regions.begun(place, label)
            self._labels_before = self.context.ir.labels
            self.context.registers.begin_block(label)
            yield place
            self.weights.setdefault(place[1:], self._weight())
