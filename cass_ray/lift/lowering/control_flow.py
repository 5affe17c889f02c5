"""Control flow: from a kernel's entry along every path, one IR block per SASS block and caller.

A subroutine is lifted anew for each string of calls that leads to it, which gives LLVM straight
code to optimise. Where calls recurse, or copies would grow without bound, the subroutine is lifted
once and its return becomes a switch over the return address. In every other case the return address
is compared with what the call expects: LLVM proves nearly all of these comparisons true.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from cass_ray.lift.errors import LifterBug, LiftError, UnknownForm
from cass_ray.lift.frontend.blocks import block_of, runs_of
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES, CodeSection, CubinCode
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Predicate, Register
from cass_ray.lift.llvm.builder import TRUE, Value, i32, i64
from cass_ray.lift.lowering import liveness
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.driver_functions import SYSTEM_FUNCTIONS
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.families import forms
from cass_ray.lift.lowering.lanes import ballot, share_with_warp
from cass_ray.lift.lowering.pairing import must_take_turns
from cass_ray.lift.lowering.phase_waits import PhaseWaits, phase_waits
from cass_ray.lift.lowering.polling import must_keep_loads
from cass_ray.lift.lowering.registers import word_of
from cass_ray.lift.lowering.semantics.barrier import stop_at_barrier
from cass_ray.lift.lowering.semantics.mbarrier import tests_phase
from cass_ray.lift.lowering.semantics.texture import TEXTURE_OPCODES
from cass_ray.lift.lowering.table import OpcodeForm
from cass_ray.lift.lowering.uniform import uniform_results

MOST_BLOCKS = 60_000
"""Blocks of one kernel, copies of subroutines included."""
DEEP_STACK = 8192
"""Bytes of stack added where calls recurse or are indirect: the cubin does not say how deep."""
MOST_COPIES = 48
"""Copies of one subroutine before it is shared."""


@dataclass(frozen=True, slots=True)
class CallFrame:
    """An active call: the code that is called, and where it returns to."""

    callee: tuple[str, int]
    caller: str
    resume: int
    """Address of the instruction after the call; -1 for a shared subroutine."""


CallStack = tuple[CallFrame, ...]
CallPlace = tuple[CallStack, str, int]


class _Share(Exception):
    """Subroutines turned out to need a shared copy: lift the kernel again."""

    def __init__(self, *callees: tuple[str, int], recursive: bool) -> None:
        super().__init__(callees)
        self.callees = callees
        self.recursive = recursive


class _Deepen(Exception):
    """The kernel needs a stack of unknown depth: lift it again with one."""


class KernelLifter:
    """Lifts one kernel; :meth:`lift` gives the lines of its body."""

    def __init__(self, program: CubinCode, environment: KernelEnvironment) -> None:
        self._program = program
        self.environment = environment
        self._forms = forms()
        self._is_deep = False
        self._takes_turns = False
        self._waits = PhaseWaits()
        self._writes: dict[liveness.CodePlace, set[str]] = {}
        self._shared: set[tuple[str, int]] = set()
        self.instruction_count = 0

    def lift(self) -> LoweringContext:
        """The context whose ``ir.lines`` are the kernel's blocks, in the order they were found.

        Raises:
            LiftError: a form that the table lacks, or control flow that cannot be followed.
        """
        while True:
            try:
                self._unneeded: set[tuple[liveness.CodePlace, str]] = set()
                self._attempt()
                graph = (self._blocks, (self.environment.kernel.name, 0), self._instruction_at)
                keeps = must_keep_loads(*graph)
                self.environment = replace(self.environment, keeps_shared_loads=keeps)
                if self.environment.target.pairs_warps and not self._takes_turns:
                    self._waits = phase_waits(*graph)
                    self._takes_turns = must_take_turns(*graph, self._waits)
                    if self._takes_turns:
                        continue
                self._unneeded = liveness.unneeded_old_values(self._blocks)
                self._writes = {
                    place: access.writes
                    for block in self._blocks.values()
                    for place, access in block.accesses
                }
                return self._attempt()
            except _Share as found:
                self._shared.update(found.callees)
                if found.recursive:
                    self._deepen()
            except _Deepen:
                self._deepen()

    def _instruction_at(self, place: liveness.CodePlace) -> DecodedInstruction:
        code = self._program.code(place[0])
        return code.instructions[code.position[place[1]]]

    def _deepen(self) -> None:
        kernel = self.environment.kernel
        if self._is_deep:
            return
        deeper = replace(kernel, frame_size=kernel.frame_size + DEEP_STACK)
        self.environment = replace(self.environment, kernel=deeper)
        self._is_deep = True

    def _attempt(self) -> LoweringContext:
        self._context = LoweringContext(self.environment, in_turns=self._takes_turns)
        self._ends = {**ENDS, "BAR": KernelLifter._barrier} if self._takes_turns else ENDS
        self._stacks: dict[CallStack, int] = {(): 0}
        self._copies: dict[tuple[str, int], int] = {}
        self._returns: dict[tuple[str, int], dict[int, str]] = {}
        self._switches: list[tuple[int, tuple[str, int], Value]] = []
        self._blocks: dict[liveness.CodePlace, liveness.LivenessBlock] = {}
        self.instruction_count = 0
        name = self.environment.kernel.name
        self._pending: list[CallPlace] = [((), name, 0)]
        done: set[CallPlace] = set()
        while self._pending:
            place = self._pending.pop()
            if place in done:
                continue
            done.add(place)
            if len(done) > MOST_BLOCKS:
                raise LiftError(f"{name}: more than {MOST_BLOCKS} basic blocks")
            self._block(place)
        self._write_switches()
        return self._context

    # Blocks

    def entry_label(self) -> str:
        """The label of the kernel's first block."""
        return self._label(((), self.environment.kernel.name, 0))

    def _label(self, place: CallPlace) -> str:
        stack, function, address = place
        number = self._stacks.setdefault(stack, len(self._stacks))
        code = self._program.code(function)
        return f"sass_{code.index}_{address:x}" + (f".call{number}" if number else "")

    def _goto(self, place: CallPlace) -> str:
        self._pending.append(place)
        self._current.successors.add(place[1:])
        return f"label %{self._label(place)}"

    def _block(self, place: CallPlace) -> None:
        stack, function, address = place
        context = self._context
        code = self._program.code(function)
        self._current = self._blocks.setdefault((function, address), liveness.LivenessBlock())
        self._current.accesses.clear()  # the same for every copy of a subroutine
        context.registers.begin_block(self._label(place))
        position = code.position.get(address)
        if position is None:
            raise LiftError(f"{function}: control reaches {address:#x}, where no instruction is")
        block = list(block_of(code, position, lambda i: self._ends_block(code, i)))
        self.instruction_count += len(block)
        last = block[-1]
        body = block[:-1] if self._ends_block(code, last) else block
        for guard, run in runs_of(body):
            self._run(code, guard, run)
        following = (stack, function, last.address + INSTRUCTION_BYTES)
        if self._polls(code, last):
            self._poll(code, last, following)
            return
        if last.opcode not in self._ends:
            context.terminators.jump(self._goto(following))
            return
        # The branch and its guard read always: whatever it goes on to do is not skipped.
        with self._lowering(code, last, liveness.RegisterAccess(None)):
            self._ends[last.opcode](self, place, last, following)

    def _polls(self, code: CodeSection, i: DecodedInstruction) -> bool:
        """Whether the turn ends before ``i``, which waits for another warp."""
        return (code.name, i.address) in self._waits.polls and self._takes_turns

    def _ends_block(self, code: CodeSection, i: DecodedInstruction) -> bool:
        return i.opcode in self._ends or self._polls(code, i)

    def _run(
        self, code: CodeSection, guard: Predicate | None, run: list[DecodedInstruction]
    ) -> None:
        context = self._context
        known = [(each, self._form(code, each)) for each in run]
        if guard is None:
            self._apply(code, known)
            return
        condition = context.predicate(guard)
        unneeded = self._unneeded_in(code, known)
        if guard.file == "P" and (shared := uniform_results(run)):
            unneeded = frozenset(name for name in unneeded if word_of(name) not in shared)
            with context.registers.skipped_unless(condition, unneeded):
                self._apply(code, known)
            for name in sorted(shared):
                share_with_warp(context, name, condition)
            return
        if any(form.has_effect for _, form in known):
            with context.registers.skipped_unless(condition, unneeded):
                self._apply(code, known)
        else:
            with context.registers.dropping_results_unless(condition, unneeded):
                self._apply(code, known)

    def _unneeded_in(
        self, code: CodeSection, known: list[tuple[DecodedInstruction, OpcodeForm]]
    ) -> frozenset[str]:
        """Registers whose value before a run is not needed where its guard does not hold.

        That is so when it is for the first instruction of the run that writes them.
        """
        if not self._unneeded:
            return frozenset()
        first: dict[str, bool] = {}
        for instruction, _ in known:
            place = (code.name, instruction.address)
            for name in self._writes.get(place, ()):
                first.setdefault(name, (place, name) in self._unneeded)
        return frozenset(name for name, unneeded in first.items() if unneeded)

    def _apply(self, code: CodeSection, known: list[tuple[DecodedInstruction, OpcodeForm]]) -> None:
        for instruction, form in known:
            guard = instruction.guard
            access = liveness.RegisterAccess((guard.name, guard.inverted) if guard else None)
            with self._lowering(code, instruction, access):
                form.semantics(self._context, instruction)
                self._agree(code, instruction)

    def _agree(self, code: CodeSection, i: DecodedInstruction) -> None:
        """Where warps run in turns, a phase is over for all lanes of the warp or for none.

        In a loop that waits it is when it is for each; elsewhere lanes that differ are an error.
        """
        waits_here = self._waits.verdicts.get((code.name, i.address))
        if waits_here is None or not self._takes_turns:
            return
        if i.guard is not None and not tests_phase(i):
            raise i.unknown("a guarded test of a phase where warps run in turns")
        context = self._context
        own = context.predicate(i.operands[0])
        others = ballot(context, context.ir.invert(own))
        all_over = context.ir.icmp("eq", others, i32(0))
        if waits_here:
            context.write_predicate(i.operands[0], all_over)
            return
        differs = context.ir.both(own, context.ir.invert(all_over))
        with context.registers.skipped_unless(differs):
            # Not llvm.trap, after which lanes would wait until the others end.
            context.ir.line('call void asm sideeffect "s_trap 2", ""()')

    def _poll(self, code: CodeSection, i: DecodedInstruction, following: CallPlace) -> None:
        """Give the turn to the other warp, then read whether a phase is over."""
        context, form = self._context, self._form(code, i)
        assert context.turns is not None
        access = liveness.RegisterAccess((i.guard.name, i.guard.inverted) if i.guard else None)
        guard = context.predicate(i.guard) if i.guard else TRUE
        with context.terminators.leaving_if(guard, lambda: self._goto(following)):
            label = f"poll{context.ir.fresh()}"
            context.turns.pause(f"label %{label}", at_barrier=False)
            context.registers.begin_block(label)
            with self._lowering(code, i, access):
                form.semantics(context, i)
                self._agree(code, i)
            context.terminators.jump(self._goto(following))

    @contextmanager
    def _lowering(
        self, code: CodeSection, instruction: DecodedInstruction, access: liveness.RegisterAccess
    ) -> Iterator[None]:
        """Inside, ``instruction`` is lifted: what it touches is recorded, and errors name it."""
        self._current.accesses.append(((code.name, instruction.address), access))
        try:
            with self._context.lowering(code, access):
                yield
        except UnknownForm as error:
            raise error.at(instruction.text, code.name, instruction.address) from None
        except (LiftError, _Share, _Deepen):
            raise
        except Exception as error:
            raise LifterBug(instruction.text, code.name, instruction.address) from error

    def _form(self, code: CodeSection, instruction: DecodedInstruction) -> OpcodeForm:
        form = self._forms.get(instruction.mnemonic)
        if form is None:
            raise UnknownForm(
                instruction.text,
                "the form is not in the table",
                code.name,
                instruction.address,
            )
        target = self.environment.target
        if instruction.opcode in TEXTURE_OPCODES and not target.has_image_instructions:
            reason = f"{target.name} has no texture units"
            raise UnknownForm(instruction.text, reason, code.name, instruction.address)
        return form

    # Ends of blocks

    def _condition(self, instruction: DecodedInstruction) -> Value:
        """When the branch is taken: its guard and its predicate operands."""
        condition = TRUE
        guards = [instruction.guard] if instruction.guard else []
        for operand in (*guards, *instruction.operands):
            if isinstance(operand, Predicate):
                condition = self._context.ir.both(condition, self._context.predicate(operand))
        return condition

    def _branch(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        _only(i, "U", "CONV", "DIV", "INC", "ANY")
        context = self._context
        if i.has("DIV"):  # threads of a warp run together here, which is what it asks
            context.terminators.jump(self._goto(following))
            return
        target = self._target(place, i)
        if i.has("CONV"):
            context.terminators.jump(self._goto(target))
            return
        condition = self._condition(i)
        if i.has("ANY"):  # the warp goes where one of its threads goes
            condition = context.ir.icmp("ne", ballot(context, condition), i32(0))
        context.terminators.branch(condition, self._goto(target), lambda: self._goto(following))

    def _target(self, place: CallPlace, i: DecodedInstruction) -> CallPlace:
        stack, function, _ = place
        name = i.operands[-1]
        labels = self._program.code(function).function.labels
        if not isinstance(name, Name) or name.text not in labels:
            raise i.unknown("a branch to a place outside its function")
        return stack, function, labels[name.text]

    def _exit(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        del place
        _only(i)
        with self._context.terminators.leaving_if(
            self._condition(i), lambda: self._goto(following)
        ):
            self._context.terminators.leave()

    def _barrier(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """A barrier of the block where warps run in turns; elsewhere it ends no basic block."""
        del place
        with self._context.terminators.leaving_if(
            self._condition(i), lambda: self._goto(following)
        ):
            stop_at_barrier(self._context, i, self._goto(following))

    def _trap(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        del place
        _only(i, "TRAP")
        if not i.has("TRAP"):
            raise i.unknown("a breakpoint that is no trap")
        with self._context.terminators.leaving_if(
            self._condition(i), lambda: self._goto(following)
        ):
            self._context.terminators.trap()

    def _call(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        stack, function, _ = place
        _only(i, "REL", "ABS", "NOINC")
        context = self._context
        target = i.operands[-1]
        labels = self._program.code(function).function.labels
        is_direct = len([o for o in i.operands if not isinstance(o, Predicate)]) == 1
        with context.terminators.leaving_if(self._condition(i), lambda: self._goto(following)):
            if is_direct and isinstance(target, Name) and target.text in labels:
                address = labels[target.text]
                if address in self._program.code(function).entries:
                    self._enter(stack, (function, address), following)
                else:  # a jump out of a region, not a call
                    context.terminators.jump(self._goto((stack, function, address)))
            elif is_direct and isinstance(target, Name) and target.text in self._program.codes:
                self._enter(stack, (target.text, 0), following)
            else:
                self._indirect_call(place, i, following)

    def _enter(self, stack: CallStack, callee: tuple[str, int], following: CallPlace) -> None:
        self._context.terminators.jump(self._entry(stack, callee, following))

    def _entry(self, stack: CallStack, callee: tuple[str, int], following: CallPlace) -> str:
        """The label to jump to for a call of ``callee`` that returns to ``following``."""
        _, caller, resume = following
        if callee in self._shared:
            number = self._program.address(self._program.code(caller), resume)
            targets = self._returns.setdefault(callee, {})
            label = self._goto(following)
            if targets.setdefault(number, label) != label:
                self._share_callers(stack, caller, callee)
            return self._goto(((CallFrame(callee, "", -1),), *callee))
        if any(frame.callee == callee for frame in stack):
            raise _Share(callee, recursive=True)
        copies = self._copies.get(callee, 0) + 1
        self._copies[callee] = copies
        if copies > MOST_COPIES:
            raise _Share(callee, recursive=False)
        return self._goto(((*stack, CallFrame(callee, caller, resume)), *callee))

    def _share_callers(self, stack: CallStack, caller: str, callee: tuple[str, int]) -> None:
        """A shared subroutine returns to one copy of a place: share what was copied there."""
        copied = [frame.callee for frame in stack if frame.resume >= 0]
        if not copied:
            raise LiftError(
                f"{caller}: the shared function at {callee[1]:#x} is called from several copies of"
                " one place"
            )
        raise _Share(*copied, recursive=False)

    def _indirect_call(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """A call through a register: of one of the functions of the program, or of the system."""
        stack, function, _ = place
        context = self._context
        register = next((o for o in i.operands if isinstance(o, Register)), None)
        if register is None:
            raise i.unknown("a call of something unknown")
        if not i.has("REL") and self._system_call(i, context.wide(register), following):
            return
        code = self._program.code(function)
        if i.has("REL"):
            candidates = {address: (function, address) for address in sorted(code.entries)}
            value = context.register(register)
            constant = i32
        else:
            candidates = self._program.pointed_to()
            value = context.wide(register)
            constant = i64
        if not self._is_deep:
            raise _Deepen
        system = {} if i.has("REL") else self._program.system_numbers(SYSTEM_FUNCTIONS)
        if not candidates and not system:
            raise i.unknown("an indirect call in a program without functions")
        cases = [
            f"{constant(number)}, {self._entry(stack, callee, following)}"
            for number, callee in candidates.items()
        ]
        labels = {number: f"system{context.ir.fresh()}" for number in system}
        context.terminators.switch(value, cases + [f"{i64(n)}, label %{labels[n]}" for n in system])
        for number, name in system.items():
            with context.registers.alternative(labels[number]):
                self._call_system(name, following)

    def _system_call(self, i: DecodedInstruction, address: Value, following: CallPlace) -> bool:
        """A call of a function that the driver provides, where the address says so now."""
        number = address.number
        name = self._program.system_function(number) if number is not None else None
        if name is None:
            return False
        if name not in SYSTEM_FUNCTIONS:
            raise i.unknown(f"a call of {name}, which is not provided")
        self._call_system(name, following)
        return True

    def _call_system(self, name: str, following: CallPlace) -> None:
        if SYSTEM_FUNCTIONS[name](self._context):
            self._context.terminators.jump(self._goto(following))
        else:
            self._context.terminators.trap()

    def _return(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        stack, function, _ = place
        _only(i, "REL", "ABS", "NODEC")
        context = self._context
        register = i.operands[0]
        if not isinstance(register, Register):
            raise i.unknown("a return without an address")
        with context.terminators.leaving_if(self._condition(i), lambda: self._goto(following)):
            if not stack:
                context.terminators.leave()
                return
            frame = stack[-1]
            if i.has("REL"):
                base = self._program.address(self._program.code(self._base(i, function)), 0)
                address = context.ir.op("add", context.wide(register), i64(base))
            else:
                address = context.wide(register)
            if frame.resume < 0:
                self._current.leaves_unknown = True
                reserved = context.terminators.switch_later()
                self._switches.append((reserved, frame.callee, address))
                return
            expected = self._program.address(self._program.code(frame.caller), frame.resume)
            target = self._goto((stack[:-1], frame.caller, frame.resume))
            context.terminators.jump_expecting(address, i64(expected), target)

    def _base(self, i: DecodedInstruction, function: str) -> str:
        """The function whose start a relative return counts from."""
        name = i.operands[-1]
        if isinstance(name, Name) and name.text in self._program.codes:
            return name.text
        if (
            isinstance(name, Name)
            and self._program.code(function).function.labels.get(name.text) == 0
        ):
            return function
        raise i.unknown("a return relative to an unknown place")

    def _write_switches(self) -> None:
        """Fill in the returns of shared subroutines, now that all calls are known."""
        for reserved, callee, address in self._switches:
            cases = [f"{i64(n)}, {label}" for n, label in self._returns[callee].items()]
            self._context.terminators.complete_switch(reserved, address, cases)

    def _jump_table(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """An indirect branch to one of the targets that the listing names.

        The register holds the distance from the instruction after the branch, less the operand.
        """
        stack, function, _ = place
        _only(i)
        if not i.targets:
            raise i.unknown("an indirect branch without a list of targets")
        context = self._context
        register, displacement = i.operands[0], i.operands[-1]
        if not isinstance(register, Register):
            raise i.unknown("an indirect branch without a register")
        base = self._displaced(i, place, displacement)
        with context.terminators.leaving_if(self._condition(i), lambda: self._goto(following)):
            target = context.ir.op("add", context.register(register), i32(base))
            labels = self._program.code(function).function.labels
            addresses = sorted({labels[name] for name in i.targets})
            context.terminators.switch(
                target, [f"{i32(a)}, {self._goto((stack, function, a))}" for a in addresses]
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


def _only(i: DecodedInstruction, *known: str) -> None:
    """Raise for modifiers that are not ``known``."""
    for modifier in i.modifiers:
        if modifier not in known:
            raise i.unknown(f"modifier {modifier}")


ENDS = {
    "BRA": KernelLifter._branch,
    "JMP": KernelLifter._branch,
    "EXIT": KernelLifter._exit,
    "KILL": KernelLifter._exit,
    "BPT": KernelLifter._trap,
    "CALL": KernelLifter._call,
    "RET": KernelLifter._return,
    "BRX": KernelLifter._jump_table,
    "BRXU": KernelLifter._jump_table,
    "JMX": KernelLifter._jump_table,
}
"""What ends a basic block, by opcode; their modifiers are checked where they are lifted."""
