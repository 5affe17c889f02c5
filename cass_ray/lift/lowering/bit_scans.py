"""ptxas' search for a set bit in two words, written as LLVM's in 64 bits.

``__clzll`` takes the upper word, or the lower one where that is zero::

    w = high != 0 ? high : low       f = FLO.U32(w), the place of the highest set bit, or -1
    n = high != 0 ? 31 - f : 63 - f

which is the number of leading zeros of both, and 64 for zero. ``__ffsll`` counts those of
``x & -x``, of which the words are ``low & -low`` and ``high & (~high + carry)``; it has one bit
set, the lowest of ``x``, or none.
"""

from __future__ import annotations

from cass_ray.lift.llvm.builder import FALSE, TRUE, IRBuilder, Value, i32, i64
from cass_ray.lift.lowering.patterns import Patterns

_TRAILING_ZEROS = "llvm.cttz.i64"
_LEADING_ZEROS = "llvm.ctlz.i32"
_ONES = i32(-1)


class BitScans(Patterns):
    """Finds the last step of a search, and shifts by what it has found."""

    def __init__(self, ir: IRBuilder) -> None:
        super().__init__(ir)
        self._lowest: dict[Value, tuple[Value, Value]] = {}
        """Results of searches for the lowest bit, and the words searched."""

    def last_step(self, condition: Value, changed: Value, before: Value) -> Value | None:
        """What ``condition ? changed : before`` is where that ends a search; else None."""
        high, is_set = self._tested(condition)
        if high is None:
            return None
        of_high, of_low = (changed, before) if is_set else (before, changed)
        place = self._below(of_high, 31)
        if place is None or place != self._below(of_low, 63):
            return None
        low = self._other_word(self._scanned(place), high)
        if low is None:
            return None
        whole = self._lowest_bit_of(low, high)
        if whole is None:
            both = self._ir.pair(low, high)
            return self._ir.cast("trunc", self._ir.call("i64", "llvm.ctlz.i64", both, FALSE), "i32")
        in_low, in_high = map(self._lowest_place, whole)
        above = self._ir.call("i32", "llvm.uadd.sat.i32", in_high, i32(32))
        place = self._ir.call("i32", "llvm.umin.i32", in_low, above)
        position = self._ir.op("sub", i32(63), place)
        self._lowest[position] = whole
        return position

    def own_zeros(self, count: Value, low: Value, high: Value) -> Value | None:
        """An amount of 64 bits, below 64, to shift ``high:low`` by in the place of ``count``.

        None where ``count`` is not the place of its own lowest bit. That is -1 where the words are
        zero: as a shift by 64 or more gives zero, and so does any shift of zero, the number of
        trailing zeros modulo 64 gives the same.
        """
        place = self._below(count, 63)
        if place is None or self._lowest.get(place) != (low, high):
            return None
        whole = self._ir.pair(low, high)
        zeros = self._ir.call("i64", _TRAILING_ZEROS, whole, FALSE)
        return self._ir.op("and", zeros, i64(63))

    def _lowest_place(self, word: Value) -> Value:
        """The place of the lowest set bit; all bits for zero, as the instruction gives it."""
        place = self._ir.call("i32", "llvm.cttz.i32", word, TRUE)
        return self._ir.select(self._ir.icmp("eq", word, i32(0)), _ONES, place)

    # The steps, from the last to the first

    def _tested(self, condition: Value) -> tuple[Value | None, bool]:
        """The word that is compared with zero, and whether ``condition`` is that it is not."""
        plain, inverted = self._uninverted(condition)
        for opcode, unequal in (("ne", True), ("eq", False)):
            word, zero = self._operands(plain, opcode) or (None, None)
            if word is not None and word.type == "i32" and zero == i32(0):
                return word, unequal != inverted
        return None, False

    def _below(self, value: Value, number: int) -> Value | None:
        """The ``x`` of which ``value`` is ``number - x``."""
        for one, other in self._either_way(value, "add"):
            if other == i32(number):
                return self._negated(one)
        return None

    def _scanned(self, place: Value) -> Value | None:
        """The word of whose highest set bit ``place`` is the place, and -1 for zero."""
        is_zero, none, some = self._operands(place, "select") or (None, None, None)
        top, zeros = self._operands(some, "sub") or (None, None)
        word, at_zero = self._operands(zeros, _LEADING_ZEROS) or (None, None)
        if word is None or (none, top, at_zero) != (_ONES, i32(31), FALSE):
            return None
        return word if self._operands(is_zero, "eq") == (word, i32(0)) else None

    def _other_word(self, word: Value | None, high: Value) -> Value | None:
        """The word that ``word`` is where ``high``, which it is else, is zero."""
        condition, changed, before = self._operands(word, "select") or (None, None, None)
        if condition is None or changed is None or before is None:
            return None
        tested, is_set = self._tested(condition)
        upper, lower = (changed, before) if is_set else (before, changed)
        return lower if tested == high == upper else None

    def _lowest_bit_of(self, low: Value, high: Value) -> tuple[Value, Value] | None:
        """The words of ``x`` where ``low`` and ``high`` are those of ``x & -x``."""
        for word, negative in self._either_way(low, "and"):
            (difference,) = self._operands(negative, "trunc") or (None,)
            if not self._is_negation(difference, word):
                continue
            for upper, rest in self._either_way(high, "and"):
                for inverse, carry in self._either_way(rest, "add"):
                    if self._is_inverse(inverse, upper) and self._carries(carry, difference):
                        return word, upper
        return None

    def _is_negation(self, value: Value | None, word: Value) -> bool:
        """Whether ``value`` is ``~word + 1`` in 64 bits, the carry with it."""
        inverse, one = self._operands(value, "add") or (None, None)
        return one == i64(1) and self._is_inverse(self._widened(inverse), word)

    def _is_inverse(self, value: Value | None, word: Value) -> bool:
        return self._operands(value, "xor") == (word, _ONES)

    def _carries(self, value: Value, total: Value | None) -> bool:
        """Whether ``value`` is 1 where the upper word of ``total`` is not zero, and 0 else."""
        upper, zero = self._operands(self._widened(value), "ugt") or (None, None)
        whole = self._high(upper)
        return zero == i32(0) and whole is not None and whole == total
