"""Subroutines with one copy for many callers: functions of LLVM.

Lanes that call a function together return together, as they do in SASS. Without functions, one
copy's way back would be a switch over the return address, and with it the kernel one great loop,
through which lanes that have parted are scheduled independently: they would come to barriers and
shuffles one after the other.

A function has registers as arguments and as results: those that matter
(:mod:`...analysis.function_signatures`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from cass_ray.lift.analysis.function_signatures import FunctionSignatures
from cass_ray.lift.analysis.kernel_graph import CallPlace, CallSite, function_of
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES
from cass_ray.lift.graphs import reached
from cass_ray.lift.llvm.builder import LlvmFunction, OutlinedRegion, Value, i32, i64
from cass_ray.lift.lowering.arguments import COPY
from cass_ray.lift.lowering.cluster_launch import SURROUNDINGS
from cass_ray.lift.lowering.constant_banks import KERNEL_ARGUMENTS
from cass_ray.lift.lowering.flow.walk import KernelWalk
from cass_ray.lift.lowering.terminators import ENDED

_OFFSET_BITS = INSTRUCTION_BYTES.bit_length() - 1
"""The lowest bits of an offset in code, which are zero."""
_FRAME = "ptr addrspace(5) %frame"
_COPY = f"ptr addrspace(5) {COPY}"
RESUME = Value("i64", "%resume")
"""The number of the place that a function has to return to."""
_RETURN = "return"
RETURN = f"label %{_RETURN}"
"""The block of a function that returns, as an operand."""


@dataclass(frozen=True)
class CallEdge:
    """Where a call of a function, or of one of several, leads."""

    callees: Mapping[CodePlace, str]
    """The functions, with their first blocks as operands."""
    following: CallPlace
    """Where it goes on."""
    label: str
    """The block there, as an operand."""
    resume: int
    """The number of that place in SASS."""
    pointer: Value | None = None
    """The function to call, where there are several."""


@dataclass(frozen=True)
class _Call:
    """A call in one function of a kernel's code."""

    block: CallPlace
    """That ends with it."""
    edge: CallEdge
    function: LlvmFunction
    label: str
    """The block that makes the call."""


class Functions:
    """The functions of one kernel, and the calls of them."""

    def __init__(self, walk: KernelWalk) -> None:
        self._context = walk.context
        self._walk = walk
        self._entries: dict[CodePlace, str] = {}
        self._calls: list[_Call] = []
        self._by_pointer: set[CodePlace] = set()
        self._tables: list[Mapping[int, CodePlace]] = []
        self._registers: dict[LlvmFunction, dict[str, str]] = {}
        self._signatures: FunctionSignatures | None = None
        self._ending: set[LlvmFunction] = set()
        """Functions in which threads may end, or in what they call."""

    def call(self, block: CallPlace, edge: CallEdge) -> str:
        """The block, as an operand, that makes a call at the end of ``block``."""
        self._entries.update(edge.callees)
        if edge.pointer is not None:
            self._by_pointer |= edge.callees.keys()
        label = f"call{self._context.ir.fresh()}"
        self._calls.append(_Call(block, edge, self._context.ir.function, label))
        return f"label %{label}"

    def pointer(self, offset: Value, candidates: Mapping[int, CodePlace]) -> Value:
        """A pointer to the function at ``offset``, an ``i32``, which is one of ``candidates``.

        Any other offset gives a function that ends the program with an error.
        """
        if candidates not in self._tables:
            self._tables.append(candidates)
        ir, name = self._context.ir, self._table_name(candidates)
        # Places between instructions have large numbers, too.
        rotated = ir.call("i32", "llvm.fshr.i32", offset, offset, i32(_OFFSET_BITS))
        last = i32(_entries_of_table(candidates) - 1)
        index = ir.call("i32", "llvm.umin.i32", rotated, last)
        entry = ir.result("ptr addrspace(4)", f"getelementptr ptr, {name}, {index}")
        return ir.load("ptr", entry, 8)

    def by_pointer(self) -> frozenset[CodePlace]:
        """The functions that are called through pointers: they have one signature."""
        return frozenset(self._by_pointer)

    def places(self) -> frozenset[CodePlace]:
        return frozenset(self._entries)

    def calls_by_block(self) -> dict[CallPlace, list[CallSite]]:
        """The calls at the ends of blocks."""
        by_block: dict[CallPlace, list[CallSite]] = defaultdict(list)
        for call in self._calls:
            function_calls = (CallSite(callee, call.edge.following) for callee in call.edge.callees)
            by_block[call.block].extend(function_calls)
        return dict(by_block)

    @cached_property
    def recursive(self) -> frozenset[CodePlace]:
        """Functions that are called while they are active; for when all calls are known."""
        called: dict[CodePlace | None, set[CodePlace]] = defaultdict(set)
        for call in self._calls:
            function = call.function
            caller = function.owner if isinstance(function, OutlinedRegion) else function
            called[caller].update(call.edge.callees)
        return frozenset(p for p in self._entries if p in reached(called.__getitem__, called[p]))

    def finish(self, signatures: FunctionSignatures | None) -> None:
        """Write the calls, now that it is known which registers each function touches.

        The walk has been everywhere. ``signatures``: None where there are no functions.
        """
        self._signatures = signatures
        registers = self._context.registers
        functions: list[LlvmFunction] = [None, *self._entries, *self._walk.regions]
        called = self._called_in_functions()
        alike = sorted(self._by_pointer)
        shared = {function: [*called[function]] for function in functions}
        for n, place in enumerate(alike):  # in a circle: they have one signature
            shared[place].append(alike[n - 1])
        for function in functions:
            types: dict[str, str] = {}
            for each in reached(shared.__getitem__, [function]):
                types |= _scalars(registers.types_in(each))
            self._registers[function] = types
            active: set[LlvmFunction] = reached(called.__getitem__, [function])
            if not active.isdisjoint(self._context.terminators.ending_functions):
                self._ending.add(function)
        for function, types in self._registers.items():
            registers.declare_in(function, types)
        self._tell_regions()
        for call in self._calls:
            self._context.ir.enter(call.function)
            self._write_call(call)
        for function in functions:
            self._context.ir.enter(function)
            self._write_ends(function)
        self._context.ir.enter(None)

    def _called_in_functions(self) -> dict[LlvmFunction, list[LlvmFunction]]:
        """What each function calls: other functions, and regions that are outlined from it."""
        called: dict[LlvmFunction, list[LlvmFunction]] = defaultdict(list)
        for call in self._calls:
            called[call.function] += call.edge.callees
        for region in self._walk.regions:
            called[region.owner].append(region)
        return called

    def _tell_regions(self) -> None:
        """Have the outlined regions find out which registers are live into and out of them."""
        if not self._walk.regions:
            return
        from_calls: dict[LlvmFunction, set[str]] = defaultdict(set)
        for call in self._calls:
            for callee in call.edge.callees:
                from_calls[call.function].update(name for name, _ in self._live_out(callee))
        returning = {
            place: [name for name, _ in self._live_out(function)]
            for place in self._walk.returns
            if (function := function_of(place[0])) is not None
        }
        self._walk.regions.registers_known(
            self._registers, self._walk.blocks, self._walk.successors, returning, from_calls
        )

    def _write_call(self, call: _Call) -> None:
        ir, label = self._context.ir, call.label
        callee, edge = next(iter(call.edge.callees)), call.edge
        live_in, changed = self._live_in(callee), self._live_out(callee)
        ir.label(label)
        for name, kind in live_in:
            ir.line(f"%{label}.{name} = load {kind}, ptr addrspace(5) %{name}")
        arguments = [i64(edge.resume), *self._surroundings()]
        arguments += [f"{kind} %{label}.{name}" for name, kind in live_in]
        results = _result_type(changed)
        listed = ", ".join(map(str, arguments))
        if edge.pointer is None:
            call_text = f"@{self._name(callee)}({listed})"
        else:
            call_text = f"{edge.pointer.name}({listed}) convergent nounwind"
        ir.line(f"%{label}.made = call {results} {call_text}")
        extract = f"extractvalue {results} %{label}.made"
        for number, (name, kind) in enumerate(changed, 1):
            ir.line(f"%{label}.new.{name} = {extract}, {number}")
            ir.line(f"store {kind} %{label}.new.{name}, ptr addrspace(5) %{name}")
        if not self._ending.isdisjoint(edge.callees):
            ir.line(f"%{label}.ended = {extract}, 0")
            ir.line(f"br i1 %{label}.ended, label %{ENDED}, {edge.label}")
        else:
            ir.line(f"br {edge.label}")

    def _write_ends(self, function: LlvmFunction) -> None:
        """The blocks :data:`RETURN` and ``ENDED`` of a function."""
        context, ir = self._context, self._context.ir
        if isinstance(function, OutlinedRegion):
            self._walk.regions.write_ends(function)
            return
        resume = i64(0) if function is None else RESUME
        self._walk.regions.write_calls(function, [str(resume), *self._surroundings()])
        if function is not None:
            for label, ended in ((_RETURN, "false"), (ENDED, "true")):
                self._write_return(function, label, ended)
        elif any(
            not self._ending.isdisjoint(call.edge.callees)
            for call in self._calls
            if call.function is None
        ):
            ir.label(ENDED)
            context.terminators.leave_kernel()

    def _write_return(self, function: CodePlace, label: str, ended: str) -> None:
        ir = self._context.ir
        registers = self._live_out(function)
        results = _result_type(registers)
        ir.label(label)
        ir.line(f"%{label}.0 = insertvalue {results} poison, i1 {ended}, 0")
        for number, (name, kind) in enumerate(registers, 1):
            ir.line(f"%{label}.{name} = load {kind}, ptr addrspace(5) %{name}")
            so_far = f"{results} %{label}.{number - 1}"
            ir.line(f"%{label}.{number} = insertvalue {so_far}, {kind} %{label}.{name}, {number}")
        ir.line(f"ret {results} %{label}.{len(registers)}")

    def _live_in(self, function: CodePlace) -> list[tuple[str, str]]:
        """Names and types of the registers that are a function's arguments."""
        names = None if self._signatures is None else self._signatures.of[function].live_in
        return self._touched(function, names)

    def _live_out(self, function: CodePlace) -> list[tuple[str, str]]:
        """Names and types of the registers that are a function's results."""
        names = None if self._signatures is None else self._signatures.of[function].live_out
        return self._touched(function, names)

    def _touched(self, function: CodePlace, names: frozenset[str] | None) -> list[tuple[str, str]]:
        touched = sorted(self._registers[function].items())
        return [(name, kind) for name, kind in touched if names is None or name in names]

    def _surroundings(self) -> list[str]:
        """What functions are given of the kernel beside registers."""
        copy = [_COPY] if self._context.banks.needs_copy else []
        in_cluster = SURROUNDINGS if self._context.environment.in_cluster else ()
        return [_FRAME, str(KERNEL_ARGUMENTS), *copy, *in_cluster]

    def _name(self, callee: CodePlace) -> str:
        return f'"{self._kernel}.function{list(self._entries).index(callee)}"'

    @property
    def _kernel(self) -> str:
        environment = self._context.environment
        return environment.kernel.name + environment.suffix

    def _table_name(self, candidates: Mapping[int, CodePlace]) -> str:
        return f'ptr addrspace(4) @"{self._kernel}.table{self._tables.index(candidates)}"'

    def _table(self, candidates: Mapping[int, CodePlace]) -> str:
        """The definition of the pointers to ``candidates``, by the numbers of their places."""
        entries = [f'ptr @"{self._kernel}.nowhere"'] * _entries_of_table(candidates)
        for offset, callee in candidates.items():
            entries[offset >> _OFFSET_BITS] = f"ptr @{self._name(callee)}"
        kind = f"[{len(entries)} x ptr]"
        name = self._table_name(candidates).split()[-1]
        return f"{name} = internal addrspace(4) constant {kind} [{', '.join(entries)}]"

    def _nowhere(self, attributes: str) -> Iterator[str]:
        """The function that pointers to no function lead to."""
        place = min(self._by_pointer)
        self._context.ir.declarations.add("declare void @llvm.trap()")
        yield self._header(place, f'"{self._kernel}.nowhere"')
        yield f"    noinline norecurse {attributes} {{"
        yield "  call void @llvm.trap()"
        yield "  unreachable"
        yield "}"

    def definitions(self, attributes: str) -> Iterator[str]:
        """The text of the functions; ``attributes`` are their kernel's."""
        if self._tables:
            yield from self._nowhere(attributes)
        yield from map(self._table, self._tables)
        for place, entry in self._entries.items():
            own = self._attributes(place, attributes)
            yield "\n".join(self._definition(place, entry, own))
        yield from self._walk.regions.definitions(
            lambda owner: self._attributes(owner, attributes), [str(RESUME), *self._surroundings()]
        )

    def _attributes(self, function: CodePlace | None, attributes: str) -> str:
        # Without norecurse LLVM takes 16 KiB of a thread's memory for what it calls.
        return attributes if function in self.recursive else f"norecurse {attributes}"

    def _definition(self, place: CodePlace, entry: str, attributes: str) -> Iterator[str]:
        context = self._context
        registers = self._live_in(place)
        yield self._header(place, self._name(place))
        yield f"    noinline {attributes} {{"
        yield "entry:"
        yield from self.allocas(place)
        for name, kind in registers:
            yield f"  store {kind} %given.{name}, ptr addrspace(5) %{name}"
        yield f"  br {entry}"
        yield from context.ir.lines_of(place)
        yield from context.terminators.trap_block(place)
        yield "}"

    def _header(self, place: CodePlace, name: str) -> str:
        """What a definition of a function begins with that is called as the one at ``place``."""
        parameters = [str(RESUME), *self._surroundings()]
        parameters += [f"{kind} %given.{register}" for register, kind in self._live_in(place)]
        results = _result_type(self._live_out(place))
        return f"define internal {results} @{name}({', '.join(parameters)})"

    def allocas(self, function: CodePlace | None) -> Iterable[str]:
        """Lines at the beginning of a function that make places for its registers."""
        if self._walk.regions.first_label(function) is not None:
            return self._walk.regions.allocas(function)
        return self._context.registers.allocas(function)

    def __bool__(self) -> bool:
        return bool(self._entries) or bool(self._walk.regions)


def _scalars(types: Mapping[str, str]) -> dict[str, str]:
    """Registers; memory of a thread is for one instruction alone."""
    return {name: kind for name, kind in types.items() if not kind.startswith("[")}


def _result_type(registers: list[tuple[str, str]]) -> str:
    """The type of what a function returns: whether the thread has ended, and its registers."""
    return f"{{ {', '.join(['i1', *(kind for _, kind in registers)])} }}"


def _entries_of_table(candidates: Mapping[int, CodePlace]) -> int:
    """One for each instruction up to the last candidate, and one for whatever is behind."""
    return (max(candidates) >> _OFFSET_BITS) + 2
