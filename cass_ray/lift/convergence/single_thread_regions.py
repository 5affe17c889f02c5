"""Regions that one thread of a warp runs: the branch to them tests for one number of a thread or
lane.

``threadIdx.x`` is another number in each lane of a warp where blocks have one dimension: so it is
taken to be in kernels that never read ``threadIdx.y`` or ``threadIdx.z``.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Name, Operand, Predicate, Register
from cass_ray.lift.graphs import reached

_READS_SPECIAL = frozenset({"S2R", "S2UR", "CS2R"})
_OTHER_DIMENSIONS = ("SR_TID.Y", "SR_TID.Z")
_LANES, _AND = "0x1f", "0xc0"


class _Fact(Enum):
    """What is known of a register or predicate."""

    DIFFERS = 1
    """It is another number in each lane of a warp."""
    ONCE_TRUE = 2
    """It holds in one lane at most."""
    ONCE_FALSE = 3


_Facts = frozenset[tuple[str, _Fact]]
_Edge = tuple[CodePlace, CodePlace]


def single_thread_regions(graph: KernelGraph) -> list[frozenset[CodePlace]]:
    """Regions, as sets of blocks: one lane of a warp enters each, and always the same one."""
    lanes = _Lanes(graph)
    edges = [edge for place in lanes.facts for edge in lanes.single_edges(place)]
    return [frozenset(lanes.facts.keys() - _without(graph, edge)) for edge in edges]


def _without(graph: KernelGraph, edge: _Edge) -> set[CodePlace]:
    """Blocks to which other edges lead."""
    start, end = edge

    def following(place: CodePlace) -> set[CodePlace]:
        successors = graph.blocks[place].successors
        return successors - {end} if place == start else successors

    return reached(following, [graph.entry])


def elected_lane_region(graph: KernelGraph, loop: frozenset[CodePlace]) -> frozenset[CodePlace]:
    """The region of one elected lane that ``loop`` is in; empty where several lanes run the loop.

    That lane waits for no other one there.
    """
    regions = graph.get(single_thread_regions)
    return frozenset[CodePlace]().union(*(each for each in regions if loop <= each))


class _Lanes:
    """What is known of registers at the start of each block, whichever way it was reached."""

    def __init__(self, graph: KernelGraph) -> None:
        self._graph = graph
        self._numbers = ["SR_LANEID"]
        if not any(
            name in _OTHER_DIMENSIONS for i in graph.all_instructions for name in _special(i)
        ):
            self._numbers.append("SR_TID.X")
        self.facts: dict[CodePlace, _Facts] = {graph.entry: frozenset()}
        pending = [graph.entry]
        while pending:
            place = pending.pop()
            after = self._after(place)
            for successor in graph.blocks[place].successors:
                before = self.facts.get(successor)
                joined = after if before is None else before & after
                if joined != before:
                    self.facts[successor] = joined
                    pending.append(successor)

    def _after(self, block: CodePlace) -> _Facts:
        facts = set(self.facts[block])
        for place, access in self._graph.blocks[block].accesses:
            fact_of_result = (
                None if access.guard else _made(self._graph.at(place), facts, self._numbers)
            )
            facts = {fact for fact in facts if fact[0] not in access.writes}
            if fact_of_result is not None:
                facts.add(fact_of_result)
        return frozenset(facts)

    def single_edges(self, place: CodePlace) -> Iterator[_Edge]:
        """The edge behind ``place`` that one lane takes."""
        accesses = self._graph.blocks[place].accesses
        if not accesses:
            return
        (function, address), _ = accesses[-1]
        i = self._graph.at((function, address))
        if i.opcode not in ("BRA", "EXIT") or i.guard is None or len(i.operands) > 1:
            return
        facts = self._after(place)
        for fact, goes_if in (
            (_Fact.ONCE_TRUE, not i.guard.inverted),
            (_Fact.ONCE_FALSE, i.guard.inverted),
        ):
            if (i.guard.name, fact) not in facts:
                continue
            if not goes_if:
                yield place, (function, address + INSTRUCTION_BYTES)
            elif i.operands and isinstance(i.operands[0], Name):
                target = self._graph.labels(function).get(i.operands[0].text, -1)
                yield place, (function, target)


def _made(
    i: DecodedInstruction, facts: set[tuple[str, _Fact]], numbers: list[str]
) -> tuple[str, _Fact] | None:
    """What ``i`` adds to ``facts``."""
    target = getattr(i.operands[0], "name", "") if i.operands else ""
    if i.opcode == "S2R":
        return (target, _Fact.DIFFERS) if any(name in numbers for name in _special(i)) else None
    if i.mnemonic == "LOP3.LUT":
        # Of the lane's number; the predicate in front says whether there is a bit.
        *first, source, mask, _, table, condition = i.operands
        texts = [getattr(operand, "text", "") for operand in (mask, table)]
        if texts != [_LANES, _AND] or not _is(source, facts) or not _is_never(condition):
            return None
        if len(first) == 1:
            return target, _Fact.DIFFERS
        return (target, _Fact.ONCE_FALSE) if _is_fixed(first[-1]) else None
    if i.opcode == "ISETP" and i.has("AND") and not i.has("EX") and len(i.operands) == 5:
        _, _, left, right, condition = i.operands
        if str(condition) != str(i.operands[1]) or not _is(left, facts) or not _is_fixed(right):
            return None
        if i.has("EQ"):
            return target, _Fact.ONCE_TRUE
        return (target, _Fact.ONCE_FALSE) if i.has("NE") else None
    return None


def _is(operand: Operand, facts: set[tuple[str, _Fact]]) -> bool:
    return isinstance(operand, Register) and (operand.name, _Fact.DIFFERS) in facts


def _is_never(operand: Operand) -> bool:
    return isinstance(operand, Predicate) and operand.index is None and operand.inverted


def _is_fixed(operand: Operand) -> bool:
    """Whether it is one number whenever it is read."""
    if isinstance(operand, Register):
        return operand.is_zero
    return isinstance(operand, Immediate) or (
        isinstance(operand, Constant) and operand.index is None
    )


def _special(i: DecodedInstruction) -> Iterator[str]:
    if i.opcode in _READS_SPECIAL:
        yield from (operand.text for operand in i.operands if isinstance(operand, Name))
