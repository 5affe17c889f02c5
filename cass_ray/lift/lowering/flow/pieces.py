"""Pieces of large parts (:mod:`.cutting`), each a function of LLVM, and what calls them.

A piece is given the number of the place to begin at. It gives back the number of the place to go on
at, or that the thread has ended or its function returns. The part itself calls one piece after the
other, each if the number is of a place in it. Between pieces registers are in the thread's memory:
a piece loads those that it may read, and stores those that it has changed and others may read. As
values of the part, all that are live would be so around each call, and there may be hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cass_ray.lift.analysis.call_places import CallPlace, part_of
from cass_ray.lift.analysis.cutting import Cut
from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES
from cass_ray.lift.llvm.builder import CodePart, PiecePart, Value, i32
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.terminators import ENDED

_OFFSET_BITS = INSTRUCTION_BYTES.bit_length() - 1
_FIRST = "pieces"
"""The block of a part that is cut from which its pieces are called."""
_OUT = "out"
"""The block of a piece that gives back."""
_NEXT = "ptr addrspace(5) %next"
_ALLOCA = "  %next = alloca i32, addrspace(5)"
_KEPT, _WORD = "%kept", 8
"""Where the registers of a part are, and bytes of each."""
_RETURN = "return"
_HAS_ENDED, _RETURNS, _NOWHERE = (1 << 32) - 1, (1 << 32) - 2, (1 << 32) - 3
"""In the place of the number of a place."""
_MOST_LISTED = 16
"""Targets of a jump table in other pieces, before their numbers are in a table."""

Registers = list[tuple[str, str]]
"""Names and types."""


@dataclass
class _Ways:
    """How one piece is entered and left."""

    entries: dict[CallPlace, None] = field(default_factory=dict)
    exits: dict[CallPlace, None] = field(default_factory=dict)


class Pieces:
    """The pieces of a kernel's parts; none where nothing is cut."""

    def __init__(
        self,
        context: LoweringContext,
        cuts: Mapping[CodePlace | None, Cut] | None = None,
        live: Mapping[CodePlace, frozenset[str]] | None = None,
    ) -> None:
        """``live``: registers that may matter at the start of each block."""
        self._context = context
        self._cuts = cuts or {}
        self._live = live or {}
        self._ways: dict[PiecePart, _Ways] = {part: _Ways() for part in self._parts()}
        for owner, cut in self._cuts.items():
            self._ways[PiecePart(owner, 0)].entries[next(iter(cut.numbers))] = None
        self._labels: dict[CallPlace, str] = {}
        self._tables: list[str] = []
        self._places: dict[CodePlace | None, dict[str, int]] = {}
        """Registers of parts that are cut, and where they are in their memory."""
        self._live_in: dict[PiecePart, Registers] = {}
        self._live_out: dict[PiecePart, Registers] = {}

    def _parts(self) -> Iterator[PiecePart]:
        for owner, cut in self._cuts.items():
            yield from (PiecePart(owner, number) for number in range(len(cut.pieces)))

    def __iter__(self) -> Iterator[PiecePart]:
        return iter(self._ways)

    def __bool__(self) -> bool:
        return bool(self._ways)

    def part_at(self, place: CallPlace) -> CodePart:
        """The function of LLVM that ``place`` belongs to."""
        owner = part_of(place[0])
        cut = self._cuts.get(owner)
        return owner if cut is None else PiecePart(owner, cut.piece_of(place))

    def first_label(self, owner: CodePlace | None) -> str | None:
        """What is jumped to first in ``owner``; None where it is not cut."""
        return _FIRST if owner in self._cuts else None

    # While blocks are lifted

    def begun(self, place: CallPlace, label: str) -> None:
        """The block at ``place`` is called ``label``."""
        self._labels[place] = label

    def way(self, source: CallPlace, target: CallPlace) -> str | None:
        """The operand of a jump out of the piece of ``source``; None where ``target`` is in it."""
        owner = part_of(source[0])
        cut = self._cuts.get(owner)
        if cut is None or cut.stays(source, target):
            return None
        self._leave(source, target)
        return f"label %to{cut.numbers[target]}"

    def _leave(self, source: CallPlace, target: CallPlace) -> None:
        owner = part_of(source[0])
        cut = self._cuts[owner]
        self._ways[PiecePart(owner, cut.piece_of(source))].exits[target] = None
        self._ways[PiecePart(owner, cut.piece_of(target))].entries[target] = None

    def jump_by_table(self, place: CallPlace, address: Value, targets: Sequence[CallPlace]) -> bool:
        """End a block with a jump to one of many places, all in other pieces, by its ``address``.

        False, and nothing is done, where they are few or some are in this piece.
        """
        cut = self._cuts.get(part_of(place[0]))
        if cut is None or len(targets) <= _MOST_LISTED:
            return False
        if any(cut.stays(place, target) for target in targets):
            return False
        first = min(target[2] for target in targets)
        numbers = [_NOWHERE] * (
            ((max(target[2] for target in targets) - first) >> _OFFSET_BITS) + 2
        )
        for target in targets:
            self._leave(place, target)
            numbers[(target[2] - first) >> _OFFSET_BITS] = cut.numbers[target]
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
        known = ir.icmp("ne", number, i32(_NOWHERE))
        self._context.terminators.branch(
            known, f"label %{_OUT}", self._context.terminators.trap_label
        )
        return True

    # When all blocks are

    def registers_known(
        self,
        touched: Mapping[CodePart, Mapping[str, str]],
        blocks: Mapping[CodePlace, LivenessBlock],
        places: Collection[CallPlace],
        returning: Mapping[CallPlace, Collection[str]],
        from_calls: Mapping[CodePart, Collection[str]],
    ) -> None:
        """Find which registers each piece takes and gives back.

        ``touched``: registers of each part; ``places``: all blocks, and ``returning`` those that
        end with the return of a function, with what it gives back; ``from_calls``: registers that
        calls change in each part.
        """
        written: dict[CodePart, set[str]] = {part: set(from_calls.get(part, ())) for part in self}
        wanted: dict[PiecePart, set[str]] = {
            part: self._live_at(ways.exits) for part, ways in self._ways.items()
        }
        for place in places:
            part = self.part_at(place)
            if not isinstance(part, PiecePart):
                continue
            for _, access in blocks[place[1:]].accesses:
                written[part] |= access.writes
            if place in returning:
                wanted[part].update(returning[place])
        for owner in self._cuts:
            self._places[owner] = {name: n for n, name in enumerate(sorted(touched[owner]))}
        for part, ways in self._ways.items():
            registers = sorted(touched[part].items())
            live = self._live_at(ways.entries)
            self._live_in[part] = [each for each in registers if each[0] in live]
            back = wanted[part] & written[part]
            self._live_out[part] = [each for each in registers if each[0] in back]

    def _live_at(self, places: Collection[CallPlace]) -> set[str]:
        return set[str]().union(*(self._live[place[1:]] for place in places))

    def write_ends(self, part: PiecePart) -> None:
        """The blocks of a piece by which it is left; the builder is in it."""
        ir = self._context.ir
        numbers = self._cuts[part.owner].numbers
        exits = [(f"to{numbers[place]}", numbers[place]) for place in self._ways[part].exits]
        for label, number in (*exits, (_RETURN, _RETURNS), (ENDED, _HAS_ENDED)):
            ir.label(label)
            ir.line(f"store {i32(number)}, {_NEXT}")
            ir.line(f"br label %{_OUT}")
        ir.label(_OUT)
        for name, kind in self._live_out[part]:
            ir.line(f"%{_OUT}.{name} = load {kind}, ptr addrspace(5) %{name}")
            ir.line(f"store {kind} %{_OUT}.{name}, ptr addrspace(5) %kept.{name}")
        ir.line(f"%{_OUT}.next = load i32, {_NEXT}")
        ir.line(f"ret i32 %{_OUT}.next")

    def write_calls(self, owner: CodePlace | None, surroundings: Sequence[str]) -> None:
        """The blocks of ``owner`` that call its pieces, where it is cut; the builder is in it."""
        cut = self._cuts.get(owner)
        if cut is None:
            return
        ir = self._context.ir
        ir.label(_FIRST)
        ir.line(f"store {i32(0)}, {_NEXT}")
        ir.line("br label %at0")
        for number, places in enumerate(cut.pieces):
            ir.label(f"at{number}")
            if self._ways[PiecePart(owner, number)].entries:
                self._branch_if_in(places, f"piece{number}", f"behind{number}")
                ir.label(f"piece{number}")
                given = [f"i32 %from{number}", f"ptr addrspace(5) {_KEPT}", *surroundings]
                ir.line(f"%from{number} = load i32, {_NEXT}")
                called = self._name(PiecePart(owner, number))
                ir.line(f"%next{number} = call i32 @{called}({', '.join(given)})")
                ir.line(f"store i32 %next{number}, {_NEXT}")
            ir.line(f"br label %behind{number}")
            ir.label(f"behind{number}")
            for loop in (loop for loop in cut.loops if loop.stop == number + 1):
                start, end = cut.pieces[loop.start].start, places.stop
                again = f"again{loop.start}.{number}"
                self._branch_if_in(range(start, end), f"at{loop.start}", again)
                ir.label(again)
            ir.line(f"br label %at{number + 1}")
        ir.label(f"at{len(cut.pieces)}")
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
        """Lines at the beginning of ``owner``, which is cut: its registers, and :data:`_NEXT`."""
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
        """The text of the pieces, with the attributes of their owners."""
        yield from self._tables
        for part in (part for part, ways in self._ways.items() if ways.entries):
            yield "\n".join(self._definition(part, attributes(part.owner), surroundings))

    def _definition(
        self, part: PiecePart, attributes: str, surroundings: Sequence[str]
    ) -> Iterator[str]:
        context, live_in, live_out = self._context, self._live_in[part], self._live_out[part]
        parameters = ", ".join(["i32 %begin", f"ptr addrspace(5) {_KEPT}", *surroundings])
        yield f"define internal i32 @{self._name(part)}({parameters})"
        yield f"    noinline {attributes} {{"
        yield "entry:"
        yield from context.registers.allocas(part)
        yield _ALLOCA
        places = self._places[part.owner]
        for name, _ in sorted({*live_in, *live_out}):
            yield f"  %kept.{name} = {_kept(places[name])}"
        for name, kind in live_in:
            yield f"  %given.{name} = load {kind}, ptr addrspace(5) %kept.{name}, align 4"
            yield f"  store {kind} %given.{name}, ptr addrspace(5) %{name}"
        numbers = self._cuts[part.owner].numbers
        labels = {numbers[place]: self._labels[place] for place in self._ways[part].entries}
        *others, last = sorted(labels)
        cases = " ".join(f"{i32(number)}, label %{labels[number]}" for number in others)
        yield f"  switch i32 %begin, label %{labels[last]} [ {cases} ]"
        yield from context.ir.lines_of(part)
        yield from context.terminators.trap_block(part)
        yield "}"

    def _name(self, part: PiecePart) -> str:
        owner = "" if part.owner is None else f".{part.owner[0]}.{part.owner[1]:x}"
        return f'"{self._kernel}{owner}.piece{part.number}"'

    @property
    def _kernel(self) -> str:
        environment = self._context.environment
        return environment.kernel.name + environment.suffix


def _kept(place: int) -> str:
    """The address of a register in the memory of its part."""
    return f"getelementptr i8, ptr addrspace(5) {_KEPT}, i32 {_WORD * place}"
