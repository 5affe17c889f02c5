"""Integer arithmetic, logic, shifts, comparisons and selections."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table, expand

_INT = ("u16", "s16", "u32", "s32", "u64", "s64")
_ORDER = ("eq", "ne", "lt", "le", "gt", "ge")
_RC = {"16": ("i16", "b16"), "32": ("i32", "b32"), "64": ("i64", "b64")}


def kinds(kind: str) -> tuple[str, str]:
    """Operand kind and register type of a PTX integer type."""
    return _RC[kind[1:]]


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _arithmetic(table)
    _extended(table)
    _multiplication(table)
    _bits(table)
    _logic(table)
    _shifts(table)
    _comparison(table)
    _packed(table)
    _immediate(table)
    _uniform(table)
    _compound(table)


def _arithmetic(table: Table) -> None:
    for kind in _INT:
        operand, result = kinds(kind)
        for name in ("add", "sub", "min", "max", "div", "rem", "mul.lo"):
            table.op(f"{name}.{kind}", f"{operand} {operand}", result)
        table.op(f"sad.{kind}", " ".join([operand] * 3), result)
        table.op(f"mul.hi.{kind}", f"{operand} {operand}", result)
        table.op(f"mad.lo.{kind}", " ".join([operand] * 3), result)
        table.op(f"mad.hi.{kind}", " ".join([operand] * 3), result)
    for kind in ("s16", "s32", "s64"):
        operand, result = kinds(kind)
        table.op(f"abs.{kind}", operand, result)
        table.op(f"neg.{kind}", operand, result)
    table.ops("{add,sub}.sat.s32", "i32 i32", "b32")
    table.op("mad.hi.sat.s32", "i32 i32 i32", "b32")
    table.ops("mul24.{lo,hi}.{s32,u32}", "i32 i32", "b32")
    table.ops("mad24.{lo,hi}.{s32,u32}", "i32 i32 i32", "b32")
    table.op("mad24.hi.sat.s32", "i32 i32 i32", "b32")


def _extended(table: Table) -> None:
    """Chains through the carry flag."""
    table.add("add_cc_u32", "i32 i32 i32", "b32 b32",
              "add.cc.u32 %d, %a, %b; addc.u32 %e, %c, %a;")  # fmt: skip
    table.add("add_cc_u32_long", "i32 i32 i32", "b32 b32 b32 b32",
              "add.cc.u32 %d, %a, %b; addc.cc.u32 %e, %b, %c; addc.cc.u32 %f, %c, %a;\n"
              "addc.u32 %g, 0, 0;")  # fmt: skip
    table.add("sub_cc_u32_long", "i32 i32 i32", "b32 b32 b32 b32",
              "sub.cc.u32 %d, %a, %b; subc.cc.u32 %e, %b, %c; subc.cc.u32 %f, %c, %a;\n"
              "subc.u32 %g, 0, 0;")  # fmt: skip
    table.add("add_cc_u64", "i64 i64 i64", "b64 b64",
              "add.cc.u64 %d, %a, %b; addc.u64 %e, %c, %a;")  # fmt: skip
    table.add("sub_cc_u64", "i64 i64 i64", "b64 b64",
              "sub.cc.u64 %d, %a, %b; subc.u64 %e, %c, %a;")  # fmt: skip
    table.add("mad_cc_chain", "i32 i32 i32", "b32 b32 b32",
              "mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.cc.u32 %e, %a, %b, %c; madc.hi.u32 %f, %b, %c, 0;")  # fmt: skip
    table.add("mad_cc_signed", "i32 i32 i32", "b32 b32",
              "mad.lo.cc.s32 %d, %a, %b, %c; madc.hi.s32 %e, %a, %b, %c;")  # fmt: skip
    table.add("mul_128", "i64 i64", "b64 b64", "mul.lo.u64 %d, %a, %b; mul.hi.u64 %e, %a, %b;")
    table.add("mul_128_signed", "i64 i64", "b64 b64",
              "mul.lo.s64 %d, %a, %b; mul.hi.s64 %e, %a, %b;")  # fmt: skip


def _multiplication(table: Table) -> None:
    for sign in "us":
        table.op(f"mul.wide.{sign}16", "i16 i16", "b32")
        table.op(f"mul.wide.{sign}32", "i32 i32", "b64")
        table.op(f"mad.wide.{sign}16", "i16 i16 i32", "b32")
        table.op(f"mad.wide.{sign}32", "i32 i32 i64", "b64")
    for left, right in product("us", "us"):
        table.op(f"dp4a.{left}32.{right}32", "i32 i32 i32", "b32")
        table.op(f"dp2a.lo.{left}32.{right}32", "i32 i32 i32", "b32")
        table.op(f"dp2a.hi.{left}32.{right}32", "i32 i32 i32", "b32")


def _bits(table: Table) -> None:
    for size in ("32", "64"):
        operand, result = _RC[size]
        table.op(f"popc.b{size}", operand, "b32")
        table.op(f"clz.b{size}", operand, "b32")
        table.op(f"brev.b{size}", operand, result)
        for sign in "us":
            table.op(f"bfind.{sign}{size}", operand, "b32")
            table.op(f"bfind.shiftamt.{sign}{size}", operand, "b32")
            table.op(f"bfe.{sign}{size}", f"{operand} shift shift", result)
        table.add(f"bfi.b{size}", f"{operand} {operand} shift", result,
                  f"shr.u32 %t0, %c, 3; and.b32 %t0, %t0, 63; bfi.b{size} %d, %a, %b, %c, %t0;")  # fmt: skip
        table.add(f"bfi.immediate.b{size}", f"{operand} {operand}", result,
                  f"bfi.b{size} %d, %a, %b, 5, 13;")  # fmt: skip
        table.add(f"bfe.immediate.{size}", operand, f"{result} {result}",
                  f"bfe.u{size} %d, %a, 3, 11; bfe.s{size} %e, %a, 7, 9;")  # fmt: skip
    table.op("fns.b32", "i32 small lane", "b32")
    table.ops("bmsk.{clamp,wrap}.b32", "shift shift", "b32")
    table.ops("szext.{clamp,wrap}.{s32,u32}", "i32 shift", "b32")


def _logic(table: Table) -> None:
    for size in ("16", "32", "64"):
        operand, result = _RC[size]
        table.ops(f"{{and,or,xor}}.b{size}", f"{operand} {operand}", result)
        table.ops(f"{{not,cnot}}.b{size}", operand, result)
    for first in range(0, 256, 32):
        lines = ["mov.b32 %d, 0;"]
        for lut in range(first, first + 32):
            lines.append(f"lop3.b32 %t0, %a, %b, %c, {lut};")
            lines.append("mad.lo.u32 %d, %d, 0x9E3779B1, %t0;")
        table.add(f"lop3_{first}", "i32 i32 i32", "b32", "\n".join(lines))
    table.add("lop3_or_pred", "i32 i32 i32", "b32 b32",
              "setp.gt.u32 %p1, %a, %b; lop3.or.b32 %d|%p0, %a, %b, %c, 0x40, %p1;\n"
              "selp.b32 %e, 1, 0, %p0;")  # fmt: skip
    table.add("lop3_and_pred", "i32 i32 i32", "b32 b32",
              "setp.gt.u32 %p1, %a, %b; lop3.and.b32 %d|%p0, %a, %b, %c, 0x96, %p1;\n"
              "selp.b32 %e, 1, 0, %p0;")  # fmt: skip
    table.op("prmt.b32", "i32 i32 i32", "b32")
    table.ops("prmt.b32.{f4e,b4e,rc8,ecl,ecr,rc16}", "i32 i32 i32", "b32")
    for selector in ("0x3210", "0x0123", "0x7531", "0xFEDC", "0x4444", "0x5410", "0x0008"):
        table.add(f"prmt_{selector}", "i32 i32", "b32", f"prmt.b32 %d, %a, %b, {selector};")


def _shifts(table: Table) -> None:
    for size in ("16", "32", "64"):
        operand, result = _RC[size]
        table.op(f"shl.b{size}", f"{operand} shift", result)
        table.ops(f"shr.{{u,s}}{size}", f"{operand} shift", result)
        for amount in (1, 7, 15, 31, 32, 33, 63):
            if amount < int(size) or amount == 32:
                table.add(f"shift{size}_by_{amount}", operand, " ".join([result] * 3),
                          f"shl.b{size} %d, %a, {amount}; shr.u{size} %e, %a, {amount};\n"
                          f"shr.s{size} %f, %a, {amount};")  # fmt: skip
    table.ops("shf.{l,r}.{clamp,wrap}.b32", "i32 i32 shift", "b32")
    for direction, amount in product("lr", (0, 5, 16, 31, 32)):
        table.add(f"shf_{direction}_{amount}", "i32 i32", "b32",
                  f"shf.{direction}.clamp.b32 %d, %a, %b, {amount};")  # fmt: skip
        table.add(f"rotate_{direction}_{amount}", "i32", "b32",
                  f"shf.{direction}.wrap.b32 %d, %a, %a, {amount};")  # fmt: skip
    table.add("shift_by_immediate_value", "shift", "b32 b32 b32 b64",
              "shl.b32 %d, 1, %a; shr.u32 %e, 0xFFFFFFFF, %a; shr.s32 %f, 0x80000000, %a;\n"
              "shl.b64 %g, 1, %a;")  # fmt: skip


def _comparison(table: Table) -> None:
    for kind in _INT:
        operand, result = kinds(kind)
        for order in _ORDER:
            if kind[0] == "u" and order not in ("eq", "ne"):
                orders = (order, {"lt": "lo", "le": "ls", "gt": "hi", "ge": "hs"}[order])
            else:
                orders = (order,)
            for name in orders:
                table.add(f"setp.{name}.{kind}", f"{operand} {operand}", "b32",
                          f"setp.{name}.{kind} %p0, %a, %b; selp.b32 %d, 1, 0, %p0;")  # fmt: skip
        for order in ("eq", "lt"):
            table.op(f"set.{order}.u32.{kind}", f"{operand} {operand}", "b32")
            table.op(f"set.{order}.f32.{kind}", f"{operand} {operand}", "f32")
        for combine in ("and", "or", "xor"):
            table.add(f"setp.lt.{combine}.{kind}", f"{operand} {operand} i32", "b32 b32",
                      f"setp.ne.u32 %p2, %c, 7; setp.lt.{combine}.{kind} %p0|%p1, %a, %b, %p2;\n"
                      "selp.b32 %d, 1, 0, %p0; selp.b32 %e, 1, 0, %p1;")  # fmt: skip
        table.add(f"select.{kind}", f"{operand} {operand} i32", result,
                  f"setp.lt.s32 %p0, %c, 0; selp.{kind.replace('s', 'b').replace('u', 'b')} %d, %a, %b, %p0;")  # fmt: skip
        table.op(f"slct.{kind}.s32", f"{operand} {operand} i32", result)
        table.add(f"clamp.{kind}", f"{operand} {operand}", result,
                  f"max.{kind} %d, %a, 3; min.{kind} %d, %d, %b;")  # fmt: skip
    for order in expand("{lt,le,gt,ge,eq,ne}"):
        table.add(f"setp.{order}.negated", "i32 i32", "b32",
                  f"setp.{order}.s32 %p0, %a, %b; @!%p0 add.u32 %d, %a, 1; @%p0 mov.b32 %d, %b;")  # fmt: skip
    table.add("set_accumulated", "i32 i32 i32", "b32",
              "set.gt.and.u32.u32 %d, %a, %b, %p0;".replace("%p0", "%p3")
              .join(["setp.ne.s32 %p3, %c, 0;\n", ""]))  # fmt: skip
    table.add("predicate_logic", "i32 i32 i32", "b32 b32 b32",
              "setp.gt.s32 %p0, %a, %b; setp.gt.s32 %p1, %b, %c; setp.gt.s32 %p2, %c, %a;\n"
              "and.pred %p3, %p0, %p1; or.pred %p4, %p3, %p2; xor.pred %p5, %p4, %p1;\n"
              "not.pred %p6, %p5; xor.pred %p7, %p0, %p2; and.pred %p7, %p7, %p6;\n"
              "selp.b32 %d, %a, %b, %p4; selp.b32 %e, %b, %c, %p6; selp.b32 %f, 1, 0, %p7;")  # fmt: skip


def _packed(table: Table) -> None:
    table.ops("add.{u16x2,s16x2}", "i16x2 i16x2", "b32", minimum=90)
    table.ops("{min,max}.{u16x2,s16x2}", "i16x2 i16x2", "b32", minimum=90)
    table.ops("{min,max}.relu.{s16x2,s32}", "i16x2 i16x2", "b32", minimum=90)
    table.ops("vabsdiff4.u32.u32.u32", "i32 i32 i32", "b32")
    table.ops("vabsdiff4.u32.u32.u32.add", "i32 i32 i32", "b32")
    table.ops("{vadd4,vsub4,vmax4,vmin4,vavrg4}.u32.u32.u32", "i32 i32 i32", "b32")
    table.ops("{vadd2,vsub2,vmax2,vmin2}.s32.s32.s32", "i32 i32 i32", "b32")
    table.ops("vadd4.s32.s32.s32.sat", "i32 i32 i32", "b32")
    table.ops("{vadd,vsub,vabsdiff,vmin,vmax}.s32.s32.s32.sat", "i32 i32", "b32")
    table.ops("vmad.s32.s32.s32", "i32 i32 i32", "b32")
    table.ops("{vshl,vshr}.u32.u32.u32.wrap", "i32 i32", "b32")
    table.ops("{vset4.u32.u32.lt,vset2.s32.s32.lt}", "i32 i32 i32", "b32")


def _immediate(table: Table) -> None:
    """The second operand a literal, and a kernel parameter (constant bank)."""
    table_of = {
        "32": ("i32", "b32", "0x12345678", "cvt.u32.u64 %t7, %q;", "%t7"),
        "64": ("i64", "b64", "0x123456789ABCDEF0", "", "%q"),
    }
    names = expand(
        "{add.s,sub.s,mul.lo.u,mul.hi.u,mul.hi.s,and.b,or.b,xor.b,min.s,max.u,div.u,div.s,rem.u,rem.s}"
    )
    for name, (size, given) in product(names, table_of.items()):
        operand, result, literal, before, register = given
        table.add(f"{name}{size}_literal", operand, result, f"{name}{size} %d, %a, {literal};")
        table.add(f"{name}{size}_constant", operand, result,
                  f"{before} {name}{size} %d, %a, {register};")  # fmt: skip
    for divisor in (3, 7, 10, 16, 641, 0x80000000):
        table.add(f"divide_by_{divisor}", "i32", "b32 b32 b32 b32",
                  f"div.u32 %d, %a, {divisor}; rem.u32 %e, %a, {divisor};\n"
                  f"div.s32 %f, %a, {divisor % (1 << 31) or 5}; rem.s32 %g, %a, {divisor % (1 << 31) or 5};")  # fmt: skip
        table.add(f"divide_wide_by_{divisor}", "i64", "b64 b64",
                  f"div.u64 %d, %a, {divisor}; rem.s64 %e, %a, {divisor};")  # fmt: skip
    table.add("sub_from_literal", "i32", "b32 b32", "sub.s32 %d, 100, %a; sub.s32 %e, 0, %a;")
    table.add("mad_wide_literal", "i32 i64", "b64 b64",
              "mad.wide.s32 %d, %a, 12, %b; mad.wide.u32 %e, %a, 0x10000, %b;")  # fmt: skip
    table.add("mad_constant", "i32 i32", "b32 b32",
              "cvt.u32.u64 %t7, %p; mad.lo.s32 %d, %a, %t7, %b; mad.lo.s32 %e, %a, %b, %t7;")  # fmt: skip


def _uniform(table: Table) -> None:
    """Work that is the same in all lanes: uniform registers."""
    words = "mov.b64 {%t1, %t2}, %p; mov.b64 {%t3, %t4}, %q; add.u32 %t1, %t1, %block;\n"
    bodies = {
        "add3": "add.u32 %t5, %t1, %t2; add.u32 %t5, %t5, %t4;",
        "multiply": "mul.lo.u32 %t5, %t1, %t4; mad.lo.u32 %t5, %t5, %t2, %t3;",
        "multiply_high": "mul.hi.u32 %t5, %t1, %t4; mul.hi.s32 %t6, %t2, %t3; xor.b32 %t5, %t5, %t6;",
        "logic": "and.b32 %t5, %t1, %t4; xor.b32 %t5, %t5, %t3; lop3.b32 %t5, %t5, %t1, %t4, 0x6A;",
        "shift": "shl.b32 %t5, %t4, %t1; shr.u32 %t6, %t3, %t1; shr.s32 %t7, %t4, %t1;\n"
                 "lop3.b32 %t5, %t5, %t6, %t7, 0x96;",
        "funnel": "shf.l.wrap.b32 %t5, %t3, %t4, %t1; shf.r.clamp.b32 %t6, %t3, %t4, %t1;\n"
                  "xor.b32 %t5, %t5, %t6;",
        "count": "popc.b32 %t5, %t4; clz.b32 %t6, %t1; brev.b32 %t7, %t1; bfind.s32 %t8, %t4;\n"
                 "mad.lo.u32 %t5, %t5, 77, %t6; xor.b32 %t5, %t5, %t7; add.u32 %t5, %t5, %t8;",
        "compare": "setp.lt.s32 %p0, %t1, 20; selp.b32 %t5, %t3, %t4, %p0; setp.gt.u32 %p1, %t4, %t1;\n"
                   "and.pred %p2, %p0, %p1; selp.b32 %t6, 5, 9, %p2; add.u32 %t5, %t5, %t6;",
        "permute": "prmt.b32 %t5, %t3, %t4, %t1; prmt.b32 %t6, %t3, %t4, 0x1735; xor.b32 %t5, %t5, %t6;",
        "minimum": "min.s32 %t5, %t4, %t1; max.u32 %t6, %t3, %t1; abs.s32 %t7, %t4;\n"
                   "mad.lo.u32 %t5, %t5, %t6, %t7;",
        "field": "bfe.u32 %t5, %t3, %t1, 7; bfi.b32 %t6, %t1, %t4, 5, 9; bfe.s32 %t7, %t4, 4, 9;\n"
                 "lop3.b32 %t5, %t5, %t6, %t7, 0x96;",
        "divide": "div.u32 %t5, %t4, %t1; rem.s32 %t6, %t4, %t1; xor.b32 %t5, %t5, %t6;",
        "float": "cvt.rn.f32.u32 %f0, %t1; mov.b32 %f1, %t3; fma.rn.f32 %f0, %f0, %f1, %f1;\n"
                 "setp.gt.f32 %p0, %f0, 0f41000000; selp.f32 %f0, %f0, %f1, %p0; mov.b32 %t5, %f0;",
    }  # fmt: skip
    for name, body in bodies.items():
        table.add(f"uniform_{name}", "i32", "b32", f"{words}{body}\nadd.u32 %d, %a, %t5;")
    table.add("uniform_wide", "i64", "b64",
              "cvt.u64.u32 %x0, %block; add.u64 %x0, %x0, %p; shl.b64 %x1, %x0, 3; mul.lo.u64 %x2, %q, %x0;\n"
              "setp.lt.u64 %p0, %x1, %x2; selp.b64 %x3, %x1, %x2, %p0; shr.s64 %x4, %q, 9;\n"
              "xor.b64 %x3, %x3, %x4; add.u64 %d, %a, %x3;")  # fmt: skip


def _compound(table: Table) -> None:
    """Patterns for which ptxas has instructions of its own."""
    for amount in (1, 2, 4, 9, 31):
        table.add(f"shift_add_{amount}", "i32 i32", "b32 b32",
                  f"shl.b32 %t0, %a, {amount}; add.s32 %d, %t0, %b; sub.s32 %e, %b, %t0;")  # fmt: skip
        table.add(f"shift_add_wide_{amount}", "i64 i64", "b64",
                  f"shl.b64 %x0, %a, {amount}; add.s64 %d, %x0, %b;")  # fmt: skip
        table.add(f"index_wide_{amount}", "i32 i64", "b64 b64",
                  f"cvt.s64.s32 %x0, %a; shl.b64 %x0, %x0, {amount}; add.s64 %d, %x0, %b;\n"
                  f"cvt.u64.u32 %x1, %a; shl.b64 %x1, %x1, {amount}; add.s64 %e, %x1, %b;")  # fmt: skip
        table.add(f"shift_high_add_{amount}", "i32 i32 i32", "b32",
                  f"shf.l.wrap.b32 %t0, %a, %b, {amount}; add.s32 %d, %t0, %c;")  # fmt: skip
    table.add("add3", "i32 i32 i32", "b32 b32 b32",
              "add.s32 %t0, %a, %b; add.s32 %d, %t0, %c; sub.s32 %e, %t0, %c; sub.s32 %t1, %a, %b;\n"
              "sub.s32 %f, %t1, %c;")  # fmt: skip
    table.add("add3_wide", "i64 i64 i64", "b64 b64",
              "add.s64 %x0, %a, %b; add.s64 %d, %x0, %c; sub.s64 %x1, %c, %x0; sub.s64 %e, 5, %x1;")  # fmt: skip
    table.add("absolute_difference", "i32 i32 i32", "b32 b32",
              "sub.s32 %t0, %a, %b; abs.s32 %d, %t0; abs.s32 %t1, %c; add.s32 %e, %t1, %a;")  # fmt: skip
    table.add("predicates_as_bits", "i32 i32 i32", "b32",
              "\n".join(f"setp.gt.s32 %p{n}, %{'abc'[n % 3]}, {n * 1000};" for n in range(7))
              + "\nmov.b32 %d, 0;\n"
              + "\n".join(f"selp.b32 %t0, {1 << n}, 0, %p{n}; or.b32 %d, %d, %t0;" for n in range(7)))  # fmt: skip
    table.add("bits_as_predicates", "i32 i32", "b32",
              "mov.b32 %d, %b;\n"
              + "\n".join(f"and.b32 %t0, %a, {1 << n}; setp.ne.u32 %p0, %t0, 0; @%p0 mad.lo.u32 %d, %d, {2 * n + 3}, {n};" for n in range(7)))  # fmt: skip
    table.add("halves", "i32 i32", "b32 b32 b32",
              "mov.b32 {%h0, %h1}, %a; mov.b32 {%h2, %h3}, %b; mov.b32 %d, {%h1, %h2};\n"
              "mul.wide.u16 %e, %h0, %h3; mul.wide.s16 %f, %h1, %h3;")  # fmt: skip
    table.add("bytes", "i32", "b32 b32 b32",
              "bfe.u32 %t0, %a, 8, 8; bfe.s32 %t1, %a, 16, 8; shr.u32 %t2, %a, 24;\n"
              "cvt.s32.s8 %t3, %a; add.s32 %d, %t0, %t1; add.s32 %e, %t2, %t3; cvt.u32.u8 %f, %a;")  # fmt: skip
    table.add("special_registers", "i32", "b32 b32 b32 b32 b32 b32 b32 b32",
              "mov.u32 %d, %laneid; mov.u32 %e, %ntid.x; mov.u32 %f, %nctaid.x; mov.u32 %g, %lanemask_lt;\n"
              "mov.u32 %h, %lanemask_ge; mov.u32 %i, %tid.y; mov.u32 %j, %ctaid.z;\n"
              "mov.u32 %t0, %lanemask_eq; mov.u32 %t1, %lanemask_le; mov.u32 %t2, %lanemask_gt;\n"
              "lop3.b32 %k, %t0, %t1, %t2, 0x96; xor.b32 %k, %k, %a;")  # fmt: skip
