"""What is known of values beside their bits, so that several instructions become one.

Sums and comparisons of wide integers are done in halves by SASS; who remembers the low half can
write the whole. Numbers are kept beside the words that hold them.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.frontend.operands import Constant, Operand, Register
from cass_ray.lift.llvm.builder import Value


@dataclass(frozen=True)
class Term:
    """One term of a sum: a word, subtracted where ``negated``; else ``scale`` bits to the left."""

    word: Value
    negated: bool = False
    scale: int = 0
    place: Register | Constant | None = None
    """Where the word was, without modifiers; None for a literal."""


@dataclass(frozen=True)
class LowSum:
    """A sum of words whose carry something may add to the sum of the high words."""

    terms: tuple[Term, ...]
    target: Operand
    result: Value


@dataclass(frozen=True)
class LowComparison:
    """A comparison of words: SASS's condition (``LT``), unsigned, and what is compared."""

    condition: str
    left: Value
    right: Value


class FloatValues:
    """Single-precision numbers beside the words that hold their bits."""

    def __init__(self) -> None:
        self._numbers: dict[str, Value] = {}
        self._normal: set[str] = set()

    def remember(self, word: Value, number: Value) -> None:
        """``word`` has the bits of ``number``."""
        self._numbers[word.name] = number

    def number_in(self, word: Value) -> Value | None:
        """The number that ``word`` was cast from; None where it was none."""
        return self._numbers.get(word.name)

    def mark_normal(self, number: Value) -> None:
        """``number`` came from an integer: it is not denormal."""
        self._normal.add(number.name)

    def is_normal(self, number: Value) -> bool:
        """Whether ``number`` is known to be no denormal number."""
        return number.name in self._normal
