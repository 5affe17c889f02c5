"""Basic blocks of SASS, and the runs of one guard inside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Predicate

MOST_GUARDED_RUNS = 100
"""A block has at most so many runs of one guard that become branches."""


def block_of(
    code: CodeSection, position: int, ends: Callable[[DecodedInstruction], bool]
) -> Iterator[DecodedInstruction]:
    """Instructions from ``position`` to the end of its basic block.

    ``ends``: whether an instruction is the last of one.
    """
    instructions = code.instructions
    first = instructions[position]
    yield first
    if ends(first):
        return
    rest = (instructions[n] for n in range(position + 1, len(instructions)))
    for instruction in takewhile(lambda each: each.address not in code.leaders, rest):
        yield instruction
        if ends(instruction):
            return


def with_few_branches(
    block: Iterable[DecodedInstruction], branches: Callable[[DecodedInstruction], bool]
) -> Iterator[DecodedInstruction]:
    """The block up to where it has :data:`MOST_GUARDED_RUNS`; the rest is a block of its own.

    Counted are runs of one guard with an instruction that ``branches``: functions of LLVM are cut
    between blocks (``analysis.outlining``).
    """
    guarded = 0
    before: Predicate | None = None
    is_counted = False
    for instruction in block:
        guard = instruction.guard
        is_counted = is_counted and guard == before
        if guard is not None and not is_counted and branches(instruction):
            if guarded == MOST_GUARDED_RUNS:
                return
            guarded += 1
            is_counted = True
        before = guard
        yield instruction


def runs_of(
    body: list[DecodedInstruction],
) -> Iterator[tuple[Predicate | None, list[DecodedInstruction]]]:
    """Consecutive instructions with one guard that none of them changes."""
    run: list[DecodedInstruction] = []
    for instruction in body:
        previous = run[-1] if run else None
        if previous is not None and (
            instruction.guard != previous.guard or _writes(previous, previous.guard)
        ):
            yield previous.guard, run
            run = []
        run.append(instruction)
    if run:
        yield run[-1].guard, run


def _writes(instruction: DecodedInstruction, guard: Predicate | None) -> bool:
    """Whether the instruction may change its own guard."""
    if guard is None:
        return False
    if instruction.opcode == "R2P":
        return True
    return any(
        isinstance(operand, Predicate)
        and (operand.file, operand.index) == (guard.file, guard.index)
        for operand in instruction.operands
    )
