"""Ends of basic blocks by opcode: branches, exits, traps, jump tables, and barriers in turns."""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.lift.analysis.kernel_graph import CallPlace
from cass_ray.lift.analysis.opcodes import tests_convergence
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Register
from cass_ray.lift.llvm.builder import i32
from cass_ray.lift.llvm.notes import UNROLLED
from cass_ray.lift.lowering.clusters import end_thread
from cass_ray.lift.lowering.flow.calls import CallLowering
from cass_ray.lift.lowering.flow.divergent_collectives import DivergentCollectives
from cass_ray.lift.lowering.flow.walk import KernelWalk
from cass_ray.lift.lowering.lanes import ballot
from cass_ray.lift.lowering.recognized_operations import write_operation
from cass_ray.lift.lowering.semantics.barrier import stop_at_barrier
from cass_ray.lift.lowering.semantics.convergence import stop_at_bsync

LowersEnd = Callable[[CallPlace, DecodedInstruction, CallPlace], None]
"""Lowers the end of a block: its place, its last instruction, and the place behind it."""

ENDS = frozenset({"BRA", "JMP", "EXIT", "KILL", "BPT", "CALL", "RET", "BRX", "BRXU", "JMX"})
"""What ends a basic block; the modifiers are checked where they are lifted."""


class BlockEnds:
    """Lifts the last instruction of a walk's current block."""

    def __init__(
        self,
        walk: KernelWalk,
        calls: CallLowering,
        collectives: DivergentCollectives,
    ) -> None:
        self._walk = walk
        self._program = walk.program
        self._context = walk.context
        self._calls = calls
        self._collectives = collectives

    def by_opcode(self) -> dict[str, LowersEnd]:
        """How each is lifted. Kept by itself, it would keep all of a lifting as garbage."""
        by_opcode: dict[str, LowersEnd] = {
            "BRA": self._branch,
            "JMP": self._branch,
            "EXIT": self._exit,
            "KILL": self._exit,
            "BPT": self._trap,
            "CALL": self._calls.call,
            "RET": self._calls.leave,
            "BRX": self._jump_table,
            "BRXU": self._jump_table,
            "JMX": self._jump_table,
        }
        assert by_opcode.keys() == ENDS
        if self._context.scheduler is not None:  # a turn ends at a barrier
            by_opcode |= dict.fromkeys(("BAR", "WARPGROUP", "UCGABAR_WAIT"), self._barrier)
        if self._context.lane_scheduler is not None:
            by_opcode |= {"BSYNC": self._region_end, "WARPSYNC": self._warpsync}
        return by_opcode

    def _branch(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        i.allow_only("U", "CONV", "DIV", "INC", "ANY")
        context = self._context
        if tests_convergence(i):
            self._convergence_test(place, i, following)
            return
        if operation := context.environment.recognized_operations.get((place[1], i.address)):
            write_operation(context, operation)
            context.terminators.jump(self._walk.goto((*place[:2], operation.following)))
            return
        target = self._target(place, i)
        condition = self._context.condition_of(i)
        if i.has("ANY"):  # the warp goes where one of its threads goes
            condition = context.ir.icmp("ne", ballot(context, condition), i32(0))
        unrolled = (place[1], i.address) in context.environment.unrolled
        context.terminators.branch(
            condition,
            self._walk.goto(target),
            lambda: self._walk.goto(following),
            UNROLLED if unrolled else "",
        )

    def _convergence_test(
        self, place: CallPlace, i: DecodedInstruction, following: CallPlace
    ) -> None:
        """Whether the lanes of a warp are apart, or together.

        They are together; scheduled independently they may be apart, and the code for those has
        them reconverge. But at a barrier of the block each comes for itself. A guard is no way past
        it: where it does not hold in all lanes, these have different masks and count as apart.
        """
        context = self._context
        together, apart = self._target(place, i), following
        if i.has("DIV"):
            together, apart = apart, together
        groups = context.mask_groups()
        if groups is not None and i.address in groups.convergence_tests:
            others = ballot(context, context.ir.invert(context.condition_of(i)))
            is_apart = context.ir.icmp("ne", others, i32(0))
            label = self._walk.goto(together)
            context.terminators.branch(is_apart, self._walk.goto(apart), lambda: label)
            return
        is_of_block = together[1:] in context.environment.unaligned_barriers
        is_sure = context.lane_scheduler is None or is_of_block
        context.terminators.jump(self._walk.goto(together if is_sure else apart))

    def _warpsync(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        with self._walk.where_taken(i, following):
            self._collectives.wait(place, i, following)

    def _region_end(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        del place
        with self._walk.where_taken(i, following):
            stop_at_bsync(self._context, i, self._walk.goto(following))

    def _target(self, place: CallPlace, i: DecodedInstruction) -> CallPlace:
        stack, function, _ = place
        name = i.operands[-1]
        labels = self._program.code(function).function.labels
        if not isinstance(name, Name) or name.text not in labels:
            raise i.unknown("a branch to a place outside its function")
        return stack, function, labels[name.text]

    def _exit(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        del place
        i.allow_only()
        with self._walk.where_taken(i, following):
            end_thread(self._context)
            self._context.terminators.leave()

    def _barrier(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """A barrier of the block where warps are scheduled; elsewhere it ends no basic block."""
        del place
        with self._walk.where_taken(i, following):
            stop_at_barrier(self._context, i, self._walk.goto(following))

    def _trap(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        del place
        i.allow_only("TRAP")
        if not i.has("TRAP"):
            raise i.unknown("a breakpoint that is no trap")
        with self._walk.where_taken(i, following):
            self._context.terminators.trap()

    def _jump_table(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """An indirect branch to one of the targets that the listing names.

        The register holds the distance from the instruction after the branch, less the operand.
        """
        stack, function, _ = place
        i.allow_only()
        if not i.targets:
            raise i.unknown("an indirect branch without a list of targets")
        context = self._context
        register, displacement = i.operands[0], i.operands[-1]
        if not isinstance(register, Register):
            raise i.unknown("an indirect branch without a register")
        base = self._displaced(i, place, displacement)
        with self._walk.where_taken(i, following):
            target = context.ir.op("add", context.register(register), i32(base))
            labels = self._program.code(function).function.labels
            addresses = sorted({labels[name] for name in i.targets})
            if self._walk.jump_by_table(target, [(stack, function, a) for a in addresses]):
                return
            context.terminators.switch(
                target, [f"{i32(a)}, {self._walk.goto((stack, function, a))}" for a in addresses]
            )

    def _displaced(self, i: DecodedInstruction, place: CallPlace, displacement: object) -> int:
        """The address that the register of an indirect branch is added to."""
        labels = self._program.code(place[1]).function.labels
        if isinstance(displacement, Name) and displacement.text in labels:
            return labels[displacement.text]
        number = getattr(displacement, "integer", None)
        if number is None:
            raise i.unknown("an indirect branch of an unknown shape")
        return i.address + INSTRUCTION_BYTES + int(number)
