"""z3 terms evaluated on numbers, for many threads at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from tests.lift.proofs import terms

Lanes = Sequence[int]
"""A number of each thread; a bit vector is not negative, a Boolean is 0 or 1."""


class NotEvaluated(Exception):
    """The term has an operation that is not known here, or a variable without a value."""


def evaluate(term: Any, values: Mapping[str, Lanes], count: int) -> Lanes:
    """The term in each of ``count`` threads, given its variables."""
    known: dict[int, Lanes] = {}
    for node in _children_first(term):
        known[node.get_id()] = _node(node, known, values, count)
    return known[term.get_id()]


def _children_first(term: Any) -> list[Any]:
    order: list[Any] = []
    seen: set[int] = set()
    pending = [(term, False)]
    while pending:
        node, ready = pending.pop()
        if ready:
            order.append(node)
        elif node.get_id() not in seen:
            seen.add(node.get_id())
            pending.append((node, True))
            pending += [(child, False) for child in node.children()]
    return order


def _node(node: Any, known: Mapping[int, Lanes], values: Mapping[str, Lanes], count: int) -> Lanes:
    kind = node.decl().kind()
    if z3.is_bv_value(node):
        return [node.as_long()] * count
    if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
        return [int(kind == z3.Z3_OP_TRUE)] * count
    if kind == z3.Z3_OP_UNINTERPRETED and not node.children():
        name = node.decl().name()
        if name not in values:
            raise NotEvaluated(name)
        return values[name]
    given = [known[child.get_id()] for child in node.children()]
    widths = [child.size() if z3.is_bv(child) else 1 for child in node.children()]
    mask = (1 << node.size()) - 1 if z3.is_bv(node) else 1
    if kind == z3.Z3_OP_EXTRACT:
        low = node.params()[1]
        return [value >> low & mask for value in given[0]]
    if kind == z3.Z3_OP_SIGN_EXT:
        return [_signed(value, widths[0]) & mask for value in given[0]]
    if kind == z3.Z3_OP_ZERO_EXT:
        return given[0]
    if kind == z3.Z3_OP_CONCAT:
        return [_joined(parts, widths) for parts in zip(*given, strict=True)]
    if kind == z3.Z3_OP_ITE:
        return [yes if condition else no for condition, yes, no in zip(*given, strict=True)]
    if kind == z3.Z3_OP_UNINTERPRETED and node.decl().name().startswith(terms.NAME):
        kind = z3.Z3_OP_BMUL
    if kind in _FOLDS:
        first, *others = given
        for other in others:
            first = [_FOLDS[kind](a, b) & mask for a, b in zip(first, other, strict=True)]
        return first
    if kind in _WITH_WIDTH:
        make = _WITH_WIDTH[kind]
        return [make(widths[0], *parts) & mask for parts in zip(*given, strict=True)]
    raise NotEvaluated(node.decl().name())


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 else value


def _joined(parts: Sequence[int], widths: Sequence[int]) -> int:
    result = 0
    for part, width in zip(parts, widths, strict=True):
        result = result << width | part
    return result


_FOLDS: dict[int, Callable[[int, int], int]] = {
    z3.Z3_OP_BADD: lambda a, b: a + b,
    z3.Z3_OP_BMUL: lambda a, b: a * b,
    z3.Z3_OP_BAND: lambda a, b: a & b,
    z3.Z3_OP_BOR: lambda a, b: a | b,
    z3.Z3_OP_BXOR: lambda a, b: a ^ b,
    z3.Z3_OP_AND: lambda a, b: a & b,
    z3.Z3_OP_OR: lambda a, b: a | b,
    z3.Z3_OP_XOR: lambda a, b: a ^ b,
    z3.Z3_OP_BSUB: lambda a, b: a - b,
}
_WITH_WIDTH: dict[int, Callable[..., int]] = {
    z3.Z3_OP_BNOT: lambda w, a: ~a,
    z3.Z3_OP_NOT: lambda w, a: a ^ 1,
    z3.Z3_OP_BNEG: lambda w, a: -a,
    z3.Z3_OP_BSHL: lambda w, a, n: a << min(n, w),
    z3.Z3_OP_BLSHR: lambda w, a, n: a >> min(n, w),
    z3.Z3_OP_BASHR: lambda w, a, n: _signed(a, w) >> min(n, w),
    z3.Z3_OP_EQ: lambda w, a, b: a == b,
    z3.Z3_OP_DISTINCT: lambda w, a, b: a != b,
    z3.Z3_OP_ULT: lambda w, a, b: a < b,
    z3.Z3_OP_ULEQ: lambda w, a, b: a <= b,
    z3.Z3_OP_UGT: lambda w, a, b: a > b,
    z3.Z3_OP_UGEQ: lambda w, a, b: a >= b,
    z3.Z3_OP_SLT: lambda w, a, b: _signed(a, w) < _signed(b, w),
    z3.Z3_OP_SLEQ: lambda w, a, b: _signed(a, w) <= _signed(b, w),
    z3.Z3_OP_SGT: lambda w, a, b: _signed(a, w) > _signed(b, w),
    z3.Z3_OP_SGEQ: lambda w, a, b: _signed(a, w) >= _signed(b, w),
}
