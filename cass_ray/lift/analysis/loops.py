"""Loops of a kernel's code, and the registers that their rounds hand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock
from cass_ray.lift.graphs import components

Loop = tuple[CodePlace, frozenset[CodePlace]]
"""The header and all blocks."""


def carried(
    blocks: Mapping[CodePlace, LivenessBlock], header: CodePlace, loop: frozenset[CodePlace]
) -> frozenset[str]:
    """The registers in which one round of the loop leaves something to the next."""
    written = {
        name for block in loop for _, access in blocks[block].accesses for name in access.writes
    }
    exposed: dict[CodePlace, frozenset[str]] = {place: frozenset() for place in loop}
    changed = True
    while changed:
        changed = False
        for place in loop:
            after = frozenset[str]().union(
                *(exposed[s] for s in blocks[place].successors if s in loop and s != header)
            )
            registers = frozenset(_exposed(blocks[place], after) & written)
            if registers != exposed[place]:
                exposed[place] = registers
                changed = True
    return exposed[header]


def _exposed(block: LivenessBlock, after: Iterable[str]) -> set[str]:
    """Registers that are read in the block or after it before they are written."""
    registers = set(after)
    for _, access in reversed(block.accesses):
        if access.guard is None:
            registers -= access.writes
        else:
            registers.add(access.guard[0])
        registers |= access.reads
    return registers


def loops(graph: KernelGraph) -> list[Loop]:
    """All loops, the outer before the inner."""
    return list(_loops(graph))


def _loops(graph: KernelGraph) -> Iterator[Loop]:
    successors = {place: sorted(block.successors) for place, block in graph.blocks.items()}
    pending = [(frozenset(graph.blocks), [graph.entry])]
    while pending:
        inside, entries = pending.pop()
        for component in components(successors, inside, entries):
            header = component[0]
            is_loop = len(component) > 1 or header in graph.blocks[header].successors
            if not is_loop:
                continue
            loop = frozenset(component)
            yield header, loop
            inner = loop - {header}
            pending.append((inner, successors[header]))
