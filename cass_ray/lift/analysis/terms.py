"""What registers hold, as terms over what they held before: one spelling for each.

Copies, the order of instructions and of factors, sums of sums, comparisons and their opposites make
no difference. A term is a number here; its digest is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256

_SYMMETRIC = frozenset({"FADD", "FMUL", "DADD", "DMUL", "EQ", "NE", "NUM", "mnmx", "both"})
"""Operators whose operands may be swapped."""
_PRODUCTS = frozenset({"FFMA", "DFMA", "IMAD"})
"""Operations whose first two operands may be exchanged."""
_SIGNED_PRODUCTS = frozenset({"FFMA", "DFMA", "FMUL", "DMUL"})
_WORDS = 1 << 32


def _kind(operator: str) -> str:
    return operator.partition(" ")[0].partition(".")[0]


class Terms:
    """Makes terms. An operator is a word; what belongs to it follows after a dot or a blank."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        self._nodes: list[tuple[str, tuple[int, ...]]] = []
        self._digests: list[bytes] = []
        self._depths: list[int] = []

    # Reading

    def operator(self, term: int) -> str:
        """The operator without what belongs to it."""
        return _kind(self._nodes[term][0])

    def operands(self, term: int) -> tuple[int, ...]:
        return self._nodes[term][1]

    def digest(self, term: int) -> bytes:
        """The same for the same term, in every run."""
        return self._digests[term]

    def depth(self, term: int) -> int:
        """Depth of the tree that a term is; a leaf has 1."""
        return self._depths[term]

    def name(self, term: int) -> str:
        """What a leaf is called; empty for other terms."""
        operator, _ = self._nodes[term]
        return operator[5:] if operator.startswith("leaf ") else ""

    def number(self, term: int) -> int | None:
        """The word that a constant is."""
        operator, _ = self._nodes[term]
        return int(operator[6:]) if operator.startswith("const ") else None

    # Making

    def leaf(self, name: str) -> int:
        """Something of which nothing is known but its name."""
        return self._node(f"leaf {name}")

    def const(self, number: int) -> int:
        return self._node(f"const {number % _WORDS}")

    def make(self, operator: str, *operands: int) -> int:
        """What ``operator`` makes of ``operands``, in the one spelling."""
        kind = _kind(operator)
        special = _SPECIAL.get(kind)
        if special is not None:
            return special(self, operator, operands)
        if kind in _SIGNED_PRODUCTS:
            operator, operands = self._unsigned(operator, operands)
        if kind in _SYMMETRIC:
            operands = self._sorted(operands)
        elif kind in _PRODUCTS:
            operands = (*self._sorted(operands[:2]), *operands[2:])
        return self._node(operator, *operands)

    def renamed(self, term: int, names: dict[int, int], depth: int = 48) -> int:
        """``term`` with those that are in ``names`` replaced; the others it has are added there.

        What lies deeper than ``depth`` is a leaf that is like no other.
        """
        earlier = names.get(term)
        if earlier is not None:
            return earlier
        operator, operands = self._nodes[term]
        if depth == 0:
            return self.leaf(f"deep {term}")
        inner = [self.renamed(each, names, depth - 1) for each in operands]
        new = names[term] = self.make(operator, *inner) if operands else term
        return new

    def _node(self, operator: str, *operands: int) -> int:
        key = operator, operands
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
            text = b"".join((operator.encode(), b"\0", *map(self.digest, operands)))
            self._digests.append(sha256(text).digest())
            self._depths.append(1 + max((self._depths[each] for each in operands), default=0))
        return number

    def _sorted(self, operands: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(operands, key=self.digest))

    # Operators with rules of their own

    def _unsigned(self, operator: str, operands: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """A product of numbers without their signs, and its own sign with the operator."""
        plain = [
            self.operands(each)[0] if self.operator(each) == "neg" else each
            for each in operands[:2]
        ]
        signs = sum(one != other for one, other in zip(plain, operands, strict=False))
        if signs % 2:
            operator = operator.removesuffix(" -") if operator.endswith(" -") else f"{operator} -"
        return operator, (*plain, *operands[2:])

    def _sum(self, operator: str, operands: tuple[int, ...]) -> int:
        """A sum of words: those of its sums, and one constant."""
        constant = int(operator.partition(" ")[2] or 0)
        summands: list[int] = []
        pending = [(each, 1) for each in operands]
        while pending:
            term, sign = pending.pop()
            number = self.number(term)
            if number is not None:
                constant += sign * number
            elif self.operator(term) == "neg":
                pending.append((self.operands(term)[0], -sign))
            elif self.operator(term) == "sum":
                constant += sign * int(self._nodes[term][0][4:])
                pending += [(each, sign) for each in self.operands(term)]
            else:
                summands.append(term if sign > 0 else self._node("neg", term))
        constant %= _WORDS
        if not summands:
            return self.const(constant)
        if len(summands) == 1 and constant == 0 and self.operator(summands[0]) != "neg":
            return summands[0]
        return self._node(f"sum {constant}", *self._sorted(summands))

    def _truth(self, operator: str, operands: tuple[int, ...]) -> int:
        """A function of each bit, by the table whose index has the last operand's bit lowest."""
        table = int(operator.partition(" ")[2])
        inputs = self._sorted(each for each in dict.fromkeys(operands) if self.number(each) != 0)

        def holds(set_inputs: int) -> int:
            bits = {each: set_inputs >> n & 1 for n, each in enumerate(inputs)}
            index = 0
            for each in operands:
                index = index << 1 | bits.get(each, 0)
            return table >> index & 1

        rows = range(1 << len(inputs))
        for n, each in enumerate(inputs):
            if all(holds(row) == holds(row ^ 1 << n) for row in rows):  # it does not matter
                others = (self.const(0) if one == each else one for one in operands)
                return self._truth(operator, tuple(others))
        if all(holds(row) == row.bit_count() % 2 for row in rows):
            return self._parity("parity", inputs)
        changed = sum(holds(row) << row for row in rows)
        return self._node(f"truth {changed}", *inputs) if inputs else self.const(-changed)

    def _parity(self, _: str, operands: tuple[int, ...]) -> int:
        """The exclusive disjunction of words; what is there twice is not. Three swap registers."""
        odd: set[int] = set()
        for each in operands:
            odd ^= set(self.operands(each)) if self.operator(each) == "parity" else {each}
        if len(odd) < 2:
            return odd.pop() if odd else self.const(0)
        return self._node("parity", *self._sorted(odd))

    def _carry(self, operator: str, operands: tuple[int, ...]) -> int:
        return self._node(operator, *self._sorted(x for x in operands if self.number(x) != 0))

    def _pair(self, operator: str, operands: tuple[int, ...]) -> int:
        low, high = operands
        if self.operator(low) == "lo" and self.operator(high) == "hi":
            (whole,) = self.operands(low)
            if self.operands(high) == (whole,):
                return whole
        return self._node(operator, low, high)

    def _half(self, operator: str, operands: tuple[int, ...]) -> int:
        (whole,) = operands
        if self.operator(whole) == "pair":
            return self.operands(whole)[operator == "hi"]
        return self._node(operator, whole)

    def _opposite(self, operator: str, operands: tuple[int, ...]) -> int:
        (condition,) = operands
        if self.operator(condition) == "not":
            return self.operands(condition)[0]
        return self._node(operator, condition)


_SPECIAL: dict[str, Callable[[Terms, str, tuple[int, ...]], int]] = {
    "sum": Terms._sum,
    "truth": Terms._truth,
    "parity": Terms._parity,
    "carry": Terms._carry,
    "pair": Terms._pair,
    "lo": Terms._half,
    "hi": Terms._half,
    "not": Terms._opposite,
}
"""How operators are made that have rules of their own."""
