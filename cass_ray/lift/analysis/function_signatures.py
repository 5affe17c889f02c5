"""Signatures of functions: the registers that are live into and out of them.

A function of a kernel has registers as arguments and results (:mod:`..lowering.flow.functions`).
Live in is what it, or what it calls, reads before it is written; live out is what it has changed
(:mod:`.stack_frames`) and a caller reads afterwards. Liveness is solved backwards over all blocks
of the kernel, with the words of each function's frame in which it saves registers: where nobody
wants a register that is loaded from there, the load is dead, and so is the store before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass

from cass_ray.lift.analysis.kernel_graph import CallPlace, KernelGraph, entry_of, function_of
from cass_ray.lift.analysis.liveness import CodePlace, RegisterAccess
from cass_ray.lift.analysis.stack_frames import FrameAccess, FrameAnalysis

Live = str | int
"""A register's name, or the distance of a word of the frame from R1 at the function's entry."""

_Accesses = list[tuple[CodePlace, RegisterAccess, FrameAccess | None]]


@dataclass(frozen=True)
class FunctionSignature:
    """Names of the registers that are live into and out of a function."""

    live_in: frozenset[str]
    live_out: frozenset[str]


@dataclass(frozen=True)
class FunctionSignatures:
    """The signatures of a kernel's functions, and the stores that they make dead."""

    of: dict[CodePlace, FunctionSignature]
    dead_stores: frozenset[CodePlace]
    """Stores to frames that nothing reads."""


def function_signatures(graph: KernelGraph, *, drops_stores: bool) -> FunctionSignatures:
    """The signatures of all functions of a kernel.

    ``drops_stores``: whether stores are looked for that nothing reads.
    """
    return _Liveness(graph, FrameAnalysis(graph), drops_stores=drops_stores).signatures()


class _Liveness:
    """What is live before each block: the least solution, for sets only grow."""

    def __init__(self, flow: KernelGraph, frames: FrameAnalysis, *, drops_stores: bool) -> None:
        self._flow = flow
        self._changed = {
            function: frames.written[function] - frames.conduct[function].preserved
            for function in flow.functions
        }
        by_any = frozenset[str]().union(*(self._changed[function] for function in flow.by_pointer))
        self._changed |= dict.fromkeys(flow.by_pointer, by_any)
        self._accesses: dict[CallPlace, _Accesses] = {}
        for function in (None, *flow.functions):
            frame_accesses = (
                frames.frame_accesses(function) if function is not None and drops_stores else {}
            )
            for place in flow.places(function):
                of_block = flow.accesses(place)
                own = frame_accesses.get(place, [None] * len(of_block))
                self._accesses[place] = [(*each, a) for each, a in zip(of_block, own, strict=True)]
        words = self._words_of_functions(("LDL", "STL"))
        self._loaded = self._words_of_functions(("LDL",))
        """Others may be arguments, which a callee may index."""
        self._read_by_calls: dict[CallPlace, set[Live]] = {}
        for place in flow.calls:
            if (function := function_of(place[0])) is not None:
                read = frames.read_by_calls(function, place)
                self._read_by_calls[place] = {word for word in words[function] if word in read}
        self._before: dict[CallPlace, frozenset[Live]] = dict.fromkeys(flow.successors, frozenset())
        self._live_in: dict[CodePlace, frozenset[str]] = dict.fromkeys(flow.functions, frozenset())
        """Registers that are live before each function."""
        self._live_out: dict[CodePlace, frozenset[str]] = dict.fromkeys(flow.functions, frozenset())
        self._solve()

    def _words_of_functions(self, opcodes: Container[str]) -> dict[CodePlace | None, set[int]]:
        """The words of its frame that such instructions of each function access."""
        words: dict[CodePlace | None, set[int]] = defaultdict(set)
        for place, accesses in self._accesses.items():
            for code_place, _, access in accesses:
                if access and self._flow.at(code_place).opcode in opcodes:
                    words[function_of(place[0])].update(access.offsets)
        return words

    def _solve(self) -> None:
        dependents: dict[CallPlace, set[CallPlace]] = defaultdict(set)
        returns: dict[CodePlace, list[CallPlace]] = {
            function: [
                place for place in self._flow.places(function) if place in self._flow.returns
            ]
            for function in self._flow.functions
        }
        for place in self._flow.successors:
            for following in self._flow.within[place]:
                dependents[following].add(place)
        callers: dict[CallPlace, set[CodePlace]] = defaultdict(set)
        for place, calls in self._flow.calls.items():
            for call in calls:
                dependents[entry_of(call.callee)].add(place)
            for following, alike in {(c.following, self._flow.alike(c.callee)) for c in calls}:
                callers[following] |= alike
                dependents[following].update(*(returns[callee] for callee in alike))
        entries = {entry_of(function): function for function in self._flow.functions}
        pending = list(self._before)
        queued = set(pending)
        while pending:
            place = pending.pop()
            queued.discard(place)
            live = self._live_before(place)
            if live == self._before[place]:
                continue
            self._before[place] = live
            if place in entries:
                self._live_in[entries[place]] = frozenset(n for n in live if isinstance(n, str))
            for callee in callers[place]:
                self._live_out[callee] |= self._changed[callee] & live
            more = dependents[place] - queued
            queued |= more
            pending.extend(more)

    def _live_after(self, place: CallPlace) -> set[Live]:
        function = function_of(place[0])
        live: set[Live] = set()
        for following in self._flow.within[place]:
            live |= self._before[following]
        for call in self._flow.calls.get(place, ()):
            live |= self._live_in[call.callee]
        if function is not None and place in self._flow.returns:
            live |= self._live_out[function]
        live |= self._read_by_calls.get(place, frozenset())
        return live

    def _live_before(self, place: CallPlace, dead: set[CodePlace] | None = None) -> frozenset[Live]:
        """What is live before a block; stores in it that nothing reads are added to ``dead``."""
        live = self._live_after(place)
        loaded = self._loaded[function_of(place[0])]
        for code_place, access, words in reversed(self._accesses[place]):
            opcode = self._flow.at(code_place).opcode if words else ""
            if words and opcode == "STL":
                if live.isdisjoint(words.offsets) and loaded.issuperset(words.offsets):
                    if dead is not None:
                        dead.add(code_place)
                    continue
                if words.is_whole and access.guard is None:
                    live.difference_update(words.offsets)
            elif words and live.isdisjoint(access.writes):
                continue  # a load of what nobody wants
            if access.guard is None:
                live -= access.writes
            else:
                live.add(access.guard[0])
            live |= access.reads
            if words and opcode == "LDL":
                live.update(words.offsets)
        return frozenset(live)

    def signatures(self) -> FunctionSignatures:
        """The signatures, and the stores that are dead in every copy of their code."""
        dead: set[CodePlace] = set()
        needed: set[CodePlace] = set()
        for place, accesses in self._accesses.items():
            here: set[CodePlace] = set()
            self._live_before(place, here)
            dead |= here
            needed |= {code_place for code_place, _, _ in accesses} - here
        of = {
            function: FunctionSignature(self._live_in[function], self._live_out[function])
            for function in self._flow.functions
        }
        members = [of[function] for function in self._flow.by_pointer]
        shared = FunctionSignature(
            frozenset[str]().union(*(each.live_in for each in members)),
            frozenset[str]().union(*(each.live_out for each in members)),
        )
        of |= dict.fromkeys(self._flow.by_pointer, shared)
        return FunctionSignatures(of, frozenset(dead - needed))
