"""What lanes leave a loop for: what others have written, or what they have come to themselves.

A loop waits if, for one of its exits, the condition is computed from memory that others write, and
not from what an earlier round has left in a register: ``while (*flag == 0)`` waits, and
``for (k = 0; k < *length; ++k)`` ends by itself. Of a compare and swap that expects what was read
before, or goes on elsewhere in each round, it is the loop itself that makes it succeed: a list with
a head without locks, a hash table.
"""

from __future__ import annotations

from collections.abc import Iterator

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.loops import carried
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Register
from cass_ray.lift.graphs import reached

_LOADS = frozenset({"LD", "LDG", "LDS", "SYNCS"})
_ATOMIC = frozenset({"ATOM", "ATOMG", "ATOMS"})
_ENDINGS = frozenset({"EXIT", "RET"})


_Place = tuple[CodePlace, int]
"""A block and the number of one of its instructions."""


class LoopExits:
    """The exits of a loop with its header, and what they depend on."""

    def __init__(self, graph: KernelGraph, header: CodePlace, loop: frozenset[CodePlace]) -> None:
        self._blocks = blocks = graph.blocks
        self._loop = loop
        self._at = graph.at
        self._header = header
        self._carried = carried(blocks, header, loop)
        self._writers: dict[str, list[_Place]] = {}
        for place in loop:
            for number, (_, access) in enumerate(blocks[place].accesses):
                for name in access.writes:
                    self._writers.setdefault(name, []).append((place, number))

        self._counters = frozenset(name for name in self._carried if self._is_counter(name))

    def wait(self) -> bool:
        """Whether lanes may be in the loop until others have written something."""
        return any(self._waits(place) for place in self._exits())

    def _exits(self) -> Iterator[_Place]:
        """The instructions by which lanes leave the loop."""
        for place in self._loop:
            block = self._blocks[place]
            if not block.accesses:
                continue
            last, _ = block.accesses[-1]
            if block.successors - self._loop or self._at(last).opcode in _ENDINGS:
                yield place, len(block.accesses) - 1

    def _waits(self, exit_place: _Place) -> bool:
        pending = [exit_place]
        seen: set[_Place] = set()
        looks = False
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            instruction = self._instruction(place)
            if instruction.opcode in _ATOMIC and self._makes_progress(place, instruction):
                return False
            if instruction.opcode in _ATOMIC or instruction.opcode in _LOADS:
                looks = True
                continue
            if any(name in self._counters for name in self._from_before(place)):
                return False
            pending += self._sources(place)
        return looks

    def _instruction(self, place: _Place) -> DecodedInstruction:
        return self._at(self._blocks[place[0]].accesses[place[1]][0])

    def _reads(self, place: _Place) -> set[str]:
        _, access = self._blocks[place[0]].accesses[place[1]]
        return access.reads | ({access.guard[0]} if access.guard else set())

    def _from_before(self, place: _Place) -> list[str]:
        """Registers that are read there as an earlier round may have left them."""
        return [
            name
            for name in self._reads(place)
            if name in self._carried and self._written_before(name, place) is None
        ]

    def _sources(self, place: _Place) -> list[_Place]:
        """Instructions of the loop that may have written what is read there."""
        sources: list[_Place] = []
        for name in self._reads(place):
            before = self._written_before(name, place)
            sources += self._writers.get(name, ()) if before is None else [before]
        return sources

    def _changes(self, place: _Place) -> bool:
        """Whether what is read there may be another value in each round."""
        pending, seen = [place], {place}
        while pending:
            current = pending.pop()
            if self._from_before(current):
                return True
            sources = [each for each in self._sources(current) if each not in seen]
            if any(self._instruction(each).opcode in _LOADS for each in sources):
                return True
            seen.update(sources)
            pending += sources
        return False

    def _written_before(self, name: str, place: _Place) -> _Place | None:
        """Where, in the same block, ``name`` is written last before ``place``."""
        block, number = place
        for n in range(number - 1, -1, -1):
            _, access = self._blocks[block].accesses[n]
            if name in access.writes:
                return block, n
        return None

    def _makes_progress(self, place: _Place, i: DecodedInstruction) -> bool:
        """Whether an atomic operation is another one each round, or changes what it reads.

        What a swap stores does not matter: all that ``i`` reads is taken for where, and what for.
        """
        if i.has("EXCH"):
            return False
        if i.has("CAS") or i.has("CAST"):
            return self._changes(place)
        last = i.operands[-1]
        return not (isinstance(last, Register) and last.is_zero)

    def _is_counter(self, name: str) -> bool:
        """Whether each round changes the register, whatever others have written."""
        return any(
            self._blocks[block].accesses[number][1].guard is None and self._is_on_each_way(block)
            for block, number in self._writers.get(name, ())
        )

    def _is_on_each_way(self, block: CodePlace) -> bool:
        """Whether no round of the loop leaves ``block`` out."""
        if block == self._header:
            return True
        inside = self._loop - {block}
        others = reached(lambda each: self._blocks[each].successors & inside, [self._header])
        return all(self._header not in self._blocks[each].successors for each in others)
