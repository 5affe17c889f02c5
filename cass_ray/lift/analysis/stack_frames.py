"""What a function leaves as it was: the registers that it saves in its frame and loads again.

By ptxas' calling convention a function gives some registers back as it got them: ``STL [R1+8],
R16`` at its start, ``LDL R16, [R1+8]`` before ``RET``. Lifted as they stand such a register would
be saved twice, by the function and by LLVM, and passed both ways at each call.

A forward analysis follows, for each block, which registers hold what was in them when the function
was entered, and what lies at known distances from its stack pointer R1. Of a call it takes what it
has found for the callee: at first that everything is preserved, then less, until nothing changes.
What is left holds by induction over the depth of calls.

Words are followed where no pointer leads to them. One that is made of R1, to index an array or to
pass its address on, may lead to any word of the frame that belongs to the code which makes it, or
to one further down; not to the frames of those that called it, whose objects are others. That an
address which was not made of R1 does not lead into the frame is what C++ promises of pointers to
other objects, and what ptxas relies on itself. Arguments that a caller leaves at the end of its
frame are the exception: its callee may index them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeGuard

from cass_ray.lift.analysis.kernel_graph import CallPlace, CallStack, KernelGraph, entry_of
from cass_ray.lift.analysis.liveness import CodePlace, RegisterAccess
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Address, Immediate, Operand, Predicate, Register

STACK_POINTER = "R1"
_WORD = 4
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
_ADDITIONS = frozenset({"IADD3", "IADD", "VIADD"})
ANYWHERE = 1 << 32
"""More than any frame has, in bytes."""


@dataclass(frozen=True, slots=True)
class AtEntry:
    """The value that a register had when the function was entered."""

    name: str


@dataclass(frozen=True, slots=True)
class FrameAddress:
    """The value of R1 at the function's entry, and so many bytes more."""

    offset: int


Known = AtEntry | FrameAddress


@dataclass(slots=True)
class FrameState:
    """What is known before an instruction."""

    registers: dict[str, Known | None] = field(default_factory=dict)
    """Registers that may differ from their value at the entry; None is anything."""
    words: dict[int, Known] = field(default_factory=dict)
    """Words of the frame by their distance from R1 at the entry, in bytes."""
    tops: tuple[int, ...] = (0,)
    """Where the frames end of the function and of what it has called by a copy, as distances."""

    def of(self, name: str) -> Known | None:
        """The value of a register."""
        return self.registers.get(name, _at_entry(name))

    def copy(self) -> FrameState:
        return FrameState(dict(self.registers), dict(self.words), self.tops)

    def entered(self, stack: CallStack) -> FrameState:
        """The same in a block of ``stack``: of code that a copy called, or of its caller."""
        top = self.of(STACK_POINTER)
        own = top.offset if isinstance(top, FrameAddress) else ANYWHERE
        missing = len(stack) - len(self.tops)
        state = self.copy()
        state.tops = (*self.tops[: len(stack)], *[own] * missing)
        return state


@cache
def _at_entry(name: str) -> Known:
    return FrameAddress(0) if name == STACK_POINTER else AtEntry(name)


@dataclass(frozen=True)
class Conduct:
    """What a function does to the registers and frames of its callers."""

    preserved: frozenset[str]
    reads_above: int = 0
    """Bytes of its caller's frame, from R1 at the entry on, that it may read."""
    writes_above: int = 0
    """Words that it may write."""
    exposed: int = -ANYWHERE
    """Pointers may lead to what lies below, in bytes from R1 at the entry."""


@dataclass(frozen=True, slots=True)
class FrameAccess:
    """A load or store of words at a known place of the function's own frame."""

    offsets: tuple[int, ...]
    """Offsets of the words, in bytes from R1 at the entry."""
    is_whole: bool
    """Whether it is of whole words."""


class FrameAnalysis:
    """What each function of a kernel does to its callers' registers and frames.

    :attr:`conduct` is found by the constructor.
    """

    def __init__(self, flow: KernelGraph) -> None:
        self._flow = flow
        self.written = flow.written()
        self.conduct = {function: Conduct(self.written[function]) for function in flow.functions}
        self._runs: dict[CodePlace, _OneFunction] = {}
        """Analyses of the last round, in which nothing changed."""
        changes = True
        while changes:
            changes = False
            for function in sorted(flow.functions):
                before = self.conduct[function]
                self._runs[function] = _OneFunction(flow, function, self.conduct, self.written)
                after = self._runs[function].conduct()
                changes = changes or after != before
                self.conduct[function] = after

    def read_by_calls(self, function: CodePlace, place: CallPlace) -> range:
        """Distances of the function's own frame that the calls at the end of a block may read."""
        return self._runs[function].read_by_calls(place)

    def frame_accesses(self, function: CodePlace) -> dict[CallPlace, list[FrameAccess | None]]:
        """Map each block of a function to its instructions' accesses of the frame in order."""
        run = self._runs[function]
        return {place: run.accesses(place) for place in self._flow.places(function)}


class _OneFunction:
    """The analysis of one function, with what is believed of all so far."""

    def __init__(
        self,
        flow: KernelGraph,
        function: CodePlace,
        conduct: Mapping[CodePlace, Conduct],
        written: Mapping[CodePlace, frozenset[str]],
    ) -> None:
        """``conduct``: as it is when it is asked; ``written``: registers, by each function."""
        self._flow, self._function, self._believed = flow, function, conduct[function]
        self._conduct, self._written = conduct, written
        believed = self._believed
        self._exposed = believed.exposed
        self._reads, self._writes = believed.reads_above, believed.writes_above
        self._before: dict[CallPlace, FrameState] = {}

    def conduct(self) -> Conduct:
        """What the function does, as far as is believed of those that it calls."""
        exposed = None
        while exposed != self._exposed:  # fewer words are followed each time
            exposed = self._exposed
            self._follow()
        preserved = self._believed.preserved
        for place in self._flow.returns & set(self._before):
            after = self._after(place)
            preserved = frozenset(n for n in preserved if after.of(n) == _at_entry(n))
            self._look_for_addresses(after)
        return Conduct(preserved, self._reads, self._writes, self._exposed)

    def _follow(self) -> None:
        """States before every block."""
        entry = entry_of(self._function)
        self._before = {entry: FrameState()}
        pending = [entry]
        while pending:
            place = pending.pop()
            after = self._after(place)
            for following in self._flow.within[place]:
                before = self._before.get(following)
                there = after.entered(following[0])
                joined = there if before is None else self._joined(before, there)
                if before is None or joined != before:
                    self._before[following] = joined
                    pending.append(following)

    def _joined(self, one: FrameState, other: FrameState) -> FrameState:
        tops = tuple(map(max, one.tops, other.tops))
        registers: dict[str, Known | None] = {}
        for name in one.registers.keys() | other.registers.keys():
            value = self._common(one.of(name), other.of(name), tops)
            if value != _at_entry(name):
                registers[name] = value
        words = {n: value for n, value in one.words.items() if other.words.get(n) == value}
        return FrameState(registers, words, tops)

    def _common(self, one: Known | None, other: Known | None, tops: Sequence[int]) -> Known | None:
        if one == other:
            return one
        for value in (one, other):  # an address is not followed any more
            self._expose(value, tops)
        return None

    def _expose(self, value: Known | None, tops: Sequence[int]) -> None:
        """A pointer may be made of ``value``, and lead to all of the frame that it points to."""
        if not isinstance(value, FrameAddress):
            return
        top = min((top for top in tops if top > value.offset), default=ANYWHERE)
        self._exposed = max(self._exposed, min(top, 0))
        if top > 0:  # arguments that the caller left
            self._reads = self._writes = ANYWHERE

    def _after(self, place: CallPlace) -> FrameState:
        """The state at the end of a block, its calls done."""
        state = self._before_calls(place)
        calls = self._flow.calls.get(place, ())
        if calls:
            self._look_for_addresses(state)
        for call in calls:
            self._call(state, call.callee)
        return state

    def read_by_calls(self, place: CallPlace) -> range:
        calls = self._flow.calls.get(place, ())
        most = max((self._conduct[call.callee].reads_above for call in calls), default=0)
        if not most or place not in self._before:
            return range(0)
        top = self._before_calls(place).of(STACK_POINTER)
        if not isinstance(top, FrameAddress):
            return range(-ANYWHERE, ANYWHERE)
        return range(top.offset, top.offset + most)

    def _before_calls(self, place: CallPlace) -> FrameState:
        state = self._before[place].copy()
        for code_place, access in self._flow.accesses(place):
            self._step(state, self._flow.at(code_place), access)
        return state

    def accesses(self, place: CallPlace) -> list[FrameAccess | None]:
        """The accesses of the frame by a block's instructions."""
        accesses: list[FrameAccess | None] = []
        if place not in self._before:
            return [None] * len(self._flow.accesses(place))
        state = self._before[place].copy()
        for code_place, access in self._flow.accesses(place):
            i = self._flow.at(code_place)
            accesses.append(self._own_words(state, i) if i.opcode in ("LDL", "STL") else None)
            self._step(state, i, access)
        return accesses

    def _step(self, state: FrameState, i: DecodedInstruction, access: RegisterAccess) -> None:
        results: dict[str, Known | None] = dict.fromkeys(access.writes)
        reads = set(access.reads)
        if i.opcode == "STL":
            self._store(state, i, is_guarded=access.guard is not None)
            reads -= _address_registers(i)
        elif i.opcode == "LDL":
            results |= self._loaded(state, i)
            reads -= _address_registers(i)
        elif (copied := _copied(i, state)) is not None:
            results |= copied
            reads.clear()
        for name in reads:
            self._expose(state.of(name), state.tops)
        for name, result in results.items():
            is_sure = access.guard is None
            value = result if is_sure else self._common(state.of(name), result, state.tops)
            state.registers[name] = value
            if value == _at_entry(name):
                del state.registers[name]

    def _frame_offset(self, state: FrameState, i: DecodedInstruction) -> int | None:
        """Where an access begins, in bytes from R1 at the entry; None for another object."""
        address = next(o for o in i.operands if isinstance(o, Address))
        if len(address.terms) != 1 or address.terms[0].suffixes:
            for term in address.terms:
                self._expose(state.of(term.name), state.tops)
            return None
        base = state.of(address.terms[0].name)
        return base.offset + address.offset if isinstance(base, FrameAddress) else None

    def _own_words(self, state: FrameState, i: DecodedInstruction) -> FrameAccess | None:
        """The words that a load or store touches, if they are followed."""
        start = self._frame_offset(state, i)
        if start is None:
            return None
        size = _BYTES[i.one_of(*_BYTES, default="32")]
        first, end = start - start % _WORD, start + size
        if end > 0:
            if i.opcode == "STL":
                self._writes = max(self._writes, end)
            else:
                self._reads = max(self._reads, end)
            if first < 0:
                self._exposed = max(self._exposed, end)
        if end > 0 or first < self._exposed:
            return None
        offsets = tuple(range(first, end, _WORD))
        return FrameAccess(offsets, start == first and size >= _WORD)

    def _store(self, state: FrameState, i: DecodedInstruction, *, is_guarded: bool) -> None:
        words, source = self._own_words(state, i), i.operands[-1]
        if words is None:
            return
        for number, offset in enumerate(words.offsets):
            value = _word_of(source, number, state) if words.is_whole else None
            if is_guarded and state.words.get(offset) != value:
                value = None
            state.words.pop(offset, None)
            if isinstance(value, AtEntry):
                state.words[offset] = value

    def _loaded(self, state: FrameState, i: DecodedInstruction) -> dict[str, Known | None]:
        words, target = self._own_words(state, i), i.operands[0]
        if words is None or not words.is_whole or not isinstance(target, Register):
            return {}
        return {
            target.following(number).name: state.words.get(offset)
            for number, offset in enumerate(words.offsets)
            if not target.is_zero
        }

    def _call(self, state: FrameState, callee: CodePlace) -> None:
        conduct = self._conduct[callee]
        top = state.of(STACK_POINTER)
        if not isinstance(top, FrameAddress):
            self._exposed = 0
            state.words.clear()
        else:  # what lies below is the callee's
            first = top.offset + conduct.writes_above
            state.words = {n: value for n, value in state.words.items() if n >= first}
        self._reads = max(self._reads, _reach(top, conduct.reads_above))
        self._writes = max(self._writes, _reach(top, conduct.writes_above))
        for name in self._written[callee] - conduct.preserved:
            state.registers[name] = None

    def _look_for_addresses(self, state: FrameState) -> None:
        """Addresses of the frame that others see: of a register beside R1."""
        for name, value in state.registers.items():
            if name != STACK_POINTER:
                self._expose(value, state.tops)
        if not isinstance(state.of(STACK_POINTER), FrameAddress):
            self._exposed = 0


def _reach(top: Known | None, above: int) -> int:
    """How far up a call reaches, with ``top`` in R1, whose callee reaches ``above`` that."""
    if not above:
        return 0
    if not isinstance(top, FrameAddress) or top.offset > 0:  # further in each recursion
        return ANYWHERE
    return max(0, min(top.offset + above, ANYWHERE))


def _address_registers(i: DecodedInstruction) -> set[str]:
    terms = (term for o in i.operands if isinstance(o, Address) for term in o.terms)
    source = i.operands[-1] if i.opcode == "STL" else None
    stored = {source.name} if isinstance(source, Register) else set()
    return {term.name for term in terms} - stored


def _copied(i: DecodedInstruction, state: FrameState) -> dict[str, Known | None] | None:
    """What a move, or an addition of a number to the frame's address, makes; None for others."""
    sources = [o for o in i.operands if not _is_true(o)]
    target = sources.pop(0) if sources else None
    if not isinstance(target, Register) or target.file != "R" or target.is_zero:
        return None
    if i.mnemonic == "MOV" and len(sources) == 1:
        source = sources[0]
        return {target.name: state.of(source.name)} if _is_plain(source) else None
    if i.mnemonic not in _ADDITIONS:
        return None
    numbers = [o for o in sources if isinstance(o, Immediate)]
    rest = [o for o in sources if not isinstance(o, Immediate) and not _is_zero(o)]
    if len(numbers) != 1 or len(rest) != 1 or not _is_plain(rest[0]):
        return None
    base = state.of(rest[0].name)
    if not isinstance(base, FrameAddress):
        return None
    number = numbers[0].integer & 0xFFFFFFFF
    return {target.name: replace(base, offset=base.offset + number - (number >> 31 << 32))}


def _word_of(source: Operand, number: int, state: FrameState) -> Known | None:
    """The value of one word of what is stored."""
    if not isinstance(source, Register) or source.is_zero:
        return None
    return state.of(source.following(number).name)


def _is_true(operand: Operand) -> bool:
    return isinstance(operand, Predicate) and operand.index is None and not operand.inverted


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.is_zero


def _is_plain(operand: Operand) -> TypeGuard[Register]:
    """Whether it is a register of the thread without modifiers."""
    return operand == Register("R", getattr(operand, "index", None)) and not _is_zero(operand)
