"""What the disassembler is asked: a format, an opcode number and the instruction's words."""

from __future__ import annotations

Form = tuple[str, int, tuple[int, ...]]


def pair(low: int, high: int) -> tuple[int, int]:
    """Two words of 32 bits."""
    return (low & 0xFFFFFFFF, high & 0xFFFFFFFF)
