"""What one lifting of a kernel can show to be needed for all of it: then it is lifted again."""

from __future__ import annotations


class LiftAgain(Exception):
    """The kernel has to be lifted again, otherwise."""


class ShareSubroutines(LiftAgain):
    """Subroutines need one copy for all their callers: they become functions."""

    def __init__(self, *callees: tuple[str, int]) -> None:
        super().__init__(callees)
        self.callees = callees


class CopySubroutines(LiftAgain):
    """Subroutines need a copy for each caller: the turn of a warp ends in them."""

    def __init__(self, *callees: tuple[str, int]) -> None:
        super().__init__(callees)
        self.callees = callees


class DeepenStack(LiftAgain):
    """The kernel needs a stack of unknown depth."""
