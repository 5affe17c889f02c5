"""The MODE register of a wave: how it rounds and what it does with denormal numbers.

RDNA3 ISA, 3.4.2: bits 1:0 round single precision, 3:2 half and double; 5:4 keep denormal numbers
of single precision (inputs, results), 7:6 of half and double. ``s_round_mode`` sets the low four,
``s_denorm_mode`` the four above. CDNA's register is the same in these bits,
and only ``s_setreg`` sets it.
"""

from __future__ import annotations

from enum import IntEnum


class Rounding(IntEnum):
    """Values of a field of MODE.round."""

    NEAREST_EVEN = 0
    UP = 1
    DOWN = 2
    TO_ZERO = 3

    @property
    def half_and_double(self) -> int:
        """Operand of ``s_round_mode``: half and double round so, single to nearest even.

        For single precision the operand is the direction itself.
        """
        return self.value << 2


DENORMALS_KEPT = 0xF
"""Operand of ``s_denorm_mode``: no precision flushes."""

DENORMALS_FLUSHED_IN_SINGLE = 0xC
"""Operand of ``s_denorm_mode``: single precision flushes inputs and results."""

DENORMALS_MASK = 0xF0
DX10_CLAMP = 1 << 8
"""Clamping turns NaN into 0."""
IEEE = 1 << 9
"""Minimum and maximum quiet NaN."""

USUAL_MODE = DENORMALS_MASK | DX10_CLAMP | IEEE
"""Denormals kept, rounding to nearest even, DX10_CLAMP and IEEE: what compilers ask for."""


def set_rounding(mode: int, *, in_parts: bool) -> str:
    """The instruction that sets MODE.round to ``mode``; ``in_parts``: there is ``s_round_mode``."""
    return f"s_round_mode 0x{mode:x}" if in_parts else _set_bits(0, mode)


def set_denormals(mode: int, *, in_parts: bool) -> str:
    """The instruction that sets MODE.denorm to ``mode``; ``in_parts`` as for rounding."""
    return f"s_denorm_mode 0x{mode:x}" if in_parts else _set_bits(4, mode)


def _set_bits(first: int, value: int) -> str:
    return f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, {first}, 4), 0x{value:x}"
