"""Where the lanes of a warp call collectives in groups: those of one mask among themselves.

CUDA lets lanes call ``__ballot_sync`` and its like together with different masks, each of which
names lanes that have it: ``__match_any_sync`` makes such masks, tiles of cooperative groups have
them. ptxas writes ``WARPSYNC`` with a register, behind which the lanes of each mask go on by
themselves. Where it may be that all have one mask, it asks first: ``R2UR P, UR, R`` and
``@!P BRA.DIV``, which is taken where the guard fails in some lane. Shuffles are not concerned: a
lane names the lane from which it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from cass_ray.lift.analysis.opcodes import tests_convergence
from cass_ray.lift.convergence.unaligned import where_together
from cass_ray.lift.frontend.code import BRANCHES, CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Register

_OF_ALL_LANES = frozenset({"VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "ELECT"})
"""Collectives whose results are of all lanes that are there."""
_MEMBERS = _OF_ALL_LANES | {"R2UR"}
_ENDS = BRANCHES | {"RET", "EXIT", "KILL", "BSYNC", "WARPSYNC", "ENDCOLLECTIVE", "BAR"}
"""Where lanes may diverge, or reconverge."""


@dataclass(frozen=True)
class MaskGroups:
    """Addresses of instructions in one section of code."""

    starts: frozenset[int]
    """``WARPSYNC``: the lanes of its mask are a group behind it."""
    members: frozenset[int]
    """What such lanes do among themselves."""
    convergence_tests: frozenset[int]
    """Branches that are taken, or not, as lanes that call the collective then have one mask."""


def mask_groups(code: CodeSection) -> MaskGroups:
    """Where lanes with different masks may come together to one collective in ``code``."""
    starts, members, convergence_tests = set[int](), set[int](), set[int]()
    targets = {
        code.function.labels[name.text]
        for i in code.instructions
        if i.opcode == "BRA"
        for name in i.operands[-1:]
        if isinstance(name, Name) and name.text in code.function.labels
    }
    for number, i in enumerate(code.instructions):
        if i.opcode == "WARPSYNC" and i.operands and isinstance(i.operands[0], Register):
            behind = list(
                takewhile(lambda each: each.address not in targets, straight_on(code, number + 1))
            )
            if any(each.opcode in _OF_ALL_LANES for each in behind):
                starts.add(i.address)
                members.update(each.address for each in behind if each.opcode in _MEMBERS)
        elif tests_convergence(i) and i.guard is not None:
            first = next(
                filter(is_collective, straight_on(code, where_together(code, number))), None
            )
            if first is not None and first.opcode != "SHFL":
                convergence_tests.add(i.address)
    return MaskGroups(frozenset(starts), frozenset(members), frozenset(convergence_tests))


def is_collective(i: DecodedInstruction) -> bool:
    """Whether lanes give each other something by ``i``."""
    return i.opcode == "SHFL" or i.opcode in _OF_ALL_LANES


def straight_on(code: CodeSection, number: int) -> Iterator[DecodedInstruction]:
    """Instructions from a position up to one of :data:`_ENDS`."""
    rest = map(code.instructions.__getitem__, range(number, len(code.instructions)))
    return takewhile(lambda i: i.opcode not in _ENDS, rest)
