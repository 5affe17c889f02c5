"""Convergence barriers that functions save for those that call them.

A function saves such a barrier before it uses it (``BMOV.CLEAR``) and restores it at its end.
Where each lane has barriers of its own, lanes of one warp may be inside of the function while
others wait for them at what the barrier is for its caller: it is to be two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Operand, Register

_NAME = re.compile(r"B\d+")

BarrierOf = tuple[str, str]
"""A function, and the name of a barrier in its code."""


def is_barrier(operand: Operand) -> bool:
    """Whether it is a convergence barrier."""
    return isinstance(operand, Name) and bool(_NAME.fullmatch(operand.text))


def saved_convergence_barriers(
    kernel: str, instructions: Iterable[tuple[CodePlace, DecodedInstruction]]
) -> Mapping[BarrierOf, str]:
    """Names for those that functions use between saving and restoring them.

    None for a barrier that one but ``kernel`` uses without: its caller may have saved it for that.
    """
    addresses: dict[BarrierOf, _Addresses] = {}
    for (function, address), i in instructions:
        if i.opcode not in ("BMOV", "BSSY", "BSYNC", "BREAK"):
            continue
        for operand in i.operands:
            if isinstance(operand, Name) and is_barrier(operand):
                addresses.setdefault((function, operand.text), _Addresses()).add(i, address)
    saved = {each for each, own in addresses.items() if own.are_for_callers()}
    shared = {barrier for function, barrier in addresses.keys() - saved if function != kernel}
    functions = sorted({function for function, _ in saved})
    return {
        (function, barrier): f"{barrier}.{functions.index(function)}"
        for function, barrier in sorted(saved)
        if barrier not in shared
    }


@dataclass
class _Addresses:
    """Where a function saves a barrier, uses it and restores it."""

    saves: list[int] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)
    restores: list[int] = field(default_factory=list)

    def add(self, i: DecodedInstruction, address: int) -> None:
        """``i`` is there."""
        if i.opcode != "BMOV":
            self.uses.append(address)
        elif isinstance(i.operands[0], Register):
            self.saves.append(address)
        else:
            self.restores.append(address)

    def are_for_callers(self) -> bool:
        """Whether each use is between, so that what is saved is none of the function's own."""
        if not (self.saves and self.uses and self.restores):
            return False
        return max(self.saves) < min(self.uses) and max(self.uses) < min(self.restores)
