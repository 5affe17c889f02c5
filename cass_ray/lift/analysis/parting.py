"""Where the two warps of a wave may part: branches that go by what the two need not share.

A wave of 64 lanes arrives at a barrier once. It may do so for both of its warps where they come to
it together: where no branch before it, since both were last together, goes by a number of a thread
or of a warp, or by what was computed from one. That is found by following registers from what
differs between warps, along every path; what is assigned on a path that one warp takes alone
differs as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock
from cass_ray.lift.analysis.opcodes import MATRIX_OPCODES
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name

_EXCHANGE = frozenset(
    {"SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "ELECT", "LDSM", "MOVM"}
)
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
    successors = {place: _successors(block, instruction_at) for place, block in blocks.items()}
    after = _immediate_postdominators(successors)
    alone: set[CodePlace] = set()
    while not alone & at_barriers:
        found = set(alone)
        parting, at_guarded_barriers = _parting(blocks, entry, instruction_at, (successors, alone))
        if at_guarded_barriers:
            return True
        for place in parting:
            found |= _between(successors, place, after[place])
        if found == alone:
            return False
        alone = found
    return True


def _successors(block: LivenessBlock, instruction_at: InstructionAt) -> frozenset[CodePlace]:
    ends = not block.successors or (
        block.accesses and instruction_at(block.accesses[-1][0]).opcode in _ENDINGS
    )
    return frozenset(block.successors | ({_END} if ends else set()))


def _parting(
    blocks: Graph,
    entry: CodePlace,
    instruction_at: InstructionAt,
    flow: tuple[Mapping[CodePlace, frozenset[CodePlace]], set[CodePlace]],
) -> tuple[list[CodePlace], bool]:
    """Blocks from which two warps may go different ways; whether a barrier's guard may differ.

    ``flow``: successors, and blocks in which a warp may be alone.
    """
    successors, alone = flow
    different: dict[CodePlace, frozenset[str]] = {entry: frozenset()}
    parting: set[CodePlace] = set()
    at_guarded_barriers = False
    pending = [entry]
    while pending:
        place = pending.pop()
        state = set(different[place])
        branches_apart = False
        for where, access in blocks[place].accesses:
            instruction = instruction_at(where)
            reads = access.reads | ({access.guard[0]} if access.guard else set())
            branches_apart = bool(reads & state)
            if instruction.opcode in _BARRIERS and access.guard and access.guard[0] in state:
                at_guarded_barriers = True
            # What a reduction over the block gives is the same for all of it.
            differs = _differs(instruction) or (branches_apart and instruction.opcode != "BAR")
            if differs or place in alone:
                state |= access.writes
            elif access.guard is None:
                state -= access.writes
        if branches_apart and len(successors[place]) > 1:
            parting.add(place)
        for successor in successors[place] - {_END}:
            known = different.get(successor)
            joined = frozenset(state) | (known or frozenset())
            if joined != known:
                different[successor] = joined
                pending.append(successor)
    return sorted(parting), at_guarded_barriers


def _differs(i: DecodedInstruction) -> bool:
    if i.opcode in _DIFFERENT or (i.opcode in ("LD", "LDG") and i.has("STRONG")):
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


def _immediate_postdominators(
    successors: Mapping[CodePlace, frozenset[CodePlace]],
) -> dict[CodePlace, CodePlace]:
    """The first block that all paths from each block come to; the end where there is none.

    Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm.
    """
    predecessors: dict[CodePlace, list[CodePlace]] = {_END: []}
    for place, following in successors.items():
        for successor in following:
            predecessors.setdefault(successor, []).append(place)
    order = _postorder(predecessors)
    number = {place: position for position, place in enumerate(order)}
    found: dict[CodePlace, CodePlace] = {_END: _END}
    changed = True
    while changed:
        changed = False
        for place in reversed(order[:-1]):
            known = [each for each in successors[place] if each in found]
            nearest = known[0]
            for each in known[1:]:
                nearest = _meeting(found, number, nearest, each)
            if found.get(place) != nearest:
                found[place] = nearest
                changed = True
    return {place: found.get(place, _END) for place in successors}


def _postorder(predecessors: Mapping[CodePlace, list[CodePlace]]) -> list[CodePlace]:
    """Places from which the end is reached, backwards from it; the end is the last of them."""
    seen, order = {_END}, []
    work = [(_END, iter(predecessors[_END]))]
    while work:
        place, before = work[-1]
        for previous in before:
            if previous not in seen:
                seen.add(previous)
                work.append((previous, iter(predecessors.get(previous, []))))
                break
        else:
            work.pop()
            order.append(place)
    return order


def _meeting(
    found: Mapping[CodePlace, CodePlace],
    number: Mapping[CodePlace, int],
    left: CodePlace,
    right: CodePlace,
) -> CodePlace:
    while left != right:
        while number[left] < number[right]:
            left = found[left]
        while number[right] < number[left]:
            right = found[right]
    return left
