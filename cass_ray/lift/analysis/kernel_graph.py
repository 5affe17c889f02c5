"""The control-flow graph of a kernel and its functions, built before they are lowered.

:attr:`KernelGraph.blocks` has each block of SASS once, with what its instructions touch;
:attr:`KernelGraph.successors` keeps copies of subroutines apart, so that a return leads to its own
caller. Analyses are functions of a graph. What several ask for they get by :meth:`KernelGraph.get`,
which runs an analysis once, as LLVM's analysis manager does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock, RegisterAccess
from cass_ray.lift.analysis.opcodes import is_convergence_point
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.graphs import reached

T = TypeVar("T")

FUNCTION = -1
"""Instead of where a call returns to, for subroutines of one copy."""


@dataclass(frozen=True, slots=True)
class CallFrame:
    """An active call: the code that is called, and where it returns to."""

    callee: tuple[str, int]
    caller: str
    resume: int
    """Address of the instruction after the call; :data:`FUNCTION` in one with many callers."""


CallStack = tuple[CallFrame, ...]
CallPlace = tuple[CallStack, str, int]

TOGETHER: CallStack = (CallFrame(("", 0), "", FUNCTION - 1),)
"""The stack of a collective that is lowered once for all calls, where lanes are scheduled
independently."""


def function_of(stack: CallStack) -> tuple[str, int] | None:
    """The function of LLVM that what is called so belongs to."""
    return stack[0].callee if stack and stack[0].resume == FUNCTION else None


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
class KernelGraph:
    """The blocks that a walk from a kernel's entry came to."""

    kernel: str
    code: Callable[[str], CodeSection]
    """The section of code of a name."""
    blocks: Mapping[CodePlace, LivenessBlock]
    successors: Mapping[CallPlace, set[CallPlace]]
    returns: frozenset[CallPlace] = frozenset()
    """Blocks that end with a function's return."""
    weights: Mapping[CodePlace, int] = field(default_factory=dict)
    """Blocks of LLVM of each block."""
    calls: Mapping[CallPlace, list[CallSite]] = field(default_factory=dict)
    functions: frozenset[CodePlace] = frozenset()
    """Functions of which all callers share one copy."""
    by_pointer: frozenset[CodePlace] = frozenset()
    """Functions that are called through pointers, and have one signature for that."""
    has_unknown_depth: bool = False
    """Whether calls recurse or lead through registers: the cubin does not say how deep they go."""
    _results: dict[object, Any] = field(default_factory=dict)

    def get(self, analysis: Callable[[KernelGraph], T]) -> T:
        """Return the result of ``analysis`` on this graph; it runs once, at the first call."""
        if analysis not in self._results:
            self._results[analysis] = analysis(self)
        result: T = self._results[analysis]
        return result

    @property
    def entry(self) -> CodePlace:
        """The kernel's first instruction."""
        return self.kernel, 0

    def at(self, place: CodePlace) -> DecodedInstruction:
        code = self.code(place[0])
        return code.instructions[code.position[place[1]]]

    def labels(self, function: str) -> Mapping[str, int]:
        """Labels of a section of code, and their addresses."""
        return self.code(function).function.labels

    def instructions(self, blocks: Iterable[CodePlace]) -> Iterator[CodePlace]:
        return (place for block in blocks for place, _ in self.blocks[block].accesses)

    @cached_property
    def all_instructions(self) -> list[DecodedInstruction]:
        """The instructions of all blocks, in the blocks' order."""
        return [self.at(place) for place in self.instructions(self.blocks)]

    def reconverges(self, block: CodePlace) -> bool:
        """Whether lanes of a warp, or all threads of the CUDA block, reconverge in ``block``."""
        return any(is_convergence_point(self.at(place)) for place in self.instructions([block]))

    def may_diverge(self, block: CodePlace) -> bool:
        """Whether the branch at its end may be divergent, by its form alone."""
        accesses = self.blocks[block].accesses
        if not accesses or len(self.blocks[block].successors) < 2:
            return False
        last = self.at(accesses[-1][0])
        return not last.has("U") and (last.guard is None or last.guard.file != "UP")

    # Functions

    @cached_property
    def _of_function(self) -> dict[CodePlace | None, list[CallPlace]]:
        of_function: dict[CodePlace | None, list[CallPlace]] = {}
        for place in self.successors:
            of_function.setdefault(function_of(place[0]), []).append(place)
        return of_function

    def places(self, function: CodePlace | None) -> list[CallPlace]:
        """The blocks of a function, or with None of the kernel itself."""
        return self._of_function.get(function, [])

    @cached_property
    def within(self) -> dict[CallPlace, set[CallPlace]]:
        """Map each block to its successors in its own function: behind a call, where it returns."""
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
        return {
            function: frozenset[str]().union(
                *map(self._written_by, reached(self._called_by, [function]))
            )
            for function in self.functions
        }

    def _written_by(self, function: CodePlace) -> frozenset[str]:
        accesses = (each for place in self.places(function) for _, each in self.accesses(place))
        return frozenset[str]().union(*(access.writes for access in accesses))

    def _called_by(self, function: CodePlace) -> set[CodePlace]:
        return {
            call.callee for place in self.places(function) for call in self.calls.get(place, ())
        }
