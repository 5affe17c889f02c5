"""What the way from RDNA3 to PTX cannot do."""

from __future__ import annotations

from cass_ray.lift.errors import LiftError


class UnknownInstruction(LiftError):
    """An instruction, operand or modifier that is not in the table."""

    def __init__(self, text: str, reason: str, kernel: str = "") -> None:
        self.text = text
        self.reason = reason
        super().__init__(f"{f'{kernel}: ' if kernel else ''}{text}: {reason}")
