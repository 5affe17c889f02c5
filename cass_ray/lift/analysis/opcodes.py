"""What analyses ask of single instructions."""

from __future__ import annotations

from collections.abc import Iterable

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Immediate, Operand, Predicate, Register

MATRIX_OPCODES = frozenset({"HGMMA", "QGMMA", "IGMMA", "BGMMA"})
"""Matrix products of four warps together."""
_WRITES_UNIFORM = frozenset({"R2UR", "S2UR", "REDUX", "CREDUX", "VOTEU", "ELECT"})
"""Instructions that a thread's predicate may guard, with one result for the whole warp."""


def uses_words(i: DecodedInstruction) -> bool:
    """Whether it arrives at a barrier whose phase is tested by loads of shared memory."""
    return (i.opcode == "ATOMS" and i.has("ARRIVE")) or i.opcode == "ARRIVES"


def tests_phase(i: DecodedInstruction) -> bool:
    """Whether it asks if a phase is over."""
    return i.opcode == "SYNCS" and i.has("PHASECHK")


def tests_convergence(i: DecodedInstruction) -> bool:
    """Whether it is a branch on whether the lanes of a warp are converged."""
    return i.opcode == "BRA" and (i.has("DIV") or i.has("CONV"))


def is_reconvergence_point(i: DecodedInstruction) -> bool:
    """Whether the lanes of a mask reconverge there: at a ``WARPSYNC``, or behind a test of
    convergence, in the code for lanes that are apart, which without a lane schedule no path comes
    to."""
    return i.opcode == "WARPSYNC" or tests_convergence(i)


def is_convergence_point(i: DecodedInstruction) -> bool:
    """Whether lanes of a warp, or all threads of a block, come together there."""
    return is_reconvergence_point(i) or i.opcode in ("BAR", "WARPGROUP", "UCGABAR_WAIT")


def yields(i: DecodedInstruction) -> bool:
    """Whether it lets the other lanes of its warp go on."""
    return i.opcode in ("YIELD", "NANOSLEEP")


def counts_threads(i: DecodedInstruction) -> bool:
    """Whether it is a barrier of as many threads as an operand says, or of four warps."""
    if i.opcode == "WARPGROUP":
        return i.has("DEPBAR")
    return i.opcode == "BAR" and (i.has("ARV") or len(barrier_numbers(i)) > 1)


def numbers_without_counts(instructions: Iterable[DecodedInstruction]) -> frozenset[int | None]:
    """Numbers of the barriers at which all threads of the block meet; None: one in a register."""
    return frozenset(
        number.integer if isinstance(number, Immediate) else None
        for i in instructions
        if i.opcode == "BAR" and not counts_threads(i)
        for number in barrier_numbers(i)
    )


def barrier_numbers(i: DecodedInstruction) -> list[Operand]:
    """A barrier's number and, if it has one, its count; the condition of a reduction is left
    out."""
    return [operand for operand in i.operands if not isinstance(operand, Predicate)]


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
