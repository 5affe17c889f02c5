"""Sums of 64 bits and more in words: each term plain, negated or scaled, in each kind of operand.

ptxas makes them of ``IADD3``, ``LEA``, ``IMAD.WIDE`` and their uniform brothers with carries between:
which term is negated, and where the carry comes from, differs in each.
"""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_SCALES = (1, 4, 30, 31)
_WIDENED = {
    "wide": ("i64", "mov.b64 %x0, %a;"),
    "zero_extended": ("i32", "cvt.u64.u32 %x0, %a;"),
    "sign_extended": ("i32", "cvt.s64.s32 %x0, %a;"),
}
_UNIFORM = "cvt.u64.u32 %x9, %block; add.u64 %x8, %x9, %p;"
_OTHER = {
    "lane": ("i64", "mov.b64 %x1, %b;"),
    "uniform": ("i64", f"{_UNIFORM} mov.b64 %x1, %x8;"),
    "constant": ("i64", "mov.b64 %x1, %q;"),
    "literal": ("i64", "mov.b64 %x1, 0x1234567800000001;"),
}
_SUMS = {
    "plus": "add.s64 %d, %x1, %x0;",
    "minus": "sub.s64 %d, %x1, %x0;",
    "from": "sub.s64 %d, %x0, %x1;",
}


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _two_terms(table)
    _three_terms(table)
    _uniform(table)
    _chains(table)
    _comparisons(table)


def _two_terms(table: Table) -> None:
    choices = product(_WIDENED.items(), _OTHER.items(), _SUMS.items())
    for (width, (kind, widen)), (other, (_, second)), (sum_name, addition) in choices:
        for scale in (0, *_SCALES):
            shift = f"shl.b64 %x0, %x0, {scale};" if scale else ""
            table.add(f"{sum_name}_{width}_{other}_{scale}", f"{kind} i64", "b64",
                      f"{widen} {second} {shift}\n{addition}")  # fmt: skip


def _three_terms(table: Table) -> None:
    for scale, signs in product((0, *_SCALES), product(("add", "sub"), repeat=2)):
        shift = f"shl.b64 %x0, %a, {scale};" if scale else "mov.b64 %x0, %a;"
        first, second = signs
        table.add(f"{first}_{second}_of_scaled_{scale}", "i64 i64 i64", "b64 b64 b64",
                  f"{shift} {first}.s64 %x1, %b, %x0; {second}.s64 %d, %x1, %c;\n"
                  f"{first}.s64 %x2, %b, %c; {second}.s64 %e, %x2, %x0;\n"
                  f"{first}.s64 %x3, %x0, %c; {second}.s64 %f, %x3, %q;")  # fmt: skip


def _uniform(table: Table) -> None:
    """The same in all lanes, from kernel parameters alone: the uniform data path."""
    for scale, (name, addition) in product((0, *_SCALES), _SUMS.items()):
        for given, (one, other) in {"pq": ("%p", "%q"), "qp": ("%q", "%p")}.items():
            shift = f"shl.b64 %x0, {one}, {scale};" if scale else f"mov.b64 %x0, {one};"
            table.add(f"uniform_{name}_{given}_{scale}", "i64", "b64",
                      f"{shift} mov.b64 %x1, {other}; {addition} xor.b64 %d, %d, %a;")  # fmt: skip


def _chains(table: Table) -> None:
    """The carry of a sum of words with a scaled one, into the next word and to a predicate."""
    for operation, scale in product(("add", "sub"), (0, *_SCALES)):
        shift = f"shl.b32 %t0, %a, {scale};" if scale else "mov.b32 %t0, %a;"
        for order, operands in (("", "%b, %t0"), ("_reversed", "%t0, %b")):
            table.add(f"{operation}_carry_{scale}{order}", "i32 i32 i32", "b32 b32 b32",
                      f"{shift} {operation}.cc.u32 %d, {operands};\n"
                      f"{operation}c.cc.u32 %e, %c, %b; {operation}c.u32 %f, 0, 0;")  # fmt: skip
        table.add(f"{operation}_carry_{scale}_uniform", "i32 i32", "b32 b32 b32",
                  f"{_UNIFORM} mov.b64 {{%t1, %t2}}, %x8; shl.b32 %t0, %t1, {scale};\n"
                  f"{operation}.cc.u32 %d, %a, %t0; {operation}c.cc.u32 %e, %b, %t2;\n"
                  f"{operation}c.u32 %f, 0, 0;")  # fmt: skip


def _comparisons(table: Table) -> None:
    """Orders of 64-bit sums, which are decided by carries."""
    for order, scale in product(("lt", "ge", "eq"), (0, 4, 31)):
        shift = f"shl.b64 %x0, %a, {scale};" if scale else "mov.b64 %x0, %a;"
        table.add(f"order_{order}_{scale}", "i64 i64 i64", "b32 b32 b32",
                  f"{shift} sub.s64 %x1, %b, %x0; setp.{order}.u64 %p0, %x1, %c;\n"
                  f"setp.{order}.s64 %p1, %x1, %c; setp.{order}.u64 %p2, %b, %x0;\n"
                  "selp.b32 %d, 1, 0, %p0; selp.b32 %e, 1, 0, %p1; selp.b32 %f, 1, 0, %p2;")  # fmt: skip
