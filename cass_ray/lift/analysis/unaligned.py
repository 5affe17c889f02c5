"""Barriers to which the lanes of a warp may come one after the other, by several ways.

PTX's ``barrier`` without ``.aligned``: ptxas asks in front of it whether the warp is together
(``BRA.DIV``, ``BRA.CONV``), and lets its lanes meet where it is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name


def unaligned_barriers(codes: Iterable[CodeSection]) -> frozenset[CodePlace]:
    """Barriers in ``codes`` that are reached where such a question finds the warp together."""
    return frozenset(
        (code.name, found.address)
        for code in codes
        for found in _where_together(code)
        if found.opcode == "BAR"
    )


def _where_together(code: CodeSection) -> Iterator[DecodedInstruction]:
    labels = code.function.labels
    for number, instruction in enumerate(code.instructions[:-1]):
        if instruction.opcode != "BRA":
            continue
        if instruction.has("DIV"):
            yield code.instructions[number + 1]
        elif instruction.has("CONV"):
            target = instruction.operands[-1]
            if isinstance(target, Name) and target.text in labels:
                yield code.instructions[code.position[labels[target.text]]]
