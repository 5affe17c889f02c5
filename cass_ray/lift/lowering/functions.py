"""Subroutines with one copy for many callers: functions of LLVM.

Lanes that call a function together return together, as they do in SASS. Without functions, one
copy's way back would be a switch over the return address, and with it the kernel one great loop,
through which lanes that have parted go at their own pace: they would come to barriers and shuffles
one after the other.

A function has the registers that it, or a function that it calls, reads or writes as arguments and
as results; LLVM leaves out those that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from cass_ray.lift.llvm.builder import CodePart, Value, i64
from cass_ray.lift.lowering.arguments import COPY
from cass_ray.lift.lowering.constant_banks import KERNEL_ARGUMENTS
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.liveness import CodePlace
from cass_ray.lift.lowering.terminators import ENDED

_FRAME = "ptr addrspace(5) %frame"
_COPY = f"ptr addrspace(5) {COPY}"
RESUME = Value("i64", "%resume")
"""In a function, the number of the place that it has to return to."""
_RETURN = "return"
RETURN = f"label %{_RETURN}"
"""The block of a function that returns, as an operand."""


@dataclass(frozen=True)
class _Call:
    """A call in one part of a kernel's code."""

    part: CodePart
    label: str
    """Of the block that makes it."""
    callee: CodePlace
    resume: int
    following: str
    """Where it goes on, as an operand."""


class Functions:
    """The functions of one kernel, and the calls of them."""

    def __init__(self, context: LoweringContext) -> None:
        self._context = context
        self._entries: dict[CodePlace, str] = {}
        self._calls: list[_Call] = []
        self._registers: dict[CodePart, dict[str, str]] = {}
        self._ending: set[CodePart] = set()
        """Parts in which threads may end, or in what they call."""

    def call(self, callee: CodePlace, entry: str, resume: int, following: str) -> str:
        """The block, as an operand, that calls ``callee`` and goes on to ``following``.

        ``entry`` is the function's first block, as an operand; ``resume`` the number of the place
        where SASS goes on.
        """
        self._entries[callee] = entry
        label = f"call{self._context.ir.fresh()}"
        self._calls.append(_Call(self._context.ir.part, label, callee, resume, following))
        return f"label %{label}"

    @cached_property
    def recursive(self) -> frozenset[CodePlace]:
        """Functions that are called while they are active; for when all calls are known."""
        called: dict[CodePlace, set[CodePlace]] = {place: set() for place in self._entries}
        for call in self._calls:
            if call.part is not None:
                called[call.part].add(call.callee)
        changes = True
        while changes:
            changes = False
            for reached in called.values():
                more = set[CodePlace]().union(*(called[place] for place in reached)) - reached
                reached.update(more)
                changes = changes or bool(more)
        return frozenset(place for place, reached in called.items() if place in reached)

    def finish(self) -> None:
        """Write the calls, now that it is known which registers each function touches."""
        registers = self._context.registers
        parts: list[CodePart] = [None, *self._entries]
        touched = {part: _scalars(registers.types_in(part)) for part in parts}
        ending = set(self._context.terminators.ending_parts)
        changes = True
        while changes:
            changes = False
            for call in self._calls:
                missing = touched[call.callee].items() - touched[call.part].items()
                touched[call.part].update(missing)
                ends = call.callee in ending and call.part not in ending
                if ends:
                    ending.add(call.part)
                changes = changes or bool(missing) or ends
        self._registers, self._ending = touched, ending
        for part, types in touched.items():
            registers.declare_in(part, types)
        for call in self._calls:
            self._context.ir.enter(call.part)
            self._write_call(call)
        for part in parts:
            self._context.ir.enter(part)
            self._write_ends(part)
        self._context.ir.enter(None)

    def _write_call(self, call: _Call) -> None:
        ir, label = self._context.ir, call.label
        registers = sorted(self._registers[call.callee].items())
        ir.label(label)
        for name, kind in registers:
            ir.line(f"%{label}.{name} = load {kind}, ptr addrspace(5) %{name}")
        given = [i64(call.resume), *self._surroundings()]
        given += [f"{kind} %{label}.{name}" for name, kind in registers]
        results = _results(registers)
        listed = ", ".join(map(str, given))
        ir.line(f"%{label}.made = call {results} @{self._name(call.callee)}({listed})")
        made = f"extractvalue {results} %{label}.made"
        for number, (name, kind) in enumerate(registers, 1):
            ir.line(f"%{label}.new.{name} = {made}, {number}")
            ir.line(f"store {kind} %{label}.new.{name}, ptr addrspace(5) %{name}")
        if call.callee in self._ending:
            ir.line(f"%{label}.ended = {made}, 0")
            ir.line(f"br i1 %{label}.ended, label %{ENDED}, {call.following}")
        else:
            ir.line(f"br {call.following}")

    def _write_ends(self, part: CodePart) -> None:
        """The blocks :data:`RETURN` and ``ENDED`` of a part."""
        context, ir = self._context, self._context.ir
        if part is not None:
            for label, ended in ((_RETURN, "false"), (ENDED, "true")):
                self._write_return(part, label, ended)
        elif any(call.callee in self._ending for call in self._calls if call.part is None):
            ir.label(ENDED)
            context.terminators.leave_kernel()

    def _write_return(self, part: CodePlace, label: str, ended: str) -> None:
        ir = self._context.ir
        registers = sorted(self._registers[part].items())
        results = _results(registers)
        ir.label(label)
        ir.line(f"%{label}.0 = insertvalue {results} poison, i1 {ended}, 0")
        for number, (name, kind) in enumerate(registers, 1):
            ir.line(f"%{label}.{name} = load {kind}, ptr addrspace(5) %{name}")
            so_far = f"{results} %{label}.{number - 1}"
            ir.line(f"%{label}.{number} = insertvalue {so_far}, {kind} %{label}.{name}, {number}")
        ir.line(f"ret {results} %{label}.{len(registers)}")

    def _surroundings(self) -> list[str]:
        """What functions are given of the kernel beside registers."""
        copy = [_COPY] if self._context.banks.needs_copy else []
        return [_FRAME, str(KERNEL_ARGUMENTS), *copy]

    def _name(self, callee: CodePlace) -> str:
        kernel = self._context.environment.kernel.name
        return f'"{kernel}.function{list(self._entries).index(callee)}"'

    def definitions(self, attributes: str) -> Iterator[str]:
        """The text of the functions; ``attributes`` are their kernel's."""
        for place, entry in self._entries.items():
            # Without norecurse LLVM takes 16 KiB of a thread's memory for what it calls.
            own = attributes if place in self.recursive else f"norecurse {attributes}"
            yield "\n".join(self._definition(place, entry, own))

    def _definition(self, place: CodePlace, entry: str, attributes: str) -> Iterator[str]:
        context = self._context
        registers = sorted(self._registers[place].items())
        parameters = [str(RESUME), *self._surroundings()]
        parameters += [f"{kind} %given.{name}" for name, kind in registers]
        results = _results(registers)
        yield f"define internal {results} @{self._name(place)}({', '.join(parameters)})"
        yield f"    noinline {attributes} {{"
        yield "entry:"
        yield from context.registers.allocas(place)
        for name, kind in registers:
            yield f"  store {kind} %given.{name}, ptr addrspace(5) %{name}"
        yield f"  br {entry}"
        yield from context.ir.lines_of(place)
        yield from context.terminators.trap_block(place)
        yield "}"

    def __bool__(self) -> bool:
        return bool(self._entries)


def _scalars(types: Mapping[str, str]) -> dict[str, str]:
    """Registers; memory of a thread is for one instruction alone."""
    return {name: kind for name, kind in types.items() if not kind.startswith("[")}


def _results(registers: list[tuple[str, str]]) -> str:
    """The type of what a function returns: whether the thread has ended, and its registers."""
    return f"{{ {', '.join(['i1', *(kind for _, kind in registers)])} }}"
