"""Where the two warps of a wave may part, or the lanes of a warp: branches that go by what these
need not share.

A wave of 64 lanes arrives at a barrier once. It may do so for both of its warps where they come to
it together: where no branch before it, since both were last together, goes by a number of a thread
or of a warp, or by what was computed from one. That is found by following registers from what
differs between warps, along every path; what is assigned on a path that one warp takes alone
differs as well. Lanes part by the same, but for what they have found out together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock
from cass_ray.lift.analysis.opcodes import MATRIX_OPCODES
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name
from cass_ray.lift.graphs import immediate_postdominators

_FOUND_TOGETHER = frozenset({"VOTE", "VOTEU", "REDUX", "CREDUX"})
"""What the lanes that exchange all get."""
_EXCHANGE = _FOUND_TOGETHER | {"SHFL", "MATCH", "ELECT", "LDSM", "MOVM"}
_MATRICES = frozenset({"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"}) | MATRIX_OPCODES
_DIFFERENT = (
    frozenset({"ATOM", "ATOMG", "ATOMS", "SYNCS", "LDL", "LDTM", "UTCATOMSWS"})
    | _EXCHANGE
    | _MATRICES
)
"""What they give differs between lanes or warps whatever they are given."""
_READS_SPECIAL = frozenset({"S2R", "S2UR", "CS2R"})
_BARRIERS = frozenset({"BAR", "UCGABAR_WAIT"})
_SAME = ("SR_CTAID", "SR_Cga", "SR_NTID", "SR_NCTAID", "SR_SWIN", "SRZ")
_ENDINGS = frozenset({"EXIT", "KILL", "BPT"})
_END: CodePlace = ("", -1)
"""Stands for where threads end."""

Graph = Mapping[CodePlace, LivenessBlock]
InstructionAt = Callable[[CodePlace], DecodedInstruction]


@dataclass(frozen=True)
class _Parts:
    """Of which threads it is asked whether they may part."""

    differ: frozenset[str]
    """Opcodes whose results differ between them, whatever is given."""
    same: frozenset[str]
    """Those whose results are the same for all that do it together, whatever is given."""
    differ_at_joins: bool
    """Whether what is assigned on a path that some take alone differs from where paths join on;
    else at once."""


_WARPS = _Parts(_DIFFERENT, frozenset({"BAR"}), differ_at_joins=False)
_LANES = _Parts(_DIFFERENT - _FOUND_TOGETHER, _FOUND_TOGETHER | {"BAR"}, differ_at_joins=True)
_LANES_IN_GROUPS = _Parts(_DIFFERENT, frozenset({"BAR"}), differ_at_joins=True)


def where_lanes_part(
    blocks: Graph, entry: CodePlace, instruction_at: InstructionAt, *, in_groups: bool
) -> frozenset[CodePlace]:
    """Blocks from whose ends lanes of a warp may go different ways.

    ``in_groups``: lanes of one warp may exchange with different masks.
    """
    parts = _LANES_IN_GROUPS if in_groups else _LANES
    *_, last = _rounds(blocks, entry, instruction_at, parts)
    return frozenset(last.parting)


def barriers_part_warps(blocks: Graph, entry: CodePlace, instruction_at: InstructionAt) -> bool:
    """Whether one warp of a wave may come to a barrier of the block without the other."""
    at_barriers = {
        block
        for block, found in blocks.items()
        if any(instruction_at(place).opcode in _BARRIERS for place, _ in found.accesses)
    }
    if not at_barriers:
        return False
    if any(block.leaves_unknown for block in blocks.values()):
        return True
    return any(
        found.at_guarded_barriers or found.alone & at_barriers
        for found in _rounds(blocks, entry, instruction_at, _WARPS)
    )


@dataclass(frozen=True)
class _Found:
    """What is known after some rounds; each adds to it."""

    parting: list[CodePlace]
    at_guarded_barriers: bool
    """Whether a barrier's guard may differ."""
    alone: set[CodePlace]
    """Blocks that some may come to and others not."""


def _rounds(
    blocks: Graph, entry: CodePlace, instruction_at: InstructionAt, parts: _Parts
) -> Iterator[_Found]:
    successors = {place: _successors(block, instruction_at) for place, block in blocks.items()}
    after = immediate_postdominators(successors, _END)
    flow = _Flow(successors, set(), {}, _unknown_behind_calls(blocks))
    while True:
        parting, at_guarded_barriers = _parting(blocks, entry, instruction_at, flow, parts)
        regions = {place: _between(successors, place, after[place]) for place in parting}
        found = flow.alone.union(*regions.values())
        yield _Found(parting, at_guarded_barriers, found)
        joins = flow.joins
        if parts.differ_at_joins:
            joins = _assigned_before(blocks, successors, regions, after)
        if (found, joins) == (flow.alone, flow.joins):
            return
        flow = replace(flow, alone=found, joins=joins)


@dataclass(frozen=True)
class _Flow:
    successors: Mapping[CodePlace, frozenset[CodePlace]]
    alone: set[CodePlace]
    """Blocks in which some may be alone."""
    joins: Mapping[CodePlace, frozenset[str]]
    """Blocks to which they come by several ways, and the registers assigned on these."""
    behind_calls: frozenset[str]
    """Registers that may differ behind every call."""


def _unknown_behind_calls(blocks: Graph) -> frozenset[str]:
    """All registers, where functions with one copy return to whoever has called them."""
    if not any(block.leaves_unknown for block in blocks.values()):
        return frozenset()
    accesses = (access for block in blocks.values() for _, access in block.accesses)
    return frozenset[str]().union(*(access.reads | access.writes for access in accesses))


def _assigned_before(
    blocks: Graph,
    successors: Mapping[CodePlace, frozenset[CodePlace]],
    regions: Mapping[CodePlace, set[CodePlace]],
    after: Mapping[CodePlace, CodePlace],
) -> dict[CodePlace, frozenset[str]]:
    """By block where two ways of a branch join: registers that are assigned on these."""
    found: dict[CodePlace, frozenset[str]] = {}
    by_block = {
        place: frozenset[str]().union(*(access.writes for _, access in block.accesses))
        for place, block in blocks.items()
    }
    for branch, region in regions.items():
        assigned = frozenset[str]().union(*(by_block[place] for place in region))
        end = after[branch]
        ways = Counter(
            place
            for start in successors[branch] - {end, _END}
            for place in _between(successors, start, end) | {start}
        )
        for place in {place for place, number in ways.items() if number > 1} | {end}:
            found[place] = found.get(place, frozenset()) | assigned
    return found


def _successors(block: LivenessBlock, instruction_at: InstructionAt) -> frozenset[CodePlace]:
    ends = not block.successors or (
        block.accesses and instruction_at(block.accesses[-1][0]).opcode in _ENDINGS
    )
    return frozenset(block.successors | ({_END} if ends else set()))


def _parting(
    blocks: Graph,
    entry: CodePlace,
    instruction_at: InstructionAt,
    flow: _Flow,
    parts: _Parts,
) -> tuple[list[CodePlace], bool]:
    """Blocks from which the parts may go different ways; whether a barrier's guard may differ."""
    different: dict[CodePlace, frozenset[str]] = {entry: frozenset()}
    parting: set[CodePlace] = set()
    at_guarded_barriers = False
    pending = [entry]
    while pending:
        place = pending.pop()
        state = set(different[place] | flow.joins.get(place, frozenset()))
        branches_apart = False
        for where, access in blocks[place].accesses:
            instruction = instruction_at(where)
            reads = access.reads | ({access.guard[0]} if access.guard else set())
            branches_apart = bool(reads & state)
            if instruction.opcode in _BARRIERS and access.guard and access.guard[0] in state:
                at_guarded_barriers = True
            differs = _differs(instruction, parts) or (
                branches_apart and instruction.opcode not in parts.same
            )
            if differs or (place in flow.alone and not parts.differ_at_joins):
                state |= access.writes
            elif access.guard is None:
                state -= access.writes
            if instruction.opcode == "CALL":
                state |= flow.behind_calls
        if branches_apart and len(flow.successors[place]) > 1:
            parting.add(place)
        for successor in flow.successors[place] - {_END}:
            known = different.get(successor)
            joined = frozenset(state) | (known or frozenset())
            if joined != known:
                different[successor] = joined
                pending.append(successor)
    return sorted(parting), at_guarded_barriers


def _differs(i: DecodedInstruction, parts: _Parts) -> bool:
    if i.opcode in parts.differ or (i.opcode in ("LD", "LDG") and i.has("STRONG")):
        return True
    if i.opcode not in _READS_SPECIAL:
        return False
    names = [operand.text for operand in i.operands if isinstance(operand, Name)]
    return not all(name.startswith(_SAME) for name in names)


def _between(
    successors: Mapping[CodePlace, Iterable[CodePlace]], place: CodePlace, after: CodePlace
) -> set[CodePlace]:
    """Blocks on paths from ``place`` that have not come to ``after``."""
    found: set[CodePlace] = set()
    pending = [place]
    while pending:
        for successor in successors[pending.pop()]:
            if successor not in (after, _END) and successor not in found:
                found.add(successor)
                pending.append(successor)
    return found
