"""Divergence: branches at which the lanes of a warp, or the two warps of a wave, may part.

What LLVM calls divergence analysis: values that differ between threads are followed from where they
arise (a number of a thread or of a warp, what a load gives, results of some collectives), along
every path; what is assigned on a path that only some threads take differs as well where paths join.
A branch on such a value is divergent. Lanes agree on what they have found out together, as by a
vote.

A wave of 64 lanes arrives at a barrier once. It may do so for both of its warps where they come to
it together: where no branch before it, since they last converged, is divergent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.opcodes import MATRIX_OPCODES
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name
from cass_ray.lift.graphs import immediate_postdominators, reached

_UNIFORM_RESULT = frozenset({"VOTE", "VOTEU", "REDUX", "CREDUX"})
"""Collectives that give all lanes the same result."""
_COLLECTIVE = _UNIFORM_RESULT | {"SHFL", "MATCH", "ELECT", "LDSM", "MOVM"}
_MATRICES = frozenset({"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"}) | MATRIX_OPCODES
_DIFFERENT = (
    frozenset({"ATOM", "ATOMG", "ATOMS", "SYNCS", "LDL", "LDTM", "UTCATOMSWS"})
    | _COLLECTIVE
    | _MATRICES
)
"""What they give differs between lanes or warps whatever they are given."""
_READS_SPECIAL = frozenset({"S2R", "S2UR", "CS2R"})
_BARRIERS = frozenset({"BAR", "UCGABAR_WAIT"})
_SAME = ("SR_CTAID", "SR_Cga", "SR_NTID", "SR_NCTAID", "SR_SWIN", "SRZ")
_ENDINGS = frozenset({"EXIT", "KILL", "BPT"})
_END: CodePlace = ("", -1)
"""Stands for where threads end."""


@dataclass(frozen=True)
class _Granularity:
    """It says between which threads divergence is asked for."""

    differ: frozenset[str]
    """Opcodes whose results differ between them, whatever is given."""
    same: frozenset[str]
    """Instructions whose results are the same for all that do them together."""
    differ_at_joins: bool
    """Whether what is assigned on a path that some take alone differs from where paths join on;
    else at once."""


_BETWEEN_WARPS = _Granularity(_DIFFERENT, frozenset({"BAR"}), differ_at_joins=False)
_BETWEEN_LANES = _Granularity(
    _DIFFERENT - _UNIFORM_RESULT, _UNIFORM_RESULT | {"BAR"}, differ_at_joins=True
)
_BETWEEN_GROUPED_LANES = _Granularity(_DIFFERENT, frozenset({"BAR"}), differ_at_joins=True)


def divergent_branches(graph: KernelGraph, *, in_groups: bool) -> frozenset[CodePlace]:
    """Blocks whose ends are divergent branches for the lanes of a warp.

    ``in_groups``: lanes of one warp may call collectives with different masks.
    """
    granularity = _BETWEEN_GROUPED_LANES if in_groups else _BETWEEN_LANES
    *_, last = _iterations(graph, granularity)
    return frozenset(last.divergent)


def barrier_may_diverge(graph: KernelGraph) -> bool:
    """Whether one warp of a wave may come to a barrier of the block without the other."""
    at_barriers = {
        block
        for block in graph.blocks
        if any(graph.at(place).opcode in _BARRIERS for place in graph.instructions([block]))
    }
    if not at_barriers:
        return False
    if any(block.leaves_unknown for block in graph.blocks.values()):
        return True
    return any(
        iteration.at_guarded_barriers or iteration.alone & at_barriers
        for iteration in _iterations(graph, _BETWEEN_WARPS)
    )


@dataclass(frozen=True)
class _Divergence:
    """What an iteration of the analysis has shown; each iteration adds to the one before."""

    divergent: list[CodePlace]
    at_guarded_barriers: bool
    """Whether a barrier's guard may differ."""
    alone: set[CodePlace]
    """Blocks that some may come to and others not."""


def _iterations(graph: KernelGraph, granularity: _Granularity) -> Iterator[_Divergence]:
    successors, after = graph.get(_successors), graph.get(_postdominators)
    flow = _Flow(successors, set(), {}, _unknown_behind_calls(graph))
    while True:
        divergent, at_guarded_barriers = _divergent(graph, flow, granularity)
        regions = {place: _between(successors, place, after[place]) for place in divergent}
        alone = flow.alone.union(*regions.values())
        yield _Divergence(divergent, at_guarded_barriers, alone)
        joins = flow.joins
        if granularity.differ_at_joins:
            joins = _assigned_before(graph, successors, regions, after)
        if (alone, joins) == (flow.alone, flow.joins):
            return
        flow = replace(flow, alone=alone, joins=joins)


@dataclass(frozen=True)
class _Flow:
    successors: Mapping[CodePlace, frozenset[CodePlace]]
    alone: set[CodePlace]
    """Blocks in which some may be alone."""
    joins: Mapping[CodePlace, frozenset[str]]
    """Blocks to which they come by several ways, and the registers assigned on these."""
    behind_calls: frozenset[str]
    """Registers that may differ behind every call."""


def _unknown_behind_calls(graph: KernelGraph) -> frozenset[str]:
    """All registers, where functions with one copy return to whoever has called them."""
    if not any(block.leaves_unknown for block in graph.blocks.values()):
        return frozenset()
    accesses = (access for block in graph.blocks.values() for _, access in block.accesses)
    return frozenset[str]().union(*(access.reads | access.writes for access in accesses))


def _assigned_before(
    graph: KernelGraph,
    successors: Mapping[CodePlace, frozenset[CodePlace]],
    regions: Mapping[CodePlace, set[CodePlace]],
    after: Mapping[CodePlace, CodePlace],
) -> dict[CodePlace, frozenset[str]]:
    """Map each block where two ways of a branch join to the registers assigned on these."""
    registers: dict[CodePlace, frozenset[str]] = {}
    by_block = {
        place: frozenset[str]().union(*(access.writes for _, access in block.accesses))
        for place, block in graph.blocks.items()
    }
    for branch, region in regions.items():
        assigned = frozenset[str]().union(*(by_block[place] for place in region))
        end = after[branch]
        reached_by = Counter(
            place
            for start in successors[branch] - {end, _END}
            for place in _between(successors, start, end) | {start}
        )
        for place in {place for place, number in reached_by.items() if number > 1} | {end}:
            registers[place] = registers.get(place, frozenset()) | assigned
    return registers


def _successors(graph: KernelGraph) -> dict[CodePlace, frozenset[CodePlace]]:
    """What follows each block, with :data:`_END` where threads may end."""
    successors: dict[CodePlace, frozenset[CodePlace]] = {}
    for place, block in graph.blocks.items():
        ends = not block.successors or (
            block.accesses and graph.at(block.accesses[-1][0]).opcode in _ENDINGS
        )
        successors[place] = frozenset(block.successors | ({_END} if ends else set()))
    return successors


def _postdominators(graph: KernelGraph) -> dict[CodePlace, CodePlace]:
    """The immediate postdominator of each block."""
    return immediate_postdominators(graph.get(_successors), _END)


def _divergent(
    graph: KernelGraph, flow: _Flow, granularity: _Granularity
) -> tuple[list[CodePlace], bool]:
    """Blocks with divergent branches; whether a barrier's guard may differ."""
    different: dict[CodePlace, frozenset[str]] = {graph.entry: frozenset()}
    divergent: set[CodePlace] = set()
    at_guarded_barriers = False
    pending = [graph.entry]
    while pending:
        place = pending.pop()
        state = set(different[place] | flow.joins.get(place, frozenset()))
        reads_divergent = False
        for where, access in graph.blocks[place].accesses:
            instruction = graph.at(where)
            reads = access.reads | ({access.guard[0]} if access.guard else set())
            reads_divergent = bool(reads & state)
            if instruction.opcode in _BARRIERS and access.guard and access.guard[0] in state:
                at_guarded_barriers = True
            differs = _differs(instruction, granularity) or (
                reads_divergent and instruction.opcode not in granularity.same
            )
            if differs or (place in flow.alone and not granularity.differ_at_joins):
                state |= access.writes
            elif access.guard is None:
                state -= access.writes
            if instruction.opcode == "CALL":
                state |= flow.behind_calls
        if reads_divergent and len(flow.successors[place]) > 1:
            divergent.add(place)
        for successor in flow.successors[place] - {_END}:
            before = different.get(successor)
            joined = frozenset(state) | (before or frozenset())
            if joined != before:
                different[successor] = joined
                pending.append(successor)
    return sorted(divergent), at_guarded_barriers


def _differs(i: DecodedInstruction, granularity: _Granularity) -> bool:
    if i.opcode in granularity.differ or (i.opcode in ("LD", "LDG") and i.has("STRONG")):
        return True
    if i.opcode not in _READS_SPECIAL:
        return False
    names = [operand.text for operand in i.operands if isinstance(operand, Name)]
    return not all(name.startswith(_SAME) for name in names)


def _between(
    successors: Mapping[CodePlace, frozenset[CodePlace]], place: CodePlace, after: CodePlace
) -> set[CodePlace]:
    """Blocks on paths from ``place`` that have not come to ``after``."""
    stops = {after, _END}
    return reached(lambda each: successors[each] - stops, successors[place] - stops)
