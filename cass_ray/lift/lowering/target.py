"""What lifted code depends on of the AMD processor that it is for."""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.architectures import AMD_TARGETS, DEFAULT_AMD_ARCHITECTURE
from cass_ray.lift.errors import LiftError

WARP_LANES = 32
"""Lanes of a warp, of every Nvidia GPU."""


@dataclass(frozen=True)
class LiftTarget:
    """An AMD processor as the lifter sees it."""

    name: str
    wave_lanes: int
    """32: a warp is a wave. 64: two warps, one after the other in the block, share a wave."""
    has_image_instructions: bool
    sets_mode_in_parts: bool
    """Whether it has ``s_round_mode`` and ``s_denorm_mode``; else ``s_setreg`` writes MODE."""
    has_mixed_dot: bool
    """Whether one instruction multiplies signed bytes by unsigned ones."""

    @property
    def pairs_warps(self) -> bool:
        """Whether a wave holds two warps."""
        return self.wave_lanes > WARP_LANES


def _rdna(name: str) -> LiftTarget:
    return LiftTarget(name, 32, True, True, True)


def _cdna(name: str) -> LiftTarget:
    return LiftTarget(name, 64, False, False, False)


_FAMILIES = {"RDNA 3": _rdna, "RDNA 3.5": _rdna, "CDNA 2": _cdna, "CDNA 3": _cdna}
"""Families for which lifted code has been run."""

LIFT_TARGETS = {
    target.name: _FAMILIES[target.family](target.name)
    for target in AMD_TARGETS
    if target.family in _FAMILIES
}
"""By name, in the order in which targets are shown."""

DEFAULT_LIFT_TARGET = LIFT_TARGETS[DEFAULT_AMD_ARCHITECTURE]


def lift_target(name: str) -> LiftTarget:
    """The target called ``name``. Raises :class:`LiftError` for one that is not lifted to."""
    if name not in LIFT_TARGETS:
        raise LiftError(f"nothing is lifted to {name}: known are {', '.join(LIFT_TARGETS)}")
    return LIFT_TARGETS[name]
