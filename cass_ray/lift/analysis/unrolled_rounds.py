"""Quotients that are numbers of rounds of loops that nvcc has unrolled by four.

For ``for (i = first; i < n; i += stride)`` it divides in front of the loop, takes the quotient
modulo 4 for a loop of single rounds, and compares it with 3 for the one of four at a time. Loops
whose stride is no constant go over a grid, and are launched to have few rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Register

_LAST_ROUND = 3
"""Of four: the quotient is one less than the rounds are."""
_NEAR = 32
"""Instructions behind the division among which the comparison is looked for."""


def rounds_counted(code: CodeSection, run: Sequence[DecodedInstruction]) -> frozenset[str]:
    """Registers that ``run`` is the last to write before they are taken for such a number.

    If that ends a division, it is a correction, or what a division by zero gives.
    """
    written = {_plain(i.operands[0]) for i in run if i.operands} - {None}
    position = code.position[run[-1].address] + 1
    behind = code.instructions[position : position + _NEAR]
    in_block = takewhile(lambda each: each.address not in code.leaders, behind)
    return frozenset(_compared(in_block, written))


def _compared(rest: Iterable[DecodedInstruction], names: set[str | int | None]) -> Iterator[str]:
    """Those that are compared in the rest of the block, before something else is in them."""
    for i in rest:
        if i.opcode == "ISETP" and i.has("U32") and (i.has("GE") or i.has("LT")):
            left, right = map(_plain, i.operands[2:4])
            if isinstance(left, str) and left in names and right == _LAST_ROUND:
                yield left
        names = names - {_plain(each) for each in i.operands[:1]}


def _plain(operand: Operand) -> str | int | None:
    """The name of a register without modifiers, the number that a literal is; None for others."""
    if isinstance(operand, Immediate):
        return operand.integer if operand.is_bits else None
    if isinstance(operand, Register) and operand == operand.following(0):
        return operand.name
    return None
