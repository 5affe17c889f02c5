"""Uniform registers that instructions with a guard of each thread give to the whole warp."""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Predicate, Register

_WRITES_UNIFORM = frozenset({"R2UR", "S2UR", "REDUX", "CREDUX", "VOTEU", "ELECT"})
"""What a guard of a thread may stand before, and whose result is one for the warp."""


def uniform_results(run: list[DecodedInstruction]) -> frozenset[str]:
    """Uniform registers that instructions give to the whole warp: their first operands."""
    return frozenset(
        operand.name
        for i in run
        for operand in i.operands[:2]
        if isinstance(operand, Register | Predicate)
        and i.opcode in _WRITES_UNIFORM
        and operand.file in ("UR", "UP")
        and operand.index is not None
    )
