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
