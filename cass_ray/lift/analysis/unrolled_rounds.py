"""Quotients that are numbers of rounds of loops that nvcc has unrolled by four.

For ``for (i = first; i < n; i += stride)`` it divides in front of the loop, takes the quotient
modulo 4 for a loop of single rounds, and compares it with 3 for the one of four at a time. Loops
whose stride is no constant go over a grid, and are launched to have few rounds.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Register

_LAST_ROUND = 3
"""The last of four rounds; the quotient is one less than there are rounds."""
_NEAR = 32
"""Instructions behind the division among which the comparison is looked for."""


class UnrolledRounds:
    """Where one code section compares quotients with the last round: few places, found once."""

    def __init__(self, code: CodeSection) -> None:
        self._code = code
        compared = ((place, _compared(i)) for place, i in enumerate(code.instructions))
        self._compared = [(place, name) for place, name in compared if name is not None]

    def counted(self, run: Sequence[DecodedInstruction]) -> frozenset[str]:
        """Registers that ``run`` is the last to write before they are taken for such a number.

        If that ends a division, it is a correction, or what a division by zero gives.
        """
        if not self._compared:
            return frozenset()
        begin = self._code.position[run[-1].address] + 1
        first, end = (bisect(self._compared, (place, "")) for place in (begin, begin + _NEAR))
        near = self._compared[first:end]
        written = {_plain(i.operands[0]) for i in run if i.operands}
        counters = (
            (name, self._keeps(name, begin, place)) for place, name in near if name in written
        )
        return frozenset(name for name, is_kept in counters if is_kept)

    def _keeps(self, name: str, begin: int, end: int) -> bool:
        """Whether the instructions from ``begin`` to ``end`` are of one block, with ``name``
        written by none before the last."""
        passed = self._code.instructions[begin : end + 1]
        if any(i.address in self._code.leaders for i in passed):
            return False
        return not any(_plain(i.operands[0]) == name for i in passed[:-1] if i.operands)


def _compared(i: DecodedInstruction) -> str | None:
    """The register that ``i`` compares with the last round."""
    if i.opcode != "ISETP" or not i.has("U32") or not (i.has("GE") or i.has("LT")):
        return None
    left, right = map(_plain, i.operands[2:4])
    return left if isinstance(left, str) and right == _LAST_ROUND else None


def _plain(operand: Operand) -> str | int | None:
    """The name of a register without modifiers, the number that a literal is; None for others."""
    if isinstance(operand, Immediate):
        return operand.integer if operand.is_bits else None
    if isinstance(operand, Register) and operand == operand.following(0):
        return operand.name
    return None
