"""Barriers to which the lanes of a warp may come one after the other, by several ways.

PTX's ``barrier`` without ``.aligned``: ptxas asks in front of it whether the warp is together
(``BRA.DIV``, ``BRA.CONV``), and lets its lanes reconverge where it is not.
"""

from __future__ import annotations

from collections.abc import Iterable

from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.analysis.opcodes import tests_convergence
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.operands import Name


def unaligned_barriers(codes: Iterable[CodeSection]) -> frozenset[CodePlace]:
    """Barriers in ``codes`` that are reached where such a question finds the warp together."""
    return frozenset(
        (code.name, barrier.address)
        for code in codes
        for number, instruction in enumerate(code.instructions)
        if tests_convergence(instruction)
        for position in [where_together(code, number)]
        for barrier in code.instructions[position : position + 1]
        if barrier.opcode == "BAR"
    )


def where_together(code: CodeSection, number: int) -> int:
    """The position where lanes that are together go on, of such a branch at ``number``."""
    taken = _where_taken(code, number) if code.instructions[number].has("CONV") else None
    return number + 1 if taken is None else taken


def where_apart(code: CodeSection, number: int) -> int | None:
    """The position where lanes that are apart go on; None if it is not known."""
    return _where_taken(code, number) if code.instructions[number].has("DIV") else number + 1


def _where_taken(code: CodeSection, number: int) -> int | None:
    target, labels = code.instructions[number].operands[-1], code.function.labels
    if isinstance(target, Name) and target.text in labels:
        return code.position[labels[target.text]]
    return None
