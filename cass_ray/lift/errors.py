"""What lifting raises."""

from __future__ import annotations


class LiftError(Exception):
    """A cubin or kernel that cannot be lifted; the message says which and why."""


class UnknownForm(LiftError):
    """An instruction whose form is not in the table; nothing is guessed about it."""

    def __init__(self, text: str, reason: str, kernel: str = "", address: int = 0) -> None:
        self.text = text
        self.reason = reason
        self.kernel = kernel
        self.address = address
        place = f"{kernel} at {address:#06x}: " if kernel else ""
        super().__init__(f"{place}{text}: {reason}")

    def at(self, kernel: str, address: int) -> UnknownForm:
        """The same error with its place."""
        return UnknownForm(self.text, self.reason, kernel, address)
