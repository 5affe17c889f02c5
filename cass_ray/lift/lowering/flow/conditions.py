"""What instructions that end a basic block say: when they do it, and with which modifiers."""

from __future__ import annotations

from contextlib import AbstractContextManager

from cass_ray.lift.analysis.call_places import CallPlace
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Predicate
from cass_ray.lift.llvm.builder import TRUE, Value
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.flow.walk import KernelWalk


def condition_of(context: LoweringContext, instruction: DecodedInstruction) -> Value:
    """When control goes where the instruction says: its guard and its predicate operands.

    That of a reduction over a block (``BAR.RED``) is what it counts.
    """
    condition = TRUE
    guards = [instruction.guard] if instruction.guard else []
    operands = () if instruction.opcode == "BAR" else instruction.operands
    for operand in (*guards, *operands):
        if isinstance(operand, Predicate):
            condition = context.ir.both(condition, context.predicate(operand))
    return condition


def where_taken(
    walk: KernelWalk, instruction: DecodedInstruction, following: CallPlace
) -> AbstractContextManager[None]:
    """Inside, write the block's end for where control goes as ``instruction`` says; elsewhere it
    goes on to ``following``."""
    condition = condition_of(walk.context, instruction)
    return walk.context.terminators.leaving_if(condition, lambda: walk.goto(following))


def allow_only(i: DecodedInstruction, *modifiers: str) -> None:
    """Raise for modifiers that are not among ``modifiers``."""
    for modifier in i.modifiers:
        if modifier not in modifiers:
            raise i.unknown(f"modifier {modifier}")
