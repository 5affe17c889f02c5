"""Errors that end a command with exit code 3."""

from __future__ import annotations


class ToolMissing(RuntimeError):
    """A program, header or library that the work needs is not on this machine.

    ``tool`` names it; ``remedy`` says what to install. ``str()`` holds both.
    """

    def __init__(self, tool: str, remedy: str, tried: str = "") -> None:
        self.tool = tool
        self.remedy = remedy
        self.tried = tried
        details = f"\nTried: {tried}" if tried else ""
        super().__init__(f"{tool} is missing. {remedy}{details}")

    def __reduce__(self) -> tuple[type[ToolMissing], tuple[str, str, str]]:
        """Pickle by the constructor's arguments: errors travel between processes."""
        return type(self), (self.tool, self.remedy, self.tried)
