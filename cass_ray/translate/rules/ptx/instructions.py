"""What PTX instructions compute, as C++ that compiles for AMD.

The subset is what people write in ``asm`` statements: integer and floating-point arithmetic, bit
fields, carries, special registers, loads and stores with cache hints, atomics, fences, warp
functions, conversions, scalar video instructions, synchronous copies and products of matrix
fragments. Semantics follow the PTX ISA 8.5 manual.
"""

from __future__ import annotations

from cass_ray.translate.rules.ptx import (
    arithmetic,
    comparisons,
    fragments,
    halves,
    memory,
    numeric,
    video,
)
from cass_ray.translate.rules.ptx.registers import RegisterState, UnknownInstructionError

_GROUPS = (arithmetic, comparisons, numeric, memory, fragments, video)
HANDLERS = {name: each for group in _GROUPS for name, each in group.HANDLERS.items()}
"""Instruction -> its translation."""


def translate_instruction(state: RegisterState, opcode: str, operands: list[str]) -> str:
    """The C++ statement of one instruction.

    Raises:
        UnknownInstructionError: it is outside the subset.
    """
    name, *modifiers = opcode.split(".")
    of_halves = bool(modifiers) and modifiers[-1] in halves.REGISTERS
    handler = (halves.HANDLERS.get(name) if of_halves else None) or HANDLERS.get(name)
    if handler is None:
        raise UnknownInstructionError(f"the instruction {opcode}")
    try:
        return handler(state, modifiers, operands)
    except (KeyError, IndexError, ValueError) as error:
        raise UnknownInstructionError(f"the instruction {opcode}") from error
