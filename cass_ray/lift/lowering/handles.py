"""Handles of textures and surfaces: SASS moves their low words, HIP's are whole addresses.

What is next to a low word in memory is its high word; it follows the low one through registers,
selections and constant banks, in kernels that use handles at all.
"""

from __future__ import annotations

from cass_ray.lift.llvm.builder import IRBuilder, Value


class HandleWords:
    """Which word belongs above a word of 32 bits."""

    def __init__(self, ir: IRBuilder, *, tracked: bool) -> None:
        self._ir = ir
        self.tracked = tracked
        """Whether the kernel uses handles: else registers need not remember high words."""
        self._above: dict[str, Value] = {}

    def above(self, word: Value) -> Value | None:
        """The high half of the handle of which ``word`` is the low one; None where unknown."""
        return self._above.get(word.name)

    def set_above(self, word: Value, above: Value) -> None:
        """Remember the high half that goes with ``word``."""
        self._above[word.name] = above

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """``condition ? yes : no``, of the high halves too where both are known."""
        chosen = self._ir.select(condition, yes, no)
        above_yes, above_no = self.above(yes), self.above(no)
        if above_yes is not None and above_no is not None and chosen not in (yes, no):
            self.set_above(chosen, self._ir.select(condition, above_yes, above_no))
        return chosen
