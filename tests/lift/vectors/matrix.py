"""Matrix instructions of the tensor cores and the loads that feed them.

Elements are small whole numbers, for which every order of summation is exact.
"""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

FRAGMENTS = "".join(
    f"shfl.sync.bfly.b32 %t{4 + n}, %{name}, {distance}, 31, 0xFFFFFFFF;\n"
    for n, (name, distance) in enumerate((("a", 1), ("b", 2), ("a", 4), ("b", 8)))
)
"""Further registers of matrices, %t4 to %t7, are those of other lanes."""
ADDENDS = "add.s32 %t8, %c, %thread; sub.s32 %t9, 0, %c; mov.b32 %t10, %thread;\n"
"""Integers to add to, beside %c."""
SMALL_FLOATS = (
    "mov.b32 %t9, 0x38304038; and.b32 %t8, %a, 0x87878787; or.b32 %t8, %t8, %t9; "
    "and.b32 %t10, %b, 0x87878787; or.b32 %t10, %t10, %t9;\n"
)
"""Four numbers of eight bits in each of %t8, %t9 and %t10, whose products have few bits."""
_A = ("%a", "%b", "%t4", "%t5")
_B = ("%t6", "%t7")


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _half(table)
    _integer(table)
    _other(table)
    _fragments(table)


def listed(registers: tuple[str, ...] | list[str]) -> str:
    """In braces."""
    return "{" + ", ".join(registers) + "}"


def _multiply(a: int, b: int, c: list[str], opcode: str) -> str:
    """Fragments of ``a`` and ``b`` registers; results in %d …."""
    results = [f"%{name}" for name in "defg"[: len(c)]]
    return (
        f"{FRAGMENTS}{opcode} {listed(results)}, {listed(_A[:a])}, {listed(_B[:b])}, {listed(c)};"
    )


def _half(table: Table) -> None:
    for kind, shapes in {
        "f16": ((8, 2, 1), (16, 4, 2)), "bf16": ((8, 2, 1), (16, 4, 2)), "tf32": ((4, 2, 1), (8, 4, 2)),
    }.items():  # fmt: skip
        operand = "tiny_f32" if kind == "tf32" else f"tiny_{kind}x2"
        for depth, a, b in shapes:
            shape = f"m16n8k{depth}"
            before = "cvt.rn.f32.s32 %f0, %c; cvt.rn.f32.u32 %f1, %thread; mov.f32 %f2, 0f3F000000; neg.f32 %f3, %f0;\n"
            opcode = f"mma.sync.aligned.{shape}.row.col.f32.{kind}.{kind}.f32"
            addends = ["%f0", "%f1", "%f2", "%f3"]
            table.add(opcode, f"{operand} {operand} small", "f32 f32 f32 f32",
                      before + _multiply(a, b, addends, opcode), floats="f32")  # fmt: skip
            zeros = "mov.f32 %f0, 0f00000000;\n" + _multiply(a, b, ["%f0"] * 4, opcode)
            table.add(f"{opcode}.zero", f"{operand} {operand}", "f32 f32 f32 f32", zeros,
                      floats="f32")  # fmt: skip
            if kind == "f16":
                opcode = f"mma.sync.aligned.{shape}.row.col.f16.f16.f16.f16"
                table.add(opcode, f"{operand} {operand} {operand}", "b32 b32",
                          _multiply(a, b, ["%c", "%a"], opcode), floats="f16")  # fmt: skip


def _integer(table: Table) -> None:
    addends = ["%c", "%t8", "%t9", "%t10"]
    for left, right in product(("s8", "u8"), ("s8", "u8")):
        for shape, a, b, count in (
            ("m8n8k16", 1, 1, 2),
            ("m16n8k16", 2, 1, 4),
            ("m16n8k32", 4, 2, 4),
        ):
            opcode = f"mma.sync.aligned.{shape}.row.col.s32.{left}.{right}.s32"
            table.add(opcode, "i32 i32 i32", "b32 " * count,
                      ADDENDS + _multiply(a, b, addends[:count], opcode))  # fmt: skip
            opcode = f"mma.sync.aligned.{shape}.row.col.satfinite.s32.{left}.{right}.s32"
            table.add(opcode, "i32 i32 i32", "b32 " * count,
                      ADDENDS + _multiply(a, b, addends[:count], opcode))  # fmt: skip
    for shape, a, b, count in (("m8n8k32", 1, 1, 2), ("m16n8k32", 2, 1, 4), ("m16n8k64", 4, 2, 4)):
        opcode = f"mma.sync.aligned.{shape}.row.col.s32.s4.u4.s32"
        table.add(opcode, "i32 i32 i32", "b32 " * count,
                  ADDENDS + _multiply(a, b, addends[:count], opcode))  # fmt: skip
    for name in ("xor", "and"):
        opcode = f"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{name}.popc"
        table.add(opcode, "i32 i32 i32", "b32 b32 b32 b32",
                  ADDENDS + _multiply(2, 1, addends, opcode))  # fmt: skip


def _other(table: Table) -> None:
    table.add("mma_m8n8k4_f64", "tiny_f64 tiny_f64 tiny_f64", "f64 f64",
              "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d, %e}, {%a}, {%b}, {%c, %a};",
              floats="f64")  # fmt: skip
    for kind in ("e4m3", "e5m2"):
        table.add(f"mma_m16n8k32_{kind}", "i32 i32", "f32 f32 f32 f32",
                  f"{SMALL_FLOATS}mov.f32 %f0, 0f00000000; mma.sync.aligned.m16n8k32.row.col.f32.{kind}.{kind}.f32 {{%d, %e, %f, %g}}, {{%t8, %t10, %t9, %t8}}, {{%t10, %t8}}, {{%f0, %f0, %f0, %f0}};",
                  minimum=89, floats="f32")  # fmt: skip


_ROWS = (
    ".shared .align 16 .b8 rows[4096];\nmov.u32 %t1, rows; mad.lo.u32 %t0, %thread, 16, %t1; and.b32 %t2, %thread, 96;\n"
    "st.shared.v4.b32 [%t0], {%a, %b, %c, %lane}; bar.sync 0;\n"
    "and.b32 %t3, %thread, 31; add.u32 %t3, %t3, %t2; mad.lo.u32 %t3, %t3, 16, %t1;\n"
)


def _fragments(table: Table) -> None:
    for count, transposed in product((1, 2, 4), ("", ".trans")):
        registers = listed([f"%{name}" for name in "defg"[:count]])
        table.add(f"ldmatrix.x{count}{transposed}", "i32 i32 i32", "b32 " * count,
                  f"{_ROWS}ldmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 {registers}, [%t3];")  # fmt: skip
        sources = listed(["%a", "%b", "%c", "%lane"][:count])
        table.add(f"stmatrix.x{count}{transposed}", "i32 i32 i32", "b32 b32 b32 b32",
                  f"{_ROWS}stmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 [%t3], {sources}; bar.sync 0;\n"
                  "ld.shared.v4.b32 {%d, %e, %f, %g}, [%t0];", minimum=90)  # fmt: skip
    table.add("movmatrix", "i32", "b32", "movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;")
