"""Warp collectives to which lanes come by several instructions.

In CUDA the lanes of a mask do a collective when each of them has come to the same function with it
(``__shfl_sync``, ``__ballot_sync``, ``__syncwarp`` …), in whichever branch. ptxas tests convergence
in front of it (``BRA.DIV``, ``BRA.CONV``); lanes that have diverged reconverge (``WARPSYNC``) in
code that does the collective once for all of them: up to sm_89 a subroutine, from sm_90 on the same
instructions with the same registers behind each ``WARPSYNC.COLLECTIVE``.

Code for converged lanes is right wherever lanes that diverge cannot come to two such places at
once. Where they may, they are scheduled independently (:mod:`.forward_progress`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, takewhile

from cass_ray.lift.analysis.kernel_graph import CallPlace, KernelGraph, function_of
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.opcodes import is_reconvergence_point, tests_convergence
from cass_ray.lift.convergence.divergence import divergent_branches
from cass_ray.lift.convergence.mask_groups import is_collective, mask_groups, straight_on
from cass_ray.lift.convergence.mask_origins import MaskOrigins, Origins, may_be_equal
from cass_ray.lift.convergence.unaligned import where_apart
from cass_ray.lift.frontend.code import ENDINGS, CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name
from cass_ray.lift.graphs import components, immediate_postdominators, predecessors_of, reached

_END: CallPlace = ((), "", -1)

CollectiveKind = tuple[str, Origins | None]
"""Mnemonic of the collective, the empty one: they only reconverge; what made their mask."""
Collectives = frozenset[tuple[CallPlace, CollectiveKind]]
"""Collectives of each block."""
_UNKNOWN = "?"


def collective_behind(code: CodeSection, number: int) -> list[DecodedInstruction]:
    """Return what is behind the ``WARPSYNC`` at a position, up to the last collective of the lanes
    that reconverge."""
    straight = straight_on(code, number + 1)
    behind = list(takewhile(lambda each: each.address not in code.leaders, straight))
    while behind and not is_collective(behind[-1]):
        behind.pop()
    return behind


def collective_in_both_branches(code: KernelGraph, barriers: frozenset[CodePlace]) -> bool:
    """Whether lanes of a warp may diverge to two places of one collective.

    ``barriers``: those to which lanes may come one by one, which are no collectives.
    """
    places = _CollectivePlaces(code, barriers)
    if not _may_be_same(places.all, places.all):
        return False
    in_groups = any(
        mask_groups(code.code(name)).members for name in {name for name, _ in code.blocks}
    )
    return places.are_in_branches(divergent_branches(code, in_groups=in_groups))


@dataclass(frozen=True)
class _CollectivePlaces:
    """Where lanes call collectives, by kind, in the blocks of a kernel and of its functions."""

    code: KernelGraph
    barriers: frozenset[CodePlace]

    @cached_property
    def all(self) -> Collectives:
        return frozenset().union(*self._at_ends.values())

    def are_in_branches(self, branches: Set[CodePlace]) -> bool:
        """Whether two collectives of one kind are on two paths of a block of ``branches``, before
        the paths join again."""
        leading = (place for place in self.code.successors if place in self._leading)
        edges = {place: self._edges_to_collectives(place) for place in leading}
        after = immediate_postdominators(_with_ends(edges), _END)
        for branch, successors in edges.items():
            if len(successors) < 2 or branch[1:] not in branches:
                continue
            if not self.code.may_diverge(branch[1:]) or self._tests_convergence(branch[1:]):
                continue
            by_side = [self._between(edges, each, after[branch]) for each in successors]
            if any(_may_be_same(*two) for two in combinations(by_side, 2)):
                return True
        return False

    def _within(self, place: CallPlace) -> Set[CallPlace]:
        """What follows in the same function of LLVM."""
        return {
            each
            for each in self.code.successors[place]
            if function_of(each[0]) == function_of(place[0])
        }

    @cached_property
    def _at_ends(self) -> dict[CallPlace, Collectives]:
        """Map each block to its collectives and those of functions called at its end."""
        by_block = {
            place: frozenset((place, kind) for kind in self._kinds_in(place))
            for place in self.code.successors
        }
        of_functions = frozenset[tuple[CallPlace, CollectiveKind]]().union(
            *(each for place, each in by_block.items() if function_of(place[0]) is not None)
        )
        for place in self.code.successors if of_functions else ():
            if len(self._within(place)) < len(self.code.successors[place]):
                by_block[place] |= {(place, kind) for _, kind in of_functions}
        return by_block

    @cached_property
    def _leading(self) -> set[CallPlace]:
        """Blocks with collectives, and those that lead to them."""
        before = predecessors_of({place: self._within(place) for place in self.code.successors})
        starts = (place for place, collectives in self._at_ends.items() if collectives)
        return reached(lambda place: before.get(place, ()), starts)

    def _edges_to_collectives(self, place: CallPlace) -> list[CallPlace]:
        """What follows, without edges that lead to no collective any more."""
        return sorted(self._within(place) & self._leading, key=_order) or [_END]

    def _between(
        self, edges: Mapping[CallPlace, list[CallPlace]], start: CallPlace, end: CallPlace
    ) -> Collectives:
        """Return the blocks on paths from ``start`` that have not come to ``end``."""
        stops = {end, _END}
        places = reached(lambda place: set(edges[place]) - stops, {start} - stops)
        return frozenset[tuple[CallPlace, CollectiveKind]]().union(
            *(self._at_ends[place] for place in places)
        )

    @cached_property
    def _masks(self) -> MaskOrigins:
        return MaskOrigins(self.code)

    def _kinds_in(self, place: CallPlace) -> Iterator[CollectiveKind]:
        for name, address in self.code.instructions([place[1:]]):
            instruction = self.code.at((name, address))
            code = self.code.code(name)
            if not is_reconvergence_point(instruction) or _is_in_front_of_barrier(
                code, code.position[address]
            ):
                continue
            if not tests_convergence(instruction) or not self._is_at_barrier(place[1:]):
                mask = self._masks.at(place, instruction)
                for mnemonic in _mnemonics(code, code.position[address]):
                    yield mnemonic, mask

    def _tests_convergence(self, block: CodePlace) -> bool:
        """Whether the block ends with such a question: its sides are one collective, written
        twice."""
        *_, last = self.code.instructions([block])
        return tests_convergence(self.code.at(last))

    def _is_at_barrier(self, block: CodePlace) -> bool:
        """Whether the block ends with a question in front of one of the ``barriers``."""
        return not self.barriers.isdisjoint(self.code.blocks[block].successors)


def _order(place: CallPlace) -> tuple[str, int, list[int]]:
    stack, function, address = place
    return function, address, [frame.resume for frame in stack]


def _with_ends(edges: Mapping[CallPlace, list[CallPlace]]) -> dict[CallPlace, list[CallPlace]]:
    """``edges``, and from the last block of each round of a loop that has no other exit the end.

    A round is what lanes have in common there: who leaves the loop calls no collective any more.
    """
    with_ends = dict(edges)
    for component in components(edges, edges.keys(), edges):
        loop = set(component)
        if all(loop.issuperset(edges[place]) for place in loop):
            last = [place for place in loop if component[0] in edges[place]]
            with_ends |= {place: [*edges[place], _END] for place in last}
    return with_ends


def _may_be_same(some: Collectives, others: Collectives) -> bool:
    """Whether one of ``some`` and another one of ``others`` may be the same collective."""
    return any(
        place != other and _are_alike(kind, other_kind)
        for place, kind in some
        for other, other_kind in others
    )


def _are_alike(one: CollectiveKind, other: CollectiveKind) -> bool:
    if one[0] != other[0] and _UNKNOWN not in (one[0], other[0]):
        return False
    return may_be_equal(one[1], other[1])


def _is_in_front_of_barrier(code: CodeSection, number: int) -> bool:
    """Whether lanes reconverge at a position for a barrier, as ptxas has it in functions.

    CUDA lets no lanes of a warp come to ``__syncthreads`` by different paths.
    """
    following = code.instructions[number + 1 : number + 2]
    return code.instructions[number].opcode == "WARPSYNC" and any(
        each.opcode == "BAR" for each in following
    )


def _mnemonics(code: CodeSection, number: int) -> Iterator[str]:
    """Mnemonics of the collectives that lanes do where the instruction at a position has them
    meet."""
    if not tests_convergence(code.instructions[number]):
        behind = collective_behind(code, number)
        yield next((each.mnemonic for each in behind if is_collective(each)), "")
        return
    start = where_apart(code, number)
    apart = [] if start is None else range(start, len(code.instructions))
    for position in apart:
        instruction = code.instructions[position]
        if instruction.opcode == "WARPSYNC":
            yield from _mnemonics(code, position)
        elif instruction.opcode == "CALL":
            yield _mnemonic_of_subroutine(code, instruction)
        elif instruction.opcode in ENDINGS and instruction.guard is None:
            return
    yield _UNKNOWN


def _mnemonic_of_subroutine(code: CodeSection, call: DecodedInstruction) -> str:
    target = call.operands[-1]
    address = code.function.labels.get(target.text) if isinstance(target, Name) else None
    if address is None:
        return _UNKNOWN
    behind = range(code.position[address], len(code.instructions))
    for position in takewhile(lambda n: code.instructions[n].opcode != "RET", behind):
        if code.instructions[position].opcode == "WARPSYNC":
            return next(_mnemonics(code, position))
    return _UNKNOWN
