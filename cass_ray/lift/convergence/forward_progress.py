"""Forward progress: loops that may wait for other lanes of their warp, and the schedule for them.

From Volta on each lane of a warp goes on in the end, whatever the others do. ptxas says where that
takes more than running to the next convergence barrier: it writes ``YIELD`` (or the program has
``NANOSLEEP``) in each loop that lanes may leave one by one for what is in memory, and has the lanes
reconverge (``WARPSYNC``, ``BRA.DIV``) behind it, before they do a collective. Lanes that have
yielded are not waited for at ``BSYNC``: US patent 2016/0019066; else nobody could leave a spin
lock.

On AMD the lanes of a wave take one side of a branch after the other. So a kernel in which lanes
outside of such a loop may do what those inside wait for has its lanes scheduled independently
(``lowering.scheduling.lane_scheduler``): they stop where they yield, and reconverge where SASS has
them reconverge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.loops import Loop, loops
from cass_ray.lift.analysis.opcodes import is_convergence_point, yields
from cass_ray.lift.convergence.loop_exits import LoopExits
from cass_ray.lift.convergence.saved_convergence_barriers import (
    BarrierOf,
    saved_convergence_barriers,
)
from cass_ray.lift.convergence.single_thread_regions import elected_lane_region
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name
from cass_ray.lift.graphs import predecessors_of, reached

_SHARED, _GLOBAL = frozenset({"shared"}), frozenset({"global"})
_ANY = _SHARED | _GLOBAL
_READS = {"LDS": _SHARED, "ATOMS": _SHARED, "SYNCS": _SHARED, "ATOMG": _GLOBAL, "ATOM": _ANY}
_READS_IF_STRONG = {"LDG": _GLOBAL, "LD": _ANY}
_WRITES = {
    **dict.fromkeys(("STS", "ATOMS", "SYNCS", "ARRIVES", "LDGSTS", "STSM", "UTCBAR"), _SHARED),
    **dict.fromkeys(("STG", "RED", "REDG", "ATOMG", "UTMASTG", "UTMAREDG"), _GLOBAL),
    **dict.fromkeys(("ST", "ATOM", "STAS", "REDAS", "UBLKCP", "UBLKRED", "UTMALDG"), _ANY),
}


@dataclass(frozen=True)
class LaneSchedule:
    """Where lanes that are scheduled independently stop, and where they reconverge."""

    yield_points: frozenset[CodePlace]
    """Instructions before which other lanes go on."""
    region_starts: frozenset[CodePlace]
    """``BSSY`` whose lanes reconverge at one of :attr:`region_ends`, or come by it."""
    region_ends: frozenset[CodePlace]
    """``BSYNC`` to which lanes may come one by one."""
    saved_barriers: Mapping[BarrierOf, str]
    """Convergence barriers that functions keep for their callers: names of their own."""


def waits_for_own_warp(code: KernelGraph) -> bool:
    """Whether lanes in a loop may wait for what lanes of the same warp do that are not in it."""
    return any(_is_ended_by_others(code, *loop) for loop in _yielding_loops(code))


def _yielding_loops(code: KernelGraph) -> Iterator[Loop]:
    """Loops in which lanes yield; the outer before the inner."""
    for header, loop in code.get(loops):
        if any(yields(code.at(place)) for place in code.instructions(loop)):
            yield header, loop


def first_spin_loads(code: KernelGraph, waiting: Iterable[list[CodePlace]]) -> frozenset[CodePlace]:
    """The first load, of each of the loops ``waiting`` in which no lane yields, that reads what the
    loop waits for.

    ptxas has found that the lanes of a warp leave such a loop together.
    """
    return frozenset(
        next(place for place in places if _is_spin_load(code.at(place)))
        for places in waiting
        if not any(yields(code.at(place)) for place in places)
    )


def lane_schedule(code: KernelGraph, more: frozenset[CodePlace] = frozenset()) -> LaneSchedule:
    """The schedule of a kernel's lanes; they yield before ``more``, too."""
    yielding = {
        place
        for _, loop in _yielding_loops(code)
        for place in code.instructions(loop)
        if yields(code.at(place))
    }
    yield_points = frozenset(yielding | more)
    regions = _regions(code)
    ends = frozenset(
        end
        for start, region in regions.items()
        if any(place in yield_points or is_convergence_point(code.at(place)) for place in region)
        for end in _bsync_places(code, start)
        if end in region
    )
    starts = frozenset(start for start, region in regions.items() if region & ends)
    saved = saved_convergence_barriers(
        code.entry[0], ((each, code.at(each)) for each in code.instructions(code.blocks))
    )
    return LaneSchedule(yield_points, starts, ends, saved)


def diverges_before_barriers(code: KernelGraph, barriers: frozenset[CodePlace]) -> bool:
    """Whether a branch may diverge to different ones of ``barriers``, from which no path leads
    back.

    A barrier that only some lanes come to, as in code for groups of any size, does not count: the
    check at the barrier ends such a program.
    """
    with_barrier = {
        block
        for block in code.blocks
        if any(place in barriers for place in code.instructions([block]))
    }
    # The test of convergence is a block before.
    with_barrier |= {
        block
        for block in code.blocks
        if code.reconverges(block) and code.blocks[block].successors & with_barrier
    }
    for block in code.blocks if barriers else ():
        if not code.may_diverge(block):
            continue
        sides = [_next_reconvergence_points(code, each) for each in code.blocks[block].successors]
        if all(points & with_barrier and block not in seen for points, seen in sides) and not (
            frozenset[CodePlace].intersection(*(points for points, _ in sides))
        ):
            return True
    return False


def _next_reconvergence_points(
    code: KernelGraph, start: CodePlace
) -> tuple[frozenset[CodePlace], frozenset[CodePlace]]:
    """Blocks with the reconvergence points that are next from ``start``, and all that it leads
    to."""
    blocks = code.blocks
    near = reached(lambda b: () if code.reconverges(b) else blocks[b].successors, [start])
    stops = frozenset(block for block in near if code.reconverges(block))
    return stops, frozenset(reached(lambda b: blocks[b].successors, [start]))


def _regions(code: KernelGraph) -> dict[CodePlace, set[CodePlace]]:
    """Each ``BSSY``, and the instructions up to where its lanes reconverge."""
    return {
        (function, address): set(_until_reconvergence(code, block, (function, address)))
        for block in code.blocks
        for function, address in code.instructions([block])
        if code.at((function, address)).opcode == "BSSY"
    }


def _bsync_places(code: KernelGraph, start: CodePlace) -> list[CodePlace]:
    """Where the ``BSYNC`` of a ``BSSY`` may be: at the label that it names, or in front of it."""
    function, _ = start
    instruction = code.at(start)
    name = instruction.operands[1]
    labels = code.labels(function)
    if not isinstance(name, Name) or name.text not in labels:
        raise instruction.unknown("a convergence barrier without the place where lanes reconverge")
    target = labels[name.text]
    return [(function, target), (function, target - INSTRUCTION_BYTES)]


def _until_reconvergence(
    code: KernelGraph, block: CodePlace, start: CodePlace
) -> Iterator[CodePlace]:
    """Instructions behind the ``BSSY`` at ``start``, which is in ``block``, with its ``BSYNC``."""
    ends = _bsync_places(code, start)
    places = list(code.instructions([block]))
    pending = [(block, places[places.index(start) + 1 :])]
    seen: set[CodePlace] = set()
    while pending:
        current, places = pending.pop()
        for place in places:
            yield place
            if place in ends and code.at(place).opcode == "BSYNC":
                break
        else:
            left = _exit_edges(code, places, start)
            for successor in code.blocks[current].successors - left - seen:
                seen.add(successor)
                pending.append((successor, list(code.instructions([successor]))))


def _exit_edges(code: KernelGraph, places: list[CodePlace], start: CodePlace) -> set[CodePlace]:
    """Successors of ``places`` to which only lanes come that have left the region from ``start``.

    One side of a branch is theirs behind a ``BREAK`` with its guard, or with the opposite one.
    """
    if not places or places[-1][0] != start[0] or places[-1][1] == 0:
        return set()
    function, address = places[-1]
    branch, leaves = (code.at((function, address - back)) for back in (0, INSTRUCTION_BYTES))
    if branch.mnemonic != "BRA" or len(branch.operands) != 1 or branch.guard is None:
        return set()
    if leaves.opcode != "BREAK" or leaves.operands != code.at(start).operands[:1]:
        return set()
    if leaves.guard is None or leaves.guard.name != branch.guard.name:
        return set()
    if leaves.guard != branch.guard:
        return {(function, address + INSTRUCTION_BYTES)}
    target = branch.operands[0]
    return {(function, code.labels(function)[target.text])} if isinstance(target, Name) else set()


def _is_ended_by_others(code: KernelGraph, header: CodePlace, loop: frozenset[CodePlace]) -> bool:
    """Whether lanes that are not in ``loop`` may write what those in it wait for."""
    if _reconverges_each_iteration(code, header, loop):
        return False
    if not LoopExits(code, header, loop).wait():
        return False
    spaces = frozenset[str]().union(*(_reads(code.at(place)) for place in code.instructions(loop)))
    return any(spaces & _WRITES.get(i.opcode, frozenset()) for i in _concurrent(code, loop))


def _is_spin_load(i: DecodedInstruction) -> bool:
    return i.opcode in _READS or i.opcode in _READS_IF_STRONG or i.opcode == "UTCATOMSWS"


def _reconverges_each_iteration(
    code: KernelGraph, header: CodePlace, loop: frozenset[CodePlace]
) -> bool:
    """Whether lanes reconverge in each round of the loop: then none is outside of it alone."""
    if code.reconverges(header):
        return True

    def apart(block: CodePlace) -> Iterator[CodePlace]:
        for successor in code.blocks[block].successors & loop - {header}:
            if not code.reconverges(successor):
                yield successor

    return all(header not in code.blocks[each].successors for each in reached(apart, [header]))


def _reads(i: DecodedInstruction) -> frozenset[str]:
    """Where it reads what others may write meanwhile."""
    if i.has("STRONG") and i.opcode in _READS_IF_STRONG:
        return _READS_IF_STRONG[i.opcode]
    return _READS.get(i.opcode, frozenset())


def _concurrent(code: KernelGraph, loop: frozenset[CodePlace]) -> Iterator[DecodedInstruction]:
    """Instructions of lanes while others of their warp are in ``loop``, up to reconvergence."""
    by_one_lane = elected_lane_region(code, loop)
    before = _blocks_before(code, loop)
    into = loop | {block for block in before if not code.reconverges(block)}
    """The loop, and the blocks from whose starts it is reached without reconvergence."""
    pending = [
        successor
        for block in (before | loop) - by_one_lane
        if code.may_diverge(block)
        for successor in code.blocks[block].successors - loop
        if block in loop or (code.blocks[block].successors - {successor}) & into
    ]
    seen = set(pending)
    while pending:
        block = pending.pop()
        for place in code.instructions([block]):
            instruction = code.at(place)
            if is_convergence_point(instruction):
                break
            yield instruction
        else:
            for successor in code.blocks[block].successors - loop - seen:
                seen.add(successor)
                pending.append(successor)


def _blocks_before(code: KernelGraph, loop: frozenset[CodePlace]) -> set[CodePlace]:
    """Blocks from whose ends ``loop`` is reached without reconvergence of all lanes."""
    predecessors = predecessors_of({place: b.successors for place, b in code.blocks.items()})

    def before(block: CodePlace) -> list[CodePlace]:
        stops = block not in loop and code.reconverges(block)
        return [] if stops else predecessors.get(block, [])

    return reached(before, loop) - loop
