"""Sums of words with terms that cancel each other, which LLVM would add and take away again.

How many elements are left for a loop is ``n + stride + ~(i + stride)`` in nvcc's code, for
``i + stride`` is needed elsewhere, in other loops: ``n + ~i``.
"""

from __future__ import annotations

from cass_ray.lift.llvm.builder import Value, i32
from cass_ray.lift.lowering.patterns import Patterns

_ALL_ONES = i32(-1)


class Sums(Patterns):
    """Finds such terms, as far as the block shows them."""

    def shortened(self, terms: list[Value]) -> list[Value]:
        """Words with the sum of ``terms``: ``~b`` for ``~(a + b)`` and ``a``, modulo 2^32."""
        for place, term in enumerate(terms):
            whole, ones = self._operands(term, "xor") or (None, None)
            if ones != _ALL_ONES:
                continue
            others = terms[:place] + terms[place + 1 :]
            for part, rest in self._either_way(whole, "add"):
                if part in others:
                    others.remove(part)
                    return [self._ir.invert(rest), *others]
        return terms
