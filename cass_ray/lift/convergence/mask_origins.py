"""Where the mask of a collective comes from: a literal, or a vote or match that made it.

Lanes that were told apart by two votes do no collective together; of other masks nothing is known
before a kernel runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cass_ray.lift.analysis.kernel_graph import CallPlace, KernelGraph, function_of
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Register
from cass_ray.lift.graphs import predecessors_of

Origins = frozenset[CodePlace | int]
"""Places of votes and matches, and literals."""

_ALL = 0xFFFFFFFF
_MAKE_MASKS = frozenset({"VOTE", "VOTEU", "MATCH"})
_COPIES = frozenset({"MOV", "UMOV", "R2UR", "IMAD.MOV", "IMAD.MOV.U32", "IMAD.U32"})


def may_be_equal(one: Origins | None, other: Origins | None) -> bool:
    """Whether masks of these origins may be the same; None: of any."""
    if one is None or other is None:
        return True
    return any(type(left) is not type(right) or left == right for left in one for right in other)


@dataclass(frozen=True)
class MaskOrigins:
    """Origins of masks in the blocks of a kernel."""

    code: KernelGraph

    def at(self, block: CallPlace, instruction: DecodedInstruction) -> Origins | None:
        """Origins of the mask that an instruction of ``block`` names; None if not all are known."""
        if instruction.guard is not None or not instruction.operands:
            return None
        if instruction.opcode == "WARPSYNC" and instruction.has("ALL"):
            return frozenset({_ALL})
        mask = instruction.operands[0]
        if isinstance(mask, Register) and mask.is_zero:
            return frozenset({_ALL if mask.inverted else 0})
        return self._of_operand(block, instruction.address, mask)

    def _of_operand(self, block: CallPlace, address: int, operand: Operand) -> Origins | None:
        origins = set[CodePlace | int]()
        pending: list[tuple[CallPlace, int | None, Operand]] = [(block, address, operand)]
        seen = set[tuple[CallPlace, int | None, str]]()
        while pending:
            place, before, source = pending.pop()
            if isinstance(source, Immediate):
                origins.add(source.integer)
                continue
            if not isinstance(source, Register) or source != source.following(0) or source.is_zero:
                return None
            if (place, before, source.name) in seen:
                continue
            seen.add((place, before, source.name))
            writer = self._writer(place, before, source.name)
            if writer is None:
                previous = self._before(place)
                if not previous:
                    return None
                pending += [(each, None, source) for each in previous]
                continue
            written = self.code.at(writer)
            if written.guard is not None:
                return None
            if written.opcode in _MAKE_MASKS:
                origins.add(writer)
            elif (copied := _copied(written)) is not None:
                pending.append((place, written.address, copied))
            else:
                return None
        return frozenset(origins)

    def _writer(self, block: CallPlace, before: int | None, name: str) -> CodePlace | None:
        """The last instruction of a block, in front of an address in it, that writes a register."""
        for place, access in reversed(self.code.blocks[block[1:]].accesses):
            if (before is None or place[1] < before) and name in access.writes:
                return place
        return None

    def _before(self, block: CallPlace) -> list[CallPlace]:
        """The blocks from which lanes come to one; none where one of these is not known."""
        blocks = self._previous.get(block, [])
        if block[1:] == self.code.entry or any(self._calls(each) for each in blocks):
            return []
        return blocks

    def _calls(self, block: CallPlace) -> bool:
        """Whether it ends with a call of a function that is one for many callers, or in one."""
        return any(
            function_of(each[0]) != function_of(block[0]) for each in self.code.successors[block]
        )

    @cached_property
    def _previous(self) -> dict[CallPlace, list[CallPlace]]:
        return predecessors_of(self.code.successors)


def _copied(i: DecodedInstruction) -> Operand | None:
    """What ``i`` copies, if it does nothing else."""
    *others, source = i.operands
    if i.mnemonic not in _COPIES or not all(
        isinstance(each, Register) and each.is_zero for each in others[1:]
    ):
        return None
    return source
