"""Floating point: arithmetic, comparisons, approximate functions; double, half and bfloat."""

from __future__ import annotations

from tests.lift.vectors.form import Table, expand

_ROUNDING = ("rn", "rz", "rm", "rp")
_ORDERED = ("eq", "ne", "lt", "le", "gt", "ge", "num", "nan", "equ", "neu", "ltu", "leu", "gtu", "geu")  # fmt: skip
_CLASSES = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _single(table)
    _double(table)
    _division(table)
    _approximate(table)
    _comparison(table)
    _modifiers(table)
    _half(table)
    _bfloat(table)


def _single(table: Table) -> None:
    for rounding in _ROUNDING:
        for modifier in ("", ".ftz", ".sat", ".ftz.sat"):
            for name in ("add", "sub", "mul"):
                table.op(f"{name}.{rounding}{modifier}.f32", "f32 f32", "f32", floats="f32")
            table.op(f"fma.{rounding}{modifier}.f32", "f32 f32 f32", "f32", floats="f32")
    table.ops("{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32", "f32 f32", "f32", floats="f32")
    table.ops("{abs,neg}{,.ftz}.f32", "f32", "f32", floats="f32")
    table.op("copysign.f32", "f32 f32", "f32")


def _double(table: Table) -> None:
    for rounding in _ROUNDING:
        for name in ("add", "sub", "mul"):
            table.op(f"{name}.{rounding}.f64", "f64 f64", "f64", floats="f64")
        table.op(f"fma.{rounding}.f64", "f64 f64 f64", "f64", floats="f64")
    table.ops("{min,max}.f64", "f64 f64", "f64", floats="f64")
    table.ops("{abs,neg}.f64", "f64", "f64", floats="f64")
    table.op("copysign.f64", "f64 f64", "f64")


def _division(table: Table) -> None:
    for rounding in _ROUNDING:
        for ftz in ("", ".ftz"):
            table.op(f"div.{rounding}{ftz}.f32", "f32 f32", "f32", floats="f32")
            table.ops(f"{{rcp,sqrt}}.{rounding}{ftz}.f32", "f32", "f32", floats="f32")
        table.op(f"div.{rounding}.f64", "f64 f64", "f64", floats="f64")
        table.ops(f"{{rcp,sqrt}}.{rounding}.f64", "f64", "f64", floats="f64")


def _approximate(table: Table) -> None:
    """The bounds are those of the PTX manual, or twice the absolute error for sine and the like."""
    table.ops("div.{approx,full}{,.ftz}.f32", "f32 f32", "f32", ulp=3, floats="f32")
    table.ops("{rcp,rsqrt,sqrt}.approx{,.ftz}.f32", "f32", "f32", ulp=3, floats="f32")
    table.ops("ex2.approx{,.ftz}.f32", "f32", "f32", ulp=4, floats="f32")
    table.ops("lg2.approx{,.ftz}.f32", "f32", "f32", ulp=-22, floats="f32")
    table.ops("{sin,cos}.approx{,.ftz}.f32", "f32", "f32", ulp=-20, floats="f32")
    table.op("tanh.approx.f32", "f32", "f32", ulp=-10, floats="f32")
    table.ops("{rcp,rsqrt}.approx.ftz.f64", "f64", "f64", ulp=-20, floats="f64")
    table.op("rsqrt.approx.f64", "f64", "f64", ulp=2, floats="f64")
    table.add("ex2_approx_f16", "f16", "b16", "ex2.approx.f16 %d, %a;", ulp=-9, floats="f16")
    table.add("tanh_approx_f16", "f16", "b16", "tanh.approx.f16 %d, %a;", ulp=-9, floats="f16")
    table.add("ex2_approx_f16x2", "f16x2", "b32", "ex2.approx.f16x2 %d, %a;", ulp=-9, floats="f16")
    table.add(
        "tanh_approx_f16x2", "f16x2", "b32", "tanh.approx.f16x2 %d, %a;", ulp=-9, floats="f16"
    )
    bf16 = {"ulp": -6, "floats": "bf16", "minimum": 90}
    table.add("ex2_approx_bf16", "bf16", "b16", "ex2.approx.ftz.bf16 %d, %a;", **bf16)
    table.add("tanh_approx_bf16", "bf16", "b16", "tanh.approx.bf16 %d, %a;", **bf16)


def _comparison(table: Table) -> None:
    for kind, ftzs in (("f32", ("", ".ftz")), ("f64", ("",))):
        for order in _ORDERED:
            for ftz in ftzs:
                table.add(f"setp.{order}{ftz}.{kind}", f"{kind} {kind}", "b32",
                          f"setp.{order}{ftz}.{kind} %p0, %a, %b; selp.b32 %d, 1, 0, %p0;")  # fmt: skip
        for order in ("lt", "gtu", "nan"):
            for ftz in ftzs:
                table.op(f"set.{order}{ftz}.u32.{kind}", f"{kind} {kind}", "b32")
                table.op(f"set.{order}{ftz}.f32.{kind}", f"{kind} {kind}", "f32")
        for combine in ("and", "or", "xor"):
            table.add(f"setp.lt.{combine}.{kind}", f"{kind} {kind} i32", "b32 b32",
                      f"setp.ne.u32 %p2, %c, 7; setp.lt.{combine}.{kind} %p0|%p1, %a, %b, %p2;\n"
                      "selp.b32 %d, 1, 0, %p0; selp.b32 %e, 1, 0, %p1;")  # fmt: skip
        for name in _CLASSES:
            table.add(f"testp.{name}.{kind}", kind, "b32",
                      f"testp.{name}.{kind} %p0, %a; selp.b32 %d, 1, 0, %p0;")  # fmt: skip
        table.add(f"select.{kind}", f"{kind} {kind} i32", kind,
                  f"setp.lt.s32 %p0, %c, 0; selp.{kind} %d, %a, %b, %p0;")  # fmt: skip
    table.ops("slct{,.ftz}.f32.f32", "f32 f32 f32", "f32")
    table.add("compare_literal", "f32", "b32 b32",
              "setp.gt.f32 %p0, %a, 0f3F800000; setp.leu.f32 %p1, %a, 0f80000000;\n"
              "selp.b32 %d, 1, 0, %p0; selp.b32 %e, 1, 0, %p1;")  # fmt: skip


def _modifiers(table: Table) -> None:
    """Signs folded into operands, literals and constants."""
    table.add("signs_f32", "f32 f32 f32", "f32 f32 f32 f32",
              "neg.f32 %f0, %a; abs.f32 %f1, %b; neg.f32 %f2, %f1; add.f32 %d, %f0, %f1;\n"
              "mul.f32 %e, %f0, %b; fma.rn.f32 %f, %f0, %b, %c; add.f32 %g, %f2, %c;",
              floats="f32")  # fmt: skip
    table.add("signs_f64", "f64 f64 f64", "f64 f64 f64",
              "neg.f64 %g0, %a; abs.f64 %g1, %b; add.f64 %d, %g0, %g1; mul.f64 %e, %a, %g1;\n"
              "neg.f64 %g2, %c; fma.rn.f64 %f, %a, %b, %g2;", floats="f64")  # fmt: skip
    table.add("literals_f32", "f32 f32", "f32 f32 f32 f32",
              "add.f32 %d, %a, 0f3FC00000; mul.f32 %e, %a, 0fC0490FDB; fma.rn.f32 %f, %a, %b, 0f7F800000;\n"
              "fma.rn.f32 %g, %a, 0f00000001, %b;", floats="f32")  # fmt: skip
    table.add("literals_f64", "f64 f64", "f64 f64 f64",
              "add.f64 %d, %a, 0d3FF8000000000000; mul.f64 %e, %a, 0d400921FB54442D18;\n"
              "fma.rn.f64 %f, %a, %b, 0dBFE0000000000000;", floats="f64")  # fmt: skip
    table.add("constants_f32", "f32 f32", "f32 f32 f32 f32",
              "mov.b64 {%t1, %t2}, %q; mov.b32 %f0, %t1; add.f32 %d, %a, %f0; mul.f32 %e, %a, %f0;\n"
              "fma.rn.f32 %f, %a, %f0, %b; fma.rn.f32 %g, %a, %b, %f0;", floats="f32")  # fmt: skip
    table.add("constants_f64", "f64 f64", "f64 f64 f64",
              "mov.b64 %g0, %q; add.f64 %d, %a, %g0; mul.f64 %e, %a, %g0; fma.rn.f64 %f, %a, %g0, %b;",
              floats="f64")  # fmt: skip
    table.add("clamp_f32", "f32 f32", "f32 f32",
              "max.f32 %f0, %a, 0f00000000; min.f32 %d, %f0, 0f3F800000; max.f32 %e, %b, %f0;",
              floats="f32")  # fmt: skip
    table.add("polynomial_f32", "f32 f32", "f32",
              "fma.rn.f32 %f0, %a, 0f3F000000, %b; fma.rn.f32 %f0, %f0, %a, 0fBF800000;\n"
              "fma.rn.ftz.f32 %f0, %f0, %a, %b; mul.ftz.f32 %d, %f0, %f0;", floats="f32")  # fmt: skip
    table.add("scaled_f32", "f32 f32", "f32 f32",
              "mul.f32 %f0, %a, 0f40000000; mul.f32 %d, %f0, %b; mul.f32 %f1, %a, 0f3E800000;\n"
              "mul.f32 %e, %f1, %b;", floats="f32")  # fmt: skip


def _half(table: Table) -> None:
    for kind, operand, result in (("f16", "f16", "b16"), ("f16x2", "f16x2", "b32")):
        for name in ("add", "sub", "mul"):
            table.ops(f"{name}{{,.rn}}{{,.ftz}}{{,.sat}}.{kind}", f"{operand} {operand}", result,
                      floats="f16")  # fmt: skip
        table.ops(f"fma.rn{{,.ftz}}{{,.sat,.relu}}.{kind}", " ".join([operand] * 3), result,
                  floats="f16")  # fmt: skip
        table.ops(f"{{abs,neg}}{{,.ftz}}.{kind}", operand, result, floats="f16")
        table.ops(f"{{min,max}}{{,.ftz}}{{,.NaN}}{{,.xorsign.abs}}.{kind}",
                  f"{operand} {operand}", result, floats="f16")  # fmt: skip
    _compare_halves(table, "f16", 80)
    table.add("mul_add_f16x2", "f16x2 f16x2 f16x2", "b32 b32",
              "mul.f16x2 %t0, %a, %b; add.f16x2 %d, %t0, %c; neg.f16x2 %t1, %a; add.f16x2 %e, %t1, %c;",
              floats="f16")  # fmt: skip
    table.add("halves_swapped", "f16x2 f16x2", "b32 b32",
              "mov.b32 {%h0, %h1}, %a; mov.b32 %t0, {%h1, %h0}; mov.b32 %t1, {%h0, %h0};\n"
              "add.f16x2 %d, %t0, %b; mul.f16x2 %e, %t1, %b;", floats="f16")  # fmt: skip
    table.add("half_literals", "f16x2", "b32 b32",
              "mov.b32 %t0, 0x3C003C00; fma.rn.f16x2 %d, %a, %t0, %a; mov.b32 %t1, 0x42004000;\n"
              "mul.f16x2 %e, %a, %t1;", floats="f16")  # fmt: skip


def _bfloat(table: Table) -> None:
    for kind, operand, result in (("bf16", "bf16", "b16"), ("bf16x2", "bf16x2", "b32")):
        table.ops(f"fma.rn{{,.relu}}.{kind}", " ".join([operand] * 3), result, floats="bf16")
        table.ops(f"{{abs,neg}}.{kind}", operand, result, floats="bf16")
        table.ops(f"{{min,max}}{{,.NaN}}{{,.xorsign.abs}}.{kind}", f"{operand} {operand}", result,
                  floats="bf16")  # fmt: skip
        table.ops(f"{{add,sub,mul}}{{,.rn}}.{kind}", f"{operand} {operand}", result,
                  floats="bf16", minimum=90)  # fmt: skip
    _compare_halves(table, "bf16", 90)


def _compare_halves(table: Table, kind: str, minimum: int) -> None:
    ftzs = ("", ".ftz") if kind == "f16" else ("",)
    for order in _ORDERED:
        for ftz in ftzs:
            table.add(f"setp.{order}{ftz}.{kind}", f"{kind} {kind}", "b32",
                      f"setp.{order}{ftz}.{kind} %p0, %a, %b; selp.b32 %d, 1, 0, %p0;",
                      minimum=minimum)  # fmt: skip
            table.add(f"setp.{order}{ftz}.{kind}x2", f"{kind}x2 {kind}x2", "b32 b32",
                      f"setp.{order}{ftz}.{kind}x2 %p0|%p1, %a, %b; selp.b32 %d, 1, 0, %p0;\n"
                      "selp.b32 %e, 1, 0, %p1;", minimum=minimum)  # fmt: skip
    for result in expand(f"{{u32.{kind}x2,{kind}x2.{kind}x2}}"):
        table.op(f"set.lt.{result}", f"{kind}x2 {kind}x2", "b32", minimum=minimum)
