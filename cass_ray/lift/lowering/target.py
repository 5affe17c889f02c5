"""What lifted code depends on of the AMD processor that it is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cass_ray.architectures import AMD_TARGETS, DEFAULT_AMD_ARCHITECTURE, known_instead
from cass_ray.lift.errors import LiftError
from cass_ray.lift.lowering.matrix_instructions import MATRIX_UNITS, MatrixUnit

WARP_LANES = 32
"""Every Nvidia GPU's warp has so many lanes."""
WAIT_FOR_LDS = 0xC07F
"""Operand of CDNA's ``s_waitcnt``: no operation of LDS is out (CDNA3 ISA, 4.4)."""
WAIT_FOR_ALL = 0x0070
"""The operand that waits for vector memory, too."""


@dataclass(frozen=True)
class LiftTarget:
    """An AMD processor as the lifter sees it."""

    name: str
    wave_lanes: int
    """32: a warp is a wave. 64: two warps, one after the other in the block, share a wave."""
    image_format_shift: int | None
    """Where word 1 of an image resource has the texels' format; None: no texture units."""
    sets_mode_in_parts: bool
    """Whether it has ``s_round_mode`` and ``s_denorm_mode``; else ``s_setreg`` writes MODE."""
    has_mixed_dot: bool
    """Whether one instruction multiplies signed bytes by unsigned ones."""
    matrix_unit: MatrixUnit | None = None
    cycles_of_a_tick: int | None = None
    """What a tick of the constant clock counts as where the shader's own counter is short."""
    multiplies_floats_natively: bool = False
    """Whether the matrix unit multiplies floating-point numbers too, in its own order."""

    def native_float_products(self, declarations: Iterable[str]) -> bool:
        """Whether IR with these declarations has any of those."""
        instructions = self.matrix_unit.floats.values() if self.matrix_unit else ()
        names = [f"@llvm.amdgcn.{each.intrinsic}(" for each in instructions]
        return any(name in line for line in declarations for name in names)

    @property
    def has_image_instructions(self) -> bool:
        """Whether there are texture units."""
        return self.image_format_shift is not None

    @property
    def pairs_warps(self) -> bool:
        """Whether a wave holds two warps."""
        return self.wave_lanes > WARP_LANES


# RDNA3 ISA: image resources, 10.5; SHADER_CYCLES has 20 bits. 2.4 GHz of 100 MHz.
_RDNA3 = LiftTarget("", 32, 20, sets_mode_in_parts=True, has_mixed_dot=True, cycles_of_a_tick=24)
_RDNA4 = replace(
    _RDNA3,
    image_format_shift=17,  # AMD's runtime: ROCR, image/resource_gfx12.h
    cycles_of_a_tick=None,
)
_CDNA = LiftTarget("", 64, None, sets_mode_in_parts=False, has_mixed_dot=False)

_FAMILIES = {
    "RDNA 3": _RDNA3,
    "RDNA 3.5": _RDNA3,
    "RDNA 4": _RDNA4,
    "CDNA 2": _CDNA,
    "CDNA 3": _CDNA,
}
"""Families for which lifted code has been run; without a name."""

LIFT_TARGETS = {
    target.name: replace(
        _FAMILIES[target.family], name=target.name, matrix_unit=MATRIX_UNITS[target.family]
    )
    for target in AMD_TARGETS
    if target.family in _FAMILIES
}
"""Targets by name, in the order in which they are shown."""

DEFAULT_LIFT_TARGET = LIFT_TARGETS[DEFAULT_AMD_ARCHITECTURE]


def lift_target(name: str, *, native_matrices: bool = False) -> LiftTarget:
    """The target called ``name``; ``native_matrices``: floats go to its matrix unit, too.

    Raises :class:`LiftError` for one that is not lifted to.
    """
    if name not in LIFT_TARGETS:
        raise LiftError(f"nothing is lifted to {name}: {known_instead(name, LIFT_TARGETS)}")
    return replace(LIFT_TARGETS[name], multiplies_floats_natively=native_matrices)
