"""Blocks of a kernel and of the functions that it calls, with what follows each, by caller.

:mod:`.liveness` merges the copies of a subroutine; here each copy is apart, so that a return leads
to its own caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cass_ray.lift.analysis.call_places import FUNCTION, CallFrame, CallPlace, function_of
from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock, RegisterAccess
from cass_ray.lift.frontend.instruction import DecodedInstruction


def entry_of(function: CodePlace) -> CallPlace:
    """The first block of a function that has one copy for all callers."""
    return ((CallFrame(function, "", FUNCTION),), *function)


@dataclass(frozen=True)
class CallSite:
    """A call at the end of a block."""

    callee: CodePlace
    following: CallPlace
    """Where it goes on."""


@dataclass(frozen=True)
class FunctionFlow:
    """The blocks that a lifting came to."""

    blocks: Mapping[CodePlace, LivenessBlock]
    successors: Mapping[CallPlace, set[CallPlace]]
    returns: frozenset[CallPlace]
    """Blocks that end with a function's return."""
    instruction_at: Callable[[CodePlace], DecodedInstruction]
    calls: Mapping[CallPlace, list[CallSite]]
    functions: frozenset[CodePlace]
    by_pointer: frozenset[CodePlace] = frozenset()
    """Functions that are called through pointers, and have one signature for that."""
    _of_function: dict[CodePlace | None, list[CallPlace]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place in self.successors:
            self._of_function.setdefault(function_of(place[0]), []).append(place)

    def places(self, function: CodePlace | None) -> list[CallPlace]:
        """The blocks of a function, or with None of the kernel itself."""
        return self._of_function.get(function, [])

    @cached_property
    def within(self) -> dict[CallPlace, set[CallPlace]]:
        """What follows each block in its own function: after a call, where that goes on."""
        entries = {function: entry_of(function) for function in self.functions}
        return {
            place: following - {entries[call.callee] for call in self.calls.get(place, ())}
            for place, following in self.successors.items()
        }

    def alike(self, function: CodePlace) -> frozenset[CodePlace]:
        """The functions that have the same signature."""
        return self.by_pointer if function in self.by_pointer else frozenset({function})

    def accesses(self, place: CallPlace) -> list[tuple[CodePlace, RegisterAccess]]:
        return self.blocks[place[1:]].accesses

    def written(self) -> dict[CodePlace, frozenset[str]]:
        """Registers that each function writes, or one that it calls."""
        written = {function: self._written_by(function) for function in self.functions}
        called = {function: self._called_by(function) for function in self.functions}
        changes = True
        while changes:
            changes = False
            for function in self.functions:
                more = written[function].union(*(written[callee] for callee in called[function]))
                changes = changes or more != written[function]
                written[function] = more
        return written

    def _written_by(self, function: CodePlace) -> frozenset[str]:
        accesses = (each for place in self.places(function) for _, each in self.accesses(place))
        return frozenset[str]().union(*(access.writes for access in accesses))

    def _called_by(self, function: CodePlace) -> set[CodePlace]:
        return {
            call.callee for place in self.places(function) for call in self.calls.get(place, ())
        }
