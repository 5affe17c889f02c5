"""What one lifting of a kernel can show to be needed for all of it: then it is lifted again."""

from __future__ import annotations


class LiftAgain(Exception):
    """The kernel has to be lifted again, otherwise."""


class _AboutSubroutine(LiftAgain):
    def __init__(self, callee: tuple[str, int]) -> None:
        super().__init__(callee)
        self.callee = callee


class ShareSubroutine(_AboutSubroutine):
    """A subroutine needs one copy for all its callers: it becomes a function."""


class CallByPointer(LiftAgain):
    """What calls through registers may lead to in a section of code becomes functions."""

    def __init__(self, section: str) -> None:
        super().__init__(section)
        self.section = section


class CopySubroutine(_AboutSubroutine):
    """A subroutine needs a copy for each caller: the turn of a warp ends in it."""


class DeepenStack(LiftAgain):
    """The kernel needs a stack of unknown depth."""
