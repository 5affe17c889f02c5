"""Why the lifting of a kernel begins again: what was found in it holds for all of the kernel."""

from __future__ import annotations


class RestartLifting(Exception):
    """The kernel has to be lifted again, in another way."""


class _AboutSubroutine(RestartLifting):
    def __init__(self, callee: tuple[str, int]) -> None:
        super().__init__(callee)
        self.callee = callee


class ShareSubroutine(_AboutSubroutine):
    """A subroutine needs one copy for all its callers: it becomes a function."""


class CallByPointer(RestartLifting):
    """What calls through registers may lead to in a section of code becomes functions."""

    def __init__(self, section: str) -> None:
        super().__init__(section)
        self.section = section


class CopySubroutine(_AboutSubroutine):
    """A subroutine needs a copy for each caller: a turn of a warp ends in it."""


class DeepenStack(RestartLifting):
    """The kernel needs a stack of unknown depth."""
