"""Loops in which arrays are in registers, and their indices are counted.

No instruction of SASS takes the number of a register from a register. ptxas compares the index of a
small array with the number of each element, and moves where they are equal::

    LOP3.LUT R34, R35, 0x3c, RZ, 0xc0, !PT
    ISETP.EQ.AND P2, PT, R34, RZ, PT        @P2 IMAD.MOV.U32 R42, RZ, RZ, R10
    ISETP.EQ.AND P4, PT, R34, 0x4, PT       @P4 IMAD.MOV.U32 R42, RZ, RZ, R12  ...

In a loop with a known number of rounds, whose counter gives the index, each copy of the body needs
one of these moves and no comparison. So LLVM is asked to unroll such loops; it does so as far as it
finds that number, and what it writes is right in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace, RegisterAccess
from cass_ray.lift.analysis.loops import loops
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Predicate, Register

_FEWEST_CHOICES = 8
"""Moves by an index from which on unrolling pays: one access to an array of eight."""
_LONGEST = 2048
"""Instructions of a loop; of a longer one LLVM would make no copies."""
_COUNTING = frozenset({"IADD", "IADD3", "IMAD", "LEA", "LOP3", "MOV", "SHF", "VIADD"})
"""Opcodes whose results follow from the loop's counter, where their operands do."""


@dataclass(frozen=True)
class _Step:
    """One instruction of a loop, in the order of addresses."""

    instruction: DecodedInstruction
    access: RegisterAccess


def loops_to_unroll(graph: KernelGraph) -> frozenset[CodePlace]:
    """The branches back to the beginnings of such loops."""
    branches: set[CodePlace] = set()
    blocks, every = graph.blocks, graph.get(loops)
    for header, loop in every:
        accesses = [each for place in sorted(loop) for each in blocks[place].accesses]
        if len(accesses) > _LONGEST or any(other < loop for _, other in every):
            continue
        body = [_Step(graph.at(place), access) for place, access in accesses]
        counted = (index for index in _choices(body) if _is_counted(body, *index))
        if sum(1 for _ in islice(counted, _FEWEST_CHOICES)) == _FEWEST_CHOICES:
            latches = [place for place in loop if header in blocks[place].successors]
            branches.update(blocks[place].accesses[-1][0] for place in latches)
    return frozenset(branches)


def _choices(body: list[_Step]) -> Iterator[tuple[int, str]]:
    """Map each move that an index decides about to where it is compared, and its register."""
    compared: dict[str, tuple[int, str, bool]] = {}
    for number, step in enumerate(body):
        condition = _condition(step.instruction)
        if condition is not None and condition.name in compared:
            place, index, equal = compared[condition.name]
            if equal != condition.inverted:
                yield place, index
        for name in step.access.writes:
            compared.pop(name, None)
        i = step.instruction
        if i.opcode == "ISETP" and i.guard is None and (i.has("EQ") or i.has("NE")):
            target, index_register, element = i.operands[0], i.operands[2], i.operands[3]
            is_number = isinstance(element, Immediate) or (
                isinstance(element, Register) and element.is_zero
            )
            if isinstance(index_register, Register) and isinstance(target, Predicate) and is_number:
                compared[target.name] = number, index_register.name, i.has("EQ")


def _condition(i: DecodedInstruction) -> Predicate | None:
    """What a move or a selection depends on."""
    if i.opcode == "MOV" or (i.opcode == "IMAD" and i.has("MOV")):
        return i.guard
    last = i.operands[-1] if i.opcode in ("SEL", "FSEL") else None
    return last if isinstance(last, Predicate) else None


def _is_counted(body: list[_Step], place: int, register: str) -> bool:
    """Whether what instruction ``place`` reads of ``register`` follows from the loop's counter."""
    pending = [(place, register)]
    seen = set(pending)
    changes = False
    while pending:
        for writer in _writers(body, *pending.pop()):
            step = body[writer]
            if step.instruction.opcode not in _COUNTING:
                return False
            changes = True
            sources = {(writer, name) for name in step.access.reads} - seen
            seen |= sources
            pending += sources
    return changes


def _writers(body: list[_Step], place: int, register: str) -> Iterator[int]:
    """The instructions in the loop whose result ``place`` may read in ``register``.

    Those in front of it, then those of the round before; branches inside count as never taken.
    """
    for number in (*range(place - 1, -1, -1), *range(len(body) - 1, place - 1, -1)):
        if register in body[number].access.writes:
            yield number
            if body[number].access.guard is None:
                return
