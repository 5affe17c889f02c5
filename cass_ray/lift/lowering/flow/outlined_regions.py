"""Outlined regions of large functions (:mod:`...analysis.outlining`): functions of LLVM, and what
calls them.

A region takes the number of the place to begin at. It returns the number of the place to go on at,
or that the thread has ended or its function returns. The owner, the function that the regions were
outlined from, calls one after the other, each if the number is of a place in it. Between regions
registers are in the thread's memory: a region loads those that it may read, and stores those that
it has changed and others may read. As values of the owner, all that are live would be so around
each call, and there may be hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cass_ray.lift.analysis.kernel_graph import CallPlace, function_of
from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock
from cass_ray.lift.analysis.outlining import Outline
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES
from cass_ray.lift.llvm.builder import LlvmFunction, OutlinedRegion, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.terminators import ENDED

_OFFSET_BITS = INSTRUCTION_BYTES.bit_length() - 1
_FIRST = "pieces"
"""The block of an owner from which its regions are called."""
_OUT = "out"
"""The block of a region that stores its live-out registers and returns."""
_NEXT = "ptr addrspace(5) %next"
_ALLOCA = "  %next = alloca i32, addrspace(5)"
_KEPT, _WORD = "%kept", 8
"""Where the registers of an owner are, and bytes of each."""
_RETURN = "return"
_HAS_ENDED, _RETURNS, _NOWHERE = (1 << 32) - 1, (1 << 32) - 2, (1 << 32) - 3
"""They stand where the number of a place stands."""
_MOST_LISTED = 16
"""Targets of a jump table in other regions, before their numbers are in a table."""

Registers = list[tuple[str, str]]
"""Names and types."""


@dataclass
class _RegionEdges:
    """Entries and exits of one region."""

    entries: dict[CallPlace, None] = field(default_factory=dict)
    exits: dict[CallPlace, None] = field(default_factory=dict)


class OutlinedRegions:
    """The outlined regions of a kernel's functions; none where nothing is outlined."""

    def __init__(
        self,
        context: LoweringContext,
        outlines: Mapping[CodePlace | None, Outline] | None = None,
        live: Mapping[CodePlace, frozenset[str]] | None = None,
    ) -> None:
        """``live``: registers that may matter at the start of each block."""
        self._context = context
        self._outlines = outlines or {}
        self._live = live or {}
        self._edges: dict[OutlinedRegion, _RegionEdges] = {
            region: _RegionEdges() for region in self._all_regions()
        }
        for owner, outline in self._outlines.items():
            self._edges[OutlinedRegion(owner, 0)].entries[next(iter(outline.numbers))] = None
        self._labels: dict[CallPlace, str] = {}
        self._tables: list[str] = []
        self._places: dict[CodePlace | None, dict[str, int]] = {}
        """Registers of owners, and where they are in their memory."""
        self._live_in: dict[OutlinedRegion, Registers] = {}
        self._live_out: dict[OutlinedRegion, Registers] = {}

    def _all_regions(self) -> Iterator[OutlinedRegion]:
        for owner, outline in self._outlines.items():
            yield from (OutlinedRegion(owner, number) for number in range(len(outline.regions)))

    def __iter__(self) -> Iterator[OutlinedRegion]:
        return iter(self._edges)

    def __bool__(self) -> bool:
        return bool(self._edges)

    def function_at(self, place: CallPlace) -> LlvmFunction:
        """The function of LLVM that ``place`` belongs to."""
        owner = function_of(place[0])
        outline = self._outlines.get(owner)
        return owner if outline is None else OutlinedRegion(owner, outline.region_of(place))

    def first_label(self, owner: CodePlace | None) -> str | None:
        """What is jumped to first in ``owner``; None where nothing of it is outlined."""
        return _FIRST if owner in self._outlines else None

    # While blocks are lifted

    def begun(self, place: CallPlace, label: str) -> None:
        """The block at ``place`` is called ``label``."""
        self._labels[place] = label

    def exit_edge(self, source: CallPlace, target: CallPlace) -> str | None:
        """The operand of a jump out of the region of ``source``; None where ``target`` is in it."""
        owner = function_of(source[0])
        outline = self._outlines.get(owner)
        if outline is None or outline.stays(source, target):
            return None
        self._leave(source, target)
        return f"label %to{outline.numbers[target]}"

    def _leave(self, source: CallPlace, target: CallPlace) -> None:
        owner = function_of(source[0])
        outline = self._outlines[owner]
        self._edges[OutlinedRegion(owner, outline.region_of(source))].exits[target] = None
        self._edges[OutlinedRegion(owner, outline.region_of(target))].entries[target] = None

    def jump_by_table(self, place: CallPlace, address: Value, targets: Sequence[CallPlace]) -> bool:
        """End a block with a jump to one of many places, all in other regions, by its ``address``.

        False, and nothing is done, where they are few or some are in this region.
        """
        outline = self._outlines.get(function_of(place[0]))
        if outline is None or len(targets) <= _MOST_LISTED:
            return False
        if any(outline.stays(place, target) for target in targets):
            return False
        first = min(target[2] for target in targets)
        numbers = [_NOWHERE] * (
            ((max(target[2] for target in targets) - first) >> _OFFSET_BITS) + 2
        )
        for target in targets:
            self._leave(place, target)
            numbers[(target[2] - first) >> _OFFSET_BITS] = outline.numbers[target]
        ir = self._context.ir
        name = f'@"{self._kernel}.ways{len(self._tables)}"'
        kind = f"[{len(numbers)} x i32]"
        listed = ", ".join(map(str, map(i32, numbers)))
        self._tables.append(f"{name} = internal addrspace(4) constant {kind} [{listed}]")
        distance = ir.op("sub", address, i32(first))
        # Places between instructions have large numbers, too.
        rotated = ir.call("i32", "llvm.fshr.i32", distance, distance, i32(_OFFSET_BITS))
        index = ir.call("i32", "llvm.umin.i32", rotated, i32(len(numbers) - 1))
        entry = ir.result(
            "ptr addrspace(4)", f"getelementptr i32, ptr addrspace(4) {name}, {index}"
        )
        number = ir.load("i32", entry, 4)
        ir.line(f"store {number}, {_NEXT}")
        is_target = ir.icmp("ne", number, i32(_NOWHERE))
        self._context.terminators.branch(
            is_target, f"label %{_OUT}", self._context.terminators.trap_label
        )
        return True

    # When all blocks are

    def registers_known(
        self,
        touched: Mapping[LlvmFunction, Mapping[str, str]],
        blocks: Mapping[CodePlace, LivenessBlock],
        places: Collection[CallPlace],
        returning: Mapping[CallPlace, Collection[str]],
        from_calls: Mapping[LlvmFunction, Collection[str]],
    ) -> None:
        """Find which registers are live into and out of each region.

        ``touched``: registers of each function; ``places``: all blocks, and ``returning`` those
        that end with the return of a function, with what is live out of it; ``from_calls``:
        registers that calls change in each function.
        """
        written: dict[LlvmFunction, set[str]] = {
            region: set(from_calls.get(region, ())) for region in self
        }
        live_after: dict[OutlinedRegion, set[str]] = {
            region: self._live_at(edges.exits) for region, edges in self._edges.items()
        }
        for place in places:
            region = self.function_at(place)
            if not isinstance(region, OutlinedRegion):
                continue
            for _, access in blocks[place[1:]].accesses:
                written[region] |= access.writes
            if place in returning:
                live_after[region].update(returning[place])
        for owner in self._outlines:
            self._places[owner] = {name: n for n, name in enumerate(sorted(touched[owner]))}
        for region, edges in self._edges.items():
            registers = sorted(touched[region].items())
            live = self._live_at(edges.entries)
            self._live_in[region] = [each for each in registers if each[0] in live]
            back = live_after[region] & written[region]
            self._live_out[region] = [each for each in registers if each[0] in back]

    def _live_at(self, places: Collection[CallPlace]) -> set[str]:
        return set[str]().union(*(self._live[place[1:]] for place in places))

    def write_ends(self, region: OutlinedRegion) -> None:
        """The exit blocks of a region; the builder is in it."""
        ir = self._context.ir
        numbers = self._outlines[region.owner].numbers
        exits = [(f"to{numbers[place]}", numbers[place]) for place in self._edges[region].exits]
        for label, number in (*exits, (_RETURN, _RETURNS), (ENDED, _HAS_ENDED)):
            ir.label(label)
            ir.line(f"store {i32(number)}, {_NEXT}")
            ir.line(f"br label %{_OUT}")
        ir.label(_OUT)
        for name, kind in self._live_out[region]:
            ir.line(f"%{_OUT}.{name} = load {kind}, ptr addrspace(5) %{name}")
            ir.line(f"store {kind} %{_OUT}.{name}, ptr addrspace(5) %kept.{name}")
        ir.line(f"%{_OUT}.next = load i32, {_NEXT}")
        ir.line(f"ret i32 %{_OUT}.next")

    def write_calls(self, owner: CodePlace | None, surroundings: Sequence[str]) -> None:
        """The blocks of ``owner`` that call its regions, where it has some; the builder is in
        it."""
        outline = self._outlines.get(owner)
        if outline is None:
            return
        ir = self._context.ir
        ir.label(_FIRST)
        ir.line(f"store {i32(0)}, {_NEXT}")
        ir.line("br label %at0")
        for number, places in enumerate(outline.regions):
            ir.label(f"at{number}")
            if self._edges[OutlinedRegion(owner, number)].entries:
                self._branch_if_in(places, f"piece{number}", f"behind{number}")
                ir.label(f"piece{number}")
                arguments = [f"i32 %from{number}", f"ptr addrspace(5) {_KEPT}", *surroundings]
                ir.line(f"%from{number} = load i32, {_NEXT}")
                called = self._name(OutlinedRegion(owner, number))
                ir.line(f"%next{number} = call i32 @{called}({', '.join(arguments)})")
                ir.line(f"store i32 %next{number}, {_NEXT}")
            ir.line(f"br label %behind{number}")
            ir.label(f"behind{number}")
            for loop in (loop for loop in outline.loops if loop.stop == number + 1):
                start, end = outline.regions[loop.start].start, places.stop
                again = f"again{loop.start}.{number}"
                self._branch_if_in(range(start, end), f"at{loop.start}", again)
                ir.label(again)
            ir.line(f"br label %at{number + 1}")
        ir.label(f"at{len(outline.regions)}")
        if owner is None:
            self._context.terminators.leave_kernel()
            return
        returns = ir.icmp("eq", ir.result("i32", f"load i32, {_NEXT}"), i32(_RETURNS))
        ir.line(f"br {returns}, label %{_RETURN}, label %{ENDED}")

    def _branch_if_in(self, places: range, yes: str, no: str) -> None:
        """Branch by whether the number of the place to go on at is one of ``places``."""
        ir = self._context.ir
        distance = ir.op("sub", ir.result("i32", f"load i32, {_NEXT}"), i32(places.start))
        ir.line(f"br {ir.icmp('ult', distance, i32(len(places)))}, label %{yes}, label %{no}")

    # As text

    def allocas(self, owner: CodePlace | None) -> list[str]:
        """Lines at the beginning of ``owner``, of which regions are outlined: its registers, and
        :data:`_NEXT`."""
        places = self._places[owner]
        size = _WORD * len(places)
        return [
            f"  {_KEPT} = alloca [{size} x i8], align 4, addrspace(5)",
            *(f"  %{name} = {_kept(place)}" for name, place in places.items()),
            _ALLOCA,
        ]

    def definitions(
        self, attributes: Callable[[CodePlace | None], str], surroundings: Sequence[str]
    ) -> Iterator[str]:
        """The text of the outlined regions, with the attributes of their owners."""
        yield from self._tables
        for region in (region for region, edges in self._edges.items() if edges.entries):
            yield "\n".join(self._definition(region, attributes(region.owner), surroundings))

    def _definition(
        self, region: OutlinedRegion, attributes: str, surroundings: Sequence[str]
    ) -> Iterator[str]:
        context, live_in, live_out = self._context, self._live_in[region], self._live_out[region]
        parameters = ", ".join(["i32 %begin", f"ptr addrspace(5) {_KEPT}", *surroundings])
        yield f"define internal i32 @{self._name(region)}({parameters})"
        yield f"    noinline {attributes} {{"
        yield "entry:"
        yield from context.registers.allocas(region)
        yield _ALLOCA
        places = self._places[region.owner]
        for name, _ in sorted({*live_in, *live_out}):
            yield f"  %kept.{name} = {_kept(places[name])}"
        for name, kind in live_in:
            yield f"  %given.{name} = load {kind}, ptr addrspace(5) %kept.{name}, align 4"
            yield f"  store {kind} %given.{name}, ptr addrspace(5) %{name}"
        numbers = self._outlines[region.owner].numbers
        labels = {numbers[place]: self._labels[place] for place in self._edges[region].entries}
        *others, last = sorted(labels)
        cases = " ".join(f"{i32(number)}, label %{labels[number]}" for number in others)
        yield f"  switch i32 %begin, label %{labels[last]} [ {cases} ]"
        yield from context.ir.lines_of(region)
        yield from context.terminators.trap_block(region)
        yield "}"

    def _name(self, region: OutlinedRegion) -> str:
        owner = "" if region.owner is None else f".{region.owner[0]}.{region.owner[1]:x}"
        return f'"{self._kernel}{owner}.piece{region.number}"'

    @property
    def _kernel(self) -> str:
        environment = self._context.environment
        return environment.kernel.name + environment.suffix


def _kept(place: int) -> str:
    """The address of a register in the memory of its owner."""
    return f"getelementptr i8, ptr addrspace(5) {_KEPT}, i32 {_WORD * place}"
