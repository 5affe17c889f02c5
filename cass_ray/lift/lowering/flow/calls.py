"""Calls and returns.

A subroutine is lifted anew for each string of calls that leads to it, which gives LLVM straight
code to optimise. Where copies would grow without bound it is lifted once, as a function
(:mod:`.functions`), and where it recurses. Where that happens to several that a call through a
register may lead to, all of these become functions, and the call one by a pointer. The return
address is compared with what the call expects: LLVM proves nearly all of these comparisons true. A
subroutine in which the turn of a warp ends (:mod:`..scheduling.warp_scheduler`) is always copied.

All of this is decided while a kernel's graph is built (:mod:`.control_flow`), before it is lowered.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from cass_ray.lift.analysis.function_signatures import FunctionSignatures
from cass_ray.lift.analysis.kernel_graph import FUNCTION, CallFrame, CallPlace, CallStack, entry_of
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Predicate, Register
from cass_ray.lift.llvm.builder import Value, i64, integer_constant
from cass_ray.lift.lowering.flow.driver_functions import SYSTEM_FUNCTIONS
from cass_ray.lift.lowering.flow.functions import RESUME, RETURN, CallEdge, Functions
from cass_ray.lift.lowering.flow.walk import KernelWalk

MOST_COPIES = 48
"""Copies of one subroutine before it is shared."""
MOST_CHOICES = 3
"""Functions that a call through a register chooses from before it is one by a pointer."""


@dataclass(frozen=True)
class CallPlan:
    """How subroutines are lowered."""

    functions: frozenset[CodePlace] = frozenset()
    copied: frozenset[CodePlace] = frozenset()
    """Subroutines that never become functions."""
    by_pointer: frozenset[str] = frozenset()
    """Sections of code whose calls through registers are calls by pointers."""

    def with_function(self, callee: CodePlace) -> CallPlan:
        """This, and one copy of ``callee`` for all its callers."""
        return replace(self, functions=self.functions | {callee})

    def with_pointers(self, section: str) -> CallPlan:
        """This, and calls by pointers for those through registers in ``section``.

        There are fewer copies of all else then: they are counted anew.
        """
        return replace(self, functions=frozenset(), by_pointer=self.by_pointer | {section})

    def with_copied(self, callee: CodePlace) -> CallPlan:
        """This, and a copy of ``callee`` for each caller."""
        # One that is no function otherwise is one by a pointer.
        by_pointer = self.by_pointer if callee in self.functions else frozenset[str]()
        return CallPlan(self.functions - {callee}, self.copied | {callee}, by_pointer)

    def are_many(self, candidates: Collection[CodePlace]) -> bool:
        """Whether a call through a register is to be one by a pointer: more are functions."""
        functions = self.functions.intersection(candidates)
        return len(functions) >= MOST_CHOICES and self.copied.isdisjoint(candidates)


class CallLowering:
    """Lowers calls and returns of one walk; :meth:`finish` ends it."""

    def __init__(self, walk: KernelWalk, plan: CallPlan) -> None:
        self.functions = Functions(walk)
        self._walk = walk
        self._program = walk.program
        self._context = walk.context
        self.plan = self._first_plan = plan
        """The plan that this walk needs: if it is another one than at first, walk again."""
        self.has_indirect = False
        """Whether functions are called through registers."""
        self._copies: dict[CodePlace, int] = {}

    def call(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """``CALL``: of a subroutine by name, or of one whose address is in a register."""
        stack, function, _ = place
        i.allow_only("REL", "ABS", "NOINC")
        context = self._context
        target = i.operands[-1]
        labels = self._program.code(function).function.labels
        is_direct = len([o for o in i.operands if not isinstance(o, Predicate)]) == 1
        name = target.text if is_direct and isinstance(target, Name) else ""
        with self._walk.where_taken(i, following):
            if name in labels:
                address = labels[name]
                if address in self._program.code(function).entries:
                    self._enter(stack, (function, address), following)
                else:  # a jump out of a region, not a call
                    context.terminators.jump(self._walk.goto((stack, function, address)))
            elif name in self._program.codes:
                self._enter(stack, (name, 0), following)
            elif name in self._program.system:
                self._call_system(i, name, following)
            else:
                self._indirect_call(place, i, following)

    def _enter(self, stack: CallStack, callee: CodePlace, following: CallPlace) -> None:
        self._context.terminators.jump(self._entry(stack, callee, following))

    def _entry(self, stack: CallStack, callee: CodePlace, following: CallPlace) -> str:
        """The label to jump to for a call of ``callee`` that returns to ``following``."""
        if callee in self.plan.functions:
            return self._function_call((callee,), following)
        _, caller, resume = following
        is_active = any(frame.callee == callee for frame in stack)
        copies = self._copies[callee] = self._copies.get(callee, 0) + 1
        if callee not in self.plan.copied and (is_active or copies > MOST_COPIES):
            if self.plan is self._first_plan:
                self.plan = self.plan.with_function(callee)
            return self._function_call((callee,), following)
        if is_active:
            raise LiftError(
                f"{caller}: the subroutine at {callee[1]:#x} of {callee[0]} calls itself, and a"
                " barrier, or a wait for other threads, is in it: parts of a wave cannot take"
                " turns there"
            )
        return self._walk.goto(((*stack, CallFrame(callee, caller, resume)), *callee))

    def _function_call(
        self, callees: Collection[CodePlace], following: CallPlace, pointer: Value | None = None
    ) -> str:
        """The label to jump to for a call of a function, or by ``pointer`` of one of several."""
        _, caller, resume = following
        number = self._program.address(self._program.code(caller), resume)
        entries = {callee: self._walk.enter(entry_of(callee)) for callee in callees}
        label = self._walk.goto(following)
        edge = CallEdge(entries, following, label, number, pointer)
        return self.functions.call(self._walk.place, edge)

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
            offsets = self._program.offsets_called(code, context.environment.data.words)
            candidates = {offset: (function, offset) for offset in offsets}
            value = context.register(register)
        else:
            candidates = self._program.pointed_to()
            value = context.wide(register)
        self.has_indirect = True
        if i.has("REL") and function in self.plan.by_pointer:
            pointer = self.functions.pointer(value, candidates)
            context.terminators.jump(self._function_call(candidates.values(), following, pointer))
            return
        system = {} if i.has("REL") else self._program.system_numbers(SYSTEM_FUNCTIONS)
        if not candidates and not system:
            raise i.unknown("an indirect call in a program without functions")
        cases = [
            f"{integer_constant(value.type, number)}, {self._entry(stack, callee, following)}"
            for number, callee in candidates.items()
        ]
        before = self._first_plan
        if self.plan != before and i.has("REL") and before.are_many(candidates.values()):
            self.plan = before.with_pointers(function)
        labels = {number: f"system{context.ir.fresh()}" for number in system}
        context.terminators.switch(value, cases + [f"{i64(n)}, label %{labels[n]}" for n in system])
        for number, name in system.items():
            with context.registers.alternative(labels[number]):
                self._call_system(i, name, following)

    def _system_call(self, i: DecodedInstruction, address: Value, following: CallPlace) -> bool:
        """A call of a function that the driver provides, where the address says so now."""
        number = address.number
        name = self._program.system_function(number) if number is not None else None
        if name is None:
            return False
        self._call_system(i, name, following)
        return True

    def _call_system(self, i: DecodedInstruction, name: str, following: CallPlace) -> None:
        if name not in SYSTEM_FUNCTIONS:
            raise i.unknown(f"a call of {name}, which is not provided")
        if SYSTEM_FUNCTIONS[name](self._context):
            self._context.terminators.jump(self._walk.goto(following))
        else:
            self._context.terminators.trap()

    def leave(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """``RET``: to the caller, or out of the kernel."""
        stack, function, _ = place
        i.allow_only("REL", "ABS", "NODEC")
        context = self._context
        register = next((o for o in i.operands if isinstance(o, Register)), None)
        if register is None:
            raise i.unknown("a return without an address")
        with self._walk.where_taken(i, following):
            if not stack:
                context.terminators.leave()
                return
            frame = stack[-1]
            if i.has("REL"):
                base = self._program.address(self._program.code(self._base(i, function)), 0)
                address = context.ir.op("add", context.wide(register), i64(base))
            else:
                address = context.wide(register)
            if frame.resume == FUNCTION:
                self._walk.current.leaves_unknown = True
                self._walk.returns.add(place)
                context.terminators.jump_expecting(address, RESUME, RETURN)
                return
            expected = self._program.address(self._program.code(frame.caller), frame.resume)
            target = self._walk.goto((stack[:-1], frame.caller, frame.resume))
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

    def finish(self, signatures: FunctionSignatures | None) -> None:
        """Write the calls of functions, now that all are known.

        ``signatures``: what is live into and out of functions.
        """
        self.functions.finish(signatures)
