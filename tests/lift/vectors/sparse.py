"""Products of sparse matrices (PTX: ``mma.sp``): whole numbers, exact in each order of summation."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table
from tests.lift.vectors.matrix import ADDENDS, FRAGMENTS, SMALL_FLOATS, listed

_A = ("%a", "%b", "%t4", "%t5")
_B = ("%t6", "%t7", "%b", "%t4")
# Two of four: 01, 23, 12, 02, 13, 03 and two of them again; as many for the other lanes. One of two
# words is named by 1110 and 0100.
_PAIRS = (0x4E98DC4E, 0xD84E9C8D)
_SINGLES = (0x4EE4E44E, 0xE4EE4E44)


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _floats(table)
    _integers(table)
    _small_floats(table)


def _metadata(words: tuple[int, int]) -> str:
    """In %t11, other nibbles in each lane, rotated by its number; one of two words by %c's last bit."""
    first, second = words
    return (
        f"and.b32 %t12, %c, 1; setp.ne.b32 %p1, %t12, 0; selp.b32 %t13, {first:#x}, {second:#x}, %p1;\n"
        "shl.b32 %t12, %thread, 2; shf.l.wrap.b32 %t11, %t13, %t13, %t12;\n"
    )


def _add(
    table: Table, opcode: str, operands: str, registers: int, selector: int, before: str,
    addends: list[str], metadata: tuple[int, int], floats: str = "", minimum: int = 80,
) -> None:  # fmt: skip
    """``registers`` of A and of B each."""
    results = [f"%{name}" for name in "defg"[: len(addends)]]
    a, b = listed(_A[:registers]), listed(_B[:registers])
    kind = floats if floats == "f32" else "b32"
    table.add(
        f"{opcode}.{selector}",
        operands,
        " ".join([kind] * len(addends)),
        f"{before}{FRAGMENTS}{_metadata(metadata)}"
        f"{opcode} {listed(results)}, {a}, {b}, {listed(addends)}, %t11, {selector};",
        floats=floats,
        minimum=minimum,
    )


def _floats(table: Table) -> None:
    before = "cvt.rn.f32.s32 %f0, %c; cvt.rn.f32.u32 %f1, %thread; mov.f32 %f2, 0f3F000000; neg.f32 %f3, %f0;\n"
    addends = ["%f0", "%f1", "%f2", "%f3"]
    for kind, depths in {"f16": (16, 32), "bf16": (16, 32), "tf32": (8, 16)}.items():
        operand, metadata = ("tiny_f32", _SINGLES) if kind == "tf32" else (f"tiny_{kind}x2", _PAIRS)
        for depth, (registers, selectors) in zip(depths, ((2, 4), (4, 2)), strict=True):
            opcode = f"mma.sp::ordered_metadata.sync.aligned.m16n8k{depth}.row.col"
            for selector in range(selectors):
                _add(table, f"{opcode}.f32.{kind}.{kind}.f32", f"{operand} {operand} small",
                     registers, selector, before, addends, metadata, "f32")  # fmt: skip
            if kind == "f16":
                _add(table, f"{opcode}.f16.f16.f16.f16", f"{operand} {operand} {operand}",
                     registers, 1, "", ["%c", "%a"], metadata, "f16")  # fmt: skip


def _integers(table: Table) -> None:
    added = ["%c", "%t8", "%t9", "%t10"]
    for kinds, depths in ((("s8", "u8"), (32, 64)), (("s4", "u4"), (64, 128))):
        for left, right in product(kinds, kinds):
            for depth, (registers, selectors) in zip(depths, ((2, 2), (4, 1)), strict=True):
                for saturates, selector in product(("", ".satfinite"), range(selectors)):
                    opcode = f"mma.sp::ordered_metadata.sync.aligned.m16n8k{depth}.row.col"
                    _add(table, f"{opcode}{saturates}.s32.{left}.{right}.s32", "i32 i32 i32",
                         registers, selector, ADDENDS, added, _PAIRS)  # fmt: skip


def _small_floats(table: Table) -> None:
    """Numbers of a few bits each, as in the dense products, in the first registers."""
    opcode = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col"
    a, b = listed(["%t8", "%t10", "%t9", "%t8"]), listed(["%t10", "%t8", "%t9", "%t10"])
    for left, right in product(("e4m3", "e5m2"), repeat=2):
        table.add(
            f"{opcode}.f32.{left}.{right}.f32.0",
            "i32 i32 i32",
            "f32 f32 f32 f32",
            f"{SMALL_FLOATS}{_metadata(_PAIRS)}mov.f32 %f0, 0f00000000;\n"
            f"{opcode}.f32.{left}.{right}.f32 {{%d, %e, %f, %g}}, {a}, {b}, {{%f0, %f0, %f0, %f0}}, %t11, 0;",
            minimum=89,
            floats="f32",
        )
