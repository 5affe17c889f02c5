"""Places of a kernel with the calls that are active there: a block of SASS once for each caller."""

from __future__ import annotations

from dataclasses import dataclass

FUNCTION = -1
"""Instead of where a call returns to, for subroutines of one copy."""


@dataclass(frozen=True, slots=True)
class CallFrame:
    """An active call: the code that is called, and where it returns to."""

    callee: tuple[str, int]
    caller: str
    resume: int
    """Address of the instruction after the call; :data:`FUNCTION` in one with many callers."""


CallStack = tuple[CallFrame, ...]
CallPlace = tuple[CallStack, str, int]

TOGETHER: CallStack = (CallFrame(("", 0), "", FUNCTION - 1),)
"""The stack of a collective that is lowered once for all calls, where lanes are scheduled
independently."""


def function_of(stack: CallStack) -> tuple[str, int] | None:
    """The function of LLVM that what is called so belongs to."""
    return stack[0].callee if stack and stack[0].resume == FUNCTION else None
