"""What a verification came to: four grades, from evidence to its opposite."""

from __future__ import annotations

from enum import StrEnum


class Grade(StrEnum):
    """How much is known of a port."""

    VERIFIED = "verified"
    """It agrees with a reference that no translation of ours made, on every input, and goes on
    agreeing when inputs, results or device memory are changed on both sides."""
    AGREES = "agrees, independence not shown"
    """Outputs agree; that they come from the port's kernels is not shown, chance decides them, or
    the reference is a translation."""
    CANNOT_TELL = "cannot tell"
    """There is no reference, nothing was launched, or nothing that is printed or copied back
    depends on the device."""
    DIFFERS = "differs"
    """Outputs or data differ, the port does not run, or a finding says that it only looks right."""
