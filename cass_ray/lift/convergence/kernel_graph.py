"""The code of a kernel, as a first lifting has shown it: what analyses of convergence ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.loops import Graph, InstructionAt, loops
from cass_ray.lift.analysis.opcodes import is_reconvergence_point, yields
from cass_ray.lift.convergence.single_thread_regions import Labels, single_thread_regions
from cass_ray.lift.frontend.instruction import DecodedInstruction


def is_convergence_point(i: DecodedInstruction) -> bool:
    """Whether lanes of a warp, or all threads of a block, come together there."""
    return is_reconvergence_point(i) or i.opcode in ("BAR", "WARPGROUP", "UCGABAR_WAIT")


@dataclass(frozen=True)
class KernelGraph:
    """What a first lifting has shown of a kernel."""

    blocks: Graph
    entry: CodePlace
    at: InstructionAt
    labels: Labels

    def instructions(self, blocks: Iterable[CodePlace]) -> Iterator[CodePlace]:
        return (place for block in blocks for place, _ in self.blocks[block].accesses)

    @cached_property
    def _single_thread_regions(self) -> list[frozenset[CodePlace]]:
        return single_thread_regions(self.blocks, self.entry, self.at, self.labels)

    def elected_lane_region(self, loop: frozenset[CodePlace]) -> frozenset[CodePlace]:
        """The region of one elected lane that ``loop`` is in; empty where several lanes run the
        loop.

        That lane waits for no other one there.
        """
        return frozenset[CodePlace]().union(
            *(each for each in self._single_thread_regions if loop <= each)
        )

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

    def yielding_loops(self) -> Iterator[tuple[CodePlace, frozenset[CodePlace]]]:
        """Loops in which lanes yield, with their headers; the outer before the inner."""
        for header, loop in loops(self.blocks, frozenset(self.blocks), self.entry):
            if any(yields(self.at(place)) for place in self.instructions(loop)):
                yield header, loop
