"""Products as unknown functions of their factors.

z3 decides few claims about multipliers. What holds for every function of two words holds for their
product, and the lifter multiplies the same factors as the specification says: most proofs need no
more. :func:`with_products` puts the multiplications back.
"""

from __future__ import annotations

from typing import Any

import z3

NAME = "product"
"""Functions are called so, with the width behind."""
_WIDTHS = (32, 64)


def product(left: Any, right: Any) -> Any:
    """A product of as many bits as the factors have; one with 0, 1 or only numbers is known."""
    factors = [z3.simplify(left), z3.simplify(right)]
    numbers = [factor.as_long() for factor in factors if z3.is_bv_value(factor)]
    if len(numbers) == 2 or set(numbers) & {0, 1}:
        return left * right
    factors.sort(key=lambda factor: factor.get_id())
    return _function(left.size())(*factors)


def with_products(term: Any) -> Any:
    """``term`` with multiplications for the unknown functions."""
    functions = []
    for width in _WIDTHS:
        sort = z3.BitVecSort(width)
        functions.append((_function(width), z3.Var(0, sort) * z3.Var(1, sort)))
    return z3.substitute_funs(term, *functions)


def _function(width: int) -> z3.FuncDeclRef:
    sort = z3.BitVecSort(width)
    return z3.Function(f"{NAME}{width}", sort, sort, sort)
