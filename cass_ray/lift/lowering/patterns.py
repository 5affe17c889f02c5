"""What values were made of: the ground of rewriting several steps of ptxas' as one of LLVM's."""

from __future__ import annotations

from cass_ray.lift.llvm.builder import TRUE, IRBuilder, Value, i32, i64

_NOTHING: tuple[Value, ...] = ()


class Patterns:
    """Looks through definitions, as far as the block shows them."""

    def __init__(self, ir: IRBuilder) -> None:
        self._ir = ir

    def _operands(self, value: Value | None, opcode: str) -> tuple[Value, ...]:
        """What ``opcode`` made ``value`` of; nothing where another did."""
        definition = self._ir.definition(value) if value is not None else None
        return (
            definition.operands
            if definition is not None and definition.opcode == opcode
            else _NOTHING
        )

    def _either_way(self, value: Value | None, opcode: str) -> list[tuple[Value, Value]]:
        """The operands of a commutative ``opcode`` in both orders; none where another was it."""
        operands = self._operands(value, opcode)
        if not operands:
            return []
        left, right = operands
        return [(left, right), (right, left)]

    def _negated(self, value: Value) -> Value | None:
        if value.name.isdecimal():
            return i32(-int(value.name))
        zero, positive = self._operands(value, "sub") or (None, None)
        return positive if zero == i32(0) else None

    def _widened(self, value: Value | None) -> Value | None:
        """The word that was extended with zeros."""
        return next(iter(self._operands(value, "zext")), None)

    def _high(self, value: Value | None) -> Value | None:
        """The 64 bits of which ``value`` is the high word."""
        (shifted,) = self._operands(value, "trunc") or (None,)
        whole, bits = self._operands(shifted, "lshr") or (None, None)
        return whole if bits == i64(32) else None

    def _uninverted(self, condition: Value) -> tuple[Value, bool]:
        """A condition without its inversion, and whether it had one."""
        opposite = self._operands(condition, "xor")
        inverted = bool(opposite) and opposite[1] == TRUE
        return (opposite[0] if inverted else condition), inverted


class Sums(Patterns):
    """Finds terms that cancel each other, which LLVM would add and take away again.

    How many elements are left for a loop is ``n + stride + ~(i + stride)`` in nvcc's code, for
    ``i + stride`` is needed elsewhere, in other loops: ``n + ~i``.
    """

    def shortened(self, terms: list[Value]) -> list[Value]:
        """Words with the sum of ``terms``: ``~b`` for ``~(a + b)`` and ``a``, modulo 2^32."""
        for place, term in enumerate(terms):
            whole, ones = self._operands(term, "xor") or (None, None)
            if ones != i32(-1):
                continue
            others = terms[:place] + terms[place + 1 :]
            for part, rest in self._either_way(whole, "add"):
                if part in others:
                    others.remove(part)
                    return [self._ir.invert(rest), *others]
        return terms
