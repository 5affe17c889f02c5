"""Conversions of bytes and halves inside of words, and other operands that ptxas seldom writes."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_BYTES = (0, 1, 2, 3)
_HALVES = (0, 1)
_RESULTS = {"f32": "f32", "f64": "f64", "f16": "b16", "bf16": "b16"}


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _from_parts(table)
    _to_parts(table)
    _single(table)
    _control(table)


def _part(sign: str, size: int, place: int, source: str) -> str:
    """Text that leaves a part of a word in %h1, as compilers write it.

    ptxas selects it in the conversion where it is unsigned, or taken as a field of bits.
    """
    if size == 16:
        return f"mov.b32 {{%h0, %h1}}, {source};\n" if place else f"cvt.u16.u32 %h1, {source};\n"
    if sign == "s":
        field = f"bfe.u32 %t0, {source}, {8 * place}, 8; cvt.u16.u32 %h0, %t0;"
        return f"{field} cvt.s16.s8 %h1, %h0;\n"
    return f"shr.u32 %t0, {source}, {8 * place}; cvt.u16.u32 %h1, %t0;\n"


def _from_parts(table: Table) -> None:
    """A part of a lane's word, of a loaded one, and of one that was computed."""
    sources = {"operand": ("", "%a"), "sum": ("mad.lo.u32 %t1, %a, 3, %b;\n", "%t1")}
    for (name, (head, source)), sign, size, (kind, result) in product(
        sources.items(), "su", (8, 16), _RESULTS.items()
    ):
        if kind == "bf16" and size == 8:
            continue  # PTX has none
        for place in _BYTES if size == 8 else _HALVES:
            for rounding in ("rn", "rz") if kind == "f32" else ("rn",):
                width = 16 if sign == "s" else size
                convert = f"cvt.{rounding}.{kind}.{sign}{width} %d, %h1;"
                table.add(f"part_{name}_{sign}{size}_{place}_{kind}_{rounding}", "i32 i32", result,
                          f"{head}{_part(sign, size, place, source)}{convert}",
                          minimum=90 if kind == "bf16" else 80, floats=kind)  # fmt: skip


def _to_parts(table: Table) -> None:
    """Bytes and halves of absolute and negated floats, each way of rounding."""
    signs = {"abs": "abs.f32 %f0, %a;", "neg": "neg.f32 %f0, %a;",
             "negabs": "abs.f32 %f0, %a; neg.f32 %f0, %f0;"}  # fmt: skip
    for (name, sign), kind, rounding in product(
        signs.items(), ("u8", "s8", "u16", "s16"), ("rni", "rzi", "rmi", "rpi")
    ):
        table.add(f"to_{kind}_{rounding}_{name}", "f32", "b16",
                  f"{sign} cvt.{rounding}.{kind}.f32 %h0, %f0; mov.b16 %d, %h0;")  # fmt: skip


def _single(table: Table) -> None:
    """Single precision with literals, and differences of negated numbers."""
    for order in ("lt", "le", "gt", "ge", "eq", "ne", "ltu", "leu", "gtu", "geu", "equ", "neu"):
        for ftz in ("", ".ftz"):
            table.add(f"set_literal_{order}{ftz}", "f32", "f32 b32 b32",
                      f"set.{order}{ftz}.f32.f32 %d, %a, 0f3FC00000; set.{order}{ftz}.u32.f32 %e, %a, 0f3FC00000;\n"
                      f"setp.{order}{ftz}.f32 %p0, %a, 0f7F800000; selp.b32 %f, 3, 5, %p0;")  # fmt: skip
    for ftz in ("", ".ftz"):
        table.add(f"fma_sat_literal{ftz}", "f32 f32", "f32 f32",
                  f"neg.f32 %f0, %b; fma.rn{ftz}.sat.f32 %d, %a, %f0, 0f3F000000;\n"
                  f"fma.rn{ftz}.sat.f32 %e, %a, 0fBFC00000, %b;", floats="f32")  # fmt: skip
        # What does nothing to a number but to flush it.
        table.add(f"neutral{ftz}", "f32 f32", "f32 f32 f32 f32 f32 f32",
                  f"mul{ftz}.f32 %d, %a, 0f3F800000; add{ftz}.f32 %e, %a, 0f80000000; fma.rn{ftz}.f32 %f, %a, 0f3F800000, 0f80000000;\n"
                  f"mul{ftz}.f32 %g, %b, 0fBF800000; fma.rn{ftz}.f32 %h, %b, 0fBF800000, 0f80000000; sub{ftz}.f32 %i, %b, 0f00000000;",
                  floats="f32")  # fmt: skip
    for operation, ftz, nan in product(("min", "max"), ("", ".ftz"), ("", ".NaN")):
        table.add(f"three_{operation}{ftz}{nan}", "f32 f32 f32", "f32 f32 f32",
                  f"{operation}{ftz}{nan}.f32 %f0, %a, %b; {operation}{ftz}{nan}.f32 %d, %f0, %c;\n"
                  f"abs.f32 %f1, %a; abs.f32 %f2, %c; {operation}{ftz}{nan}.f32 %f3, %f1, 0f3FC00000; {operation}{ftz}{nan}.f32 %e, %f3, %f2;\n"
                  f"{operation}{ftz}{nan}.f32 %f4, %f1, %b; {operation}{ftz}{nan}.f32 %f, %f4, %f2;", floats="f32")  # fmt: skip


def _control(table: Table) -> None:
    """Branches that all lanes take alike, traps that none comes to, votes of all."""
    uniform = "and.b32 %t0, %block, {mask}; setp.{order}.u32 %p0, %t0, 1;\n"
    for mask, order in product((1, 2, 3), ("eq", "ne", "lt")):
        head = uniform.format(mask=mask, order=order)
        arms = "mad.lo.u32 %d, %d, %d, {n};\nst.global.b32 [%out+4], {n};\n"
        for sign in ("", "!"):
            table.add(f"uniform_branch_{mask}_{order}_{'not' if sign else 'plain'}", "i32 i32", "",
                      f"mov.b32 %t3, %a;\n{head}@{sign}%p0 bra.uni other;\n"
                      f"{arms.format(n=1).replace('%d', '%t3')}bra.uni joined;\nother:\n{arms.format(n=2).replace('%d', '%t3')}"
                      "bar.sync 0;\njoined:\nst.global.b32 [%out], %t3;", words=2)  # fmt: skip
    for name, grid in {"z": (4, 2, 4, 128, 1, 1), "xyz": (2, 4, 4, 32, 2, 2)}.items():
        table.add(f"block_by_{name}", "i32", "b32 b32 b32",
                  "mov.u32 %t0, %ctaid.z; mov.u32 %t1, %ctaid.y; mov.u32 %t2, %nctaid.z;\n"
                  "mad.lo.u32 %d, %t0, 3, %t1; setp.eq.u32 %p0, %t0, 1; @%p0 add.u32 %d, %d, %a; mul.lo.u32 %e, %t0, %a; mad.lo.u32 %f, %t2, %t0, %d;",
                  grid=grid)  # fmt: skip
    table.add("trap_not_taken", "i32", "b32 b32",
              "setp.eq.u32 %p0, %lane, 0xFFFFFFFF; @!%p0 bra on;\ntrap;\non:\nadd.u32 %d, %a, 3;\n"
              "setp.eq.u32 %p1, %block, 77; @%p1 trap; mul.lo.u32 %e, %a, %a;")  # fmt: skip
    table.add("votes_of_some", "i32 i32", "b32 b32 b32",
              "mov.b32 %d, 0; mov.b32 %e, 0; mov.b32 %f, 0; setp.lt.s32 %p0, %a, 0; @%p0 bra apart;\n"
              "activemask.b32 %d; setp.lt.s32 %p1, %b, 0; vote.sync.ballot.b32 %e, %p1, %d; bra joined;\n"
              "apart:\nactivemask.b32 %t0; popc.b32 %f, %t0;\njoined:")  # fmt: skip
    for kind, wait in (("literal", "nanosleep.u32 40;"), ("parameter", "mov.b64 {%t4, %t5}, %p; nanosleep.u32 %t4;")):  # fmt: skip
        table.add(f"sleeps_{kind}", "i32", "b32", f"{wait} add.u32 %d, %a, 1;")
    for pattern, text in {
        "bfly": "shfl.sync.bfly.b32 %t1|%p1, %t0, 5, 31, 0xffffffff;",
        "idx": "shfl.sync.idx.b32 %t1|%p1, %t0, %t2, 31, 0xffffffff;",
        "vote": "setp.lt.u32 %p1, %t0, %t2; vote.sync.ballot.b32 %t1, %p1, 0xffffffff;",
        "match": "match.any.sync.b32 %t1, %t0, 0xffffffff;",
    }.items():
        table.add(f"collective_{pattern}", "i32 small", "b32",
                  f"mov.b32 %t0, %a; mov.b32 %t2, 0;\nloop:\nand.b32 %t3, %t0, 1; setp.eq.u32 %p0, %t3, 1; @%p0 bra odd;\n"
                  f"add.u32 %t0, %t0, 7; bra meet;\nodd:\nmul.lo.u32 %t0, %t0, 3;\nmeet:\n{text} xor.b32 %t0, %t0, %t1;\n"
                  "add.u32 %t2, %t2, 1; setp.lt.u32 %p2, %t2, 5; @%p2 bra loop;\nmov.b32 %d, %t0;")  # fmt: skip
