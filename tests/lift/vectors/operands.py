"""Floating point with every kind of operand: lanes, constants, literals, uniform values, each with
every sign.

A form of machine code is an opcode with what its operands are: ptxas folds ``neg`` and ``abs`` into
them, and takes parameters from the constant bank (sm_80) or from uniform registers (sm_90).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from tests.lift.vectors.form import Table

_SIGNS = ("plain", "neg", "abs", "negabs")
_ORDERS = ("eq", "ne", "lt", "le", "gt", "ge", "num", "nan", "equ", "neu", "ltu", "leu", "gtu", "geu")  # fmt: skip
_WORDS = {"f32": 1, "f64": 2}
_OUTPUTS = "defghijk"
_BITS = 32

# Where the operand that is no lane's comes from, left in register %f15 or %g15: a parameter, a
# literal that fits an instruction, one that does not, and a value that is the same in a block.
# The parameter q has 3.14 in its low word and a tiny number in both together.
_UNIFORM = "mov.b64 {%t14, %t15}, %q; shl.b32 %t13, %block, 19; xor.b32 %t14, %t14, %t13;\n"
_OTHERS = {
    "f32": {
        "constant": "mov.b64 {%t14, %t15}, %q; mov.b32 %f15, %t14;\n",
        "tiny": "mov.b64 {%t14, %t15}, %p; mov.b32 %f15, %t14;\n",
        "literal": "mov.f32 %f15, 0f3FCCCCCD;\n",
        "uniform": f"{_UNIFORM}mov.b32 %f15, %t14;\n",
    },
    "f64": {
        "constant": "mov.b64 %g15, %q;\n",
        "long": "mov.f64 %g15, 0d400921FB54442D18;\n",
        "literal": "mov.f64 %g15, 0d3FF8000000000000;\n",
        "uniform": f"{_UNIFORM}mov.b64 %g15, {{%t15, %t14}};\n",
    },
}  # fmt: skip


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    table.kept = 16
    for kind in ("f32", "f64"):
        _sums_and_products(table, kind)
        _fused(table, kind)
        _extremes(table, kind)
        _comparisons(table, kind)
        _selections(table, kind)
    _modified(table)
    _quotients(table)
    _conversions(table)
    _halves(table)


def _letter(kind: str) -> str:
    return "f" if kind == "f32" else "g"


def _signed(kind: str, register: str, sign: str, target: str) -> tuple[str, str]:
    """Text that leaves ``register`` with ``sign`` in ``target``, and where it is then."""
    if sign == "plain":
        return "", register
    if sign == "negabs":
        return f"abs.{kind} {target}, {register}; neg.{kind} {target}, {target}; ", target
    return f"{sign}.{kind} {target}, {register}; ", target


def _operation(kind: str, opcode: str, sources: Sequence[tuple[str, str]], result: str) -> str:
    """An instruction over ``sources``, each a register and its sign."""
    text, names = "", []
    for number, (register, sign) in enumerate(sources):
        before, name = _signed(kind, register, sign, f"%{_letter(kind)}{number}")
        text += before
        names.append(name)
    return f"{text}{opcode} {result}, {', '.join(names)};"


def _several(table: Table, name: str, kind: str, head: str, operations: Sequence[str]) -> None:
    """Kernels of as many operations as an output slot has room for; each names ``%result``."""
    room = 8 // _WORDS[kind]
    groups = [operations[first : first + room] for first in range(0, len(operations), room)]
    for number, group in enumerate(groups):
        results = _OUTPUTS[: len(group)]
        lines = [
            text.replace("%result", f"%{output}")
            for text, output in zip(group, results, strict=True)
        ]
        table.add(f"{name}_{number}", " ".join([kind] * 3), " ".join([kind] * len(group)),
                  head + "\n".join(lines), floats=kind)  # fmt: skip


def _lanes_and_other(count: int, kind: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every choice of one operand, or none, that is no lane's: name, text before, registers."""
    lanes = tuple(f"%{name}" for name in "abc"[:count])
    yield "lanes", "", lanes
    for (source, head), place in product(_OTHERS[kind].items(), range(count)):
        chosen = list(lanes)
        chosen[place] = f"%{_letter(kind)}15"
        yield f"{source}_{'abc'[place]}", head, tuple(chosen)


def _sums_and_products(table: Table, kind: str) -> None:
    for operation in ("add", "mul"):
        for name, head, registers in _lanes_and_other(2, kind):
            made = [
                _operation(kind, f"{operation}.{kind}", list(zip(registers, signs, strict=True)), "%result")
                for signs in product(_SIGNS, repeat=2)
            ]  # fmt: skip
            _several(table, f"{operation}_{kind}_{name}", kind, head, made)


def _fused(table: Table, kind: str) -> None:
    for name, head, registers in _lanes_and_other(3, kind):
        if name.endswith("_a"):
            continue  # the product's factors may be exchanged
        made = [
            _operation(kind, f"fma.rn.{kind}", list(zip(registers, signs, strict=True)), "%result")
            for signs in product(_SIGNS, repeat=3)
        ]
        _several(table, f"fma_{kind}_{name}", kind, head, made)


def _modified(table: Table) -> None:
    """Saturation, flushing and the other roundings, with a few signs."""
    chosen = (("plain",) * 3, ("neg", "plain", "plain"), ("plain", "plain", "neg"),
              ("negabs", "plain", "plain"), ("abs", "neg", "abs"))  # fmt: skip
    for modifier in (".ftz", ".sat", ".ftz.sat", ".rz"):
        for operation, count in (("add", 2), ("mul", 2), ("fma", 3)):
            rounding = ".rn" if operation == "fma" and modifier != ".rz" else ""
            for name, head, registers in _lanes_and_other(count, "f32"):
                if name.startswith("tiny") and "ftz" not in modifier:
                    continue
                made = [
                    _operation("f32", f"{operation}{rounding}{modifier}.f32",
                               list(zip(registers, signs, strict=False)), "%result")
                    for signs in chosen
                ]  # fmt: skip
                _several(table, f"{operation}{modifier}_{name}", "f32", head, made)


def _extremes(table: Table, kind: str) -> None:
    for operation in ("min", "max", "min.NaN", "max.NaN") if kind == "f32" else ("min", "max"):
        for name, head, registers in _lanes_and_other(2, kind):
            made = [
                _operation(kind, f"{operation}.{kind}", list(zip(registers, signs, strict=True)), "%result")
                for signs in product(_SIGNS, repeat=2)
            ]  # fmt: skip
            _several(table, f"{operation}_{kind}_{name}", kind, head, made)


_COMBINED = {
    "alone": "",
    "and": ".and",
    "and_not": ".and",
    "or": ".or",
    "or_not": ".or",
    "xor": ".xor",
}


def _comparisons(table: Table, kind: str) -> None:
    """A bit of the result for each order and pair of signs.

    The predicate that comparisons are combined with differs between lanes.
    """
    signs = list(product(("plain", "abs"), _SIGNS))
    for (combined, suffix), (name, head, registers) in product(
        _COMBINED.items(), _lanes_and_other(2, kind)
    ):
        last = "" if combined == "alone" else ", !%p7" if combined.endswith("not") else ", %p7"
        lines = [f"{head}and.b32 %t12, %lane, 4; setp.ne.u32 %p7, %t12, 0;"]
        bits = 0
        for order, (first, second) in product(_ORDERS, signs):
            if name.endswith("_a") and (first, second) != ("plain", "plain"):
                continue
            if combined != "alone" and (first, second) not in _FEW_SIGNS:
                continue
            word, bit = divmod(bits, _BITS)
            result = f"%{_OUTPUTS[word]}"
            if bit == 0:
                lines.append(f"mov.b32 {result}, 0;")
            text = _operation(kind, f"setp.{order}{suffix}.{kind}",
                              list(zip(registers, (first, second), strict=True)), "%p0")  # fmt: skip
            lines.append(f"{text.removesuffix(';')}{last}; @%p0 or.b32 {result}, {result}, {1 << bit:#x};")  # fmt: skip
            bits += 1
        words = -(-bits // _BITS)
        table.add(f"compare_{kind}_{combined}_{name}", f"{kind} {kind}", " ".join(["b32"] * words),
                  "\n".join(lines))  # fmt: skip


_FEW_SIGNS = (("plain", "plain"), ("abs", "plain"), ("plain", "abs"), ("abs", "abs"))


def _selections(table: Table, kind: str) -> None:
    for name, head, registers in _lanes_and_other(2, kind):
        made = []
        for signs in product(_SIGNS, repeat=2):
            text = _operation(kind, f"selp.{kind}", list(zip(registers, signs, strict=True)), "%result")  # fmt: skip
            made.append(f"{text.removesuffix(';')}, %p7;")
        for order in ("gt", "leu", "lt", "neu"):
            condition = f"{head}setp.{order}.{kind} %p7, %c, %a;\n"
            _several(table, f"select_{order}_{kind}_{name}", kind, condition, made)
    for order, (name, head, registers) in product(_ORDERS, _lanes_and_other(2, kind)):
        table.add(f"taken_{order}_{kind}_{name}", f"{kind} {kind}", "b32 b32 b32",
                  f"{head}setp.{order}.{kind} %p0, {', '.join(registers)}; selp.b32 %d, %lane, 7, %p0;\n"
                  f"{_operation(kind, f'setp.{order}.{kind}', [(registers[0], 'plain'), (registers[1], 'neg')], '%p1')} selp.b32 %e, 3, %lane, %p1;\n"
                  "mov.b32 %f, %lane; @%p1 mad.lo.u32 %f, %f, %f, 9;")  # fmt: skip
        if order in ("gt", "leu", "eq"):
            table.add(f"set_{order}_{kind}_{name}", f"{kind} {kind}", "f32 b32",
                      f"{head}set.{order}.f32.{kind} %d, {', '.join(registers)}; set.{order}.u32.{kind} %e, {', '.join(registers)};")  # fmt: skip


def _quotients(table: Table) -> None:
    """Division, whose steps start at the reciprocal of the divisor, whatever that is."""
    for kind in ("f32", "f64"):
        for name, head, registers in _lanes_and_other(2, kind):
            if name == "lanes":
                continue
            made = [
                _operation(kind, f"div.rn.{kind}", list(zip(registers, signs, strict=True)), "%result")
                for signs in product(("plain", "neg"), ("plain", "negabs"))
            ]  # fmt: skip
            _several(table, f"divide_{kind}_{name}", kind, head, made)
    for source, head in _OTHERS["f32"].items():
        for sign in _SIGNS:
            before, register = _signed("f32", "%f15" if source != "lanes" else "%a", sign, "%f0")
            table.add(f"rcp_{source}_{sign}", "f32", "f32",
                      f"{head}{before}rcp.approx.ftz.f32 %f1, {register}; mul.f32 %d, %f1, %a;",
                      floats="f32", ulp=3)  # fmt: skip
    for function in ("rcp", "rsqrt", "sqrt", "lg2", "ex2", "sin", "cos"):
        for sign in ("neg", "abs", "negabs"):
            before, register = _signed("f32", "%a", sign, "%f0")
            bound = {"sin": -20, "cos": -20, "lg2": -22, "ex2": 4}.get(function, 3)
            table.add(f"{function}_{sign}", "f32", "f32",
                      f"{before}{function}.approx.ftz.f32 %d, {register};", floats="f32",
                      ulp=bound)  # fmt: skip


def _conversions(table: Table) -> None:
    """Of what is the same in all lanes; the result is added to something of the lane's."""
    sources = {
        "constant": "mov.b64 {%t0, %t1}, %q;\n",
        "uniform": "mov.b64 {%t0, %t1}, %q; xor.b32 %t0, %t0, %block; mul.lo.u32 %t1, %t1, %block;\n",
    }  # fmt: skip
    for (source, head), sign, size in product(sources.items(), "su", (8, 16, 32, 64)):
        register = {8: "%h0", 16: "%h0", 32: "%t1", 64: "%x0"}[size]
        begin = f"{head}mov.b64 %x0, {{%t1, %t0}}; cvt.u16.u32 %h0, %t1;\n"
        for kind in _WORDS:
            letter = _letter(kind)
            table.add(f"from_{source}_{sign}{size}_{kind}", kind, f"{kind} {kind}",
                      f"{begin}cvt.rn.{kind}.{sign}{size} %{letter}0, {register}; add.{kind} %d, %{letter}0, %a;\n"
                      f"cvt.rz.{kind}.{sign}{size} %{letter}1, {register}; add.{kind} %e, %{letter}1, %a;", floats=kind)  # fmt: skip
    for source, head in sources.items():
        begin = f"{head}mov.b32 %f0, %t0; mov.b64 %g0, {{%t1, %t0}};\n"
        table.add(f"widened_{source}", "f64", "f64 f64",
                  f"{begin}cvt.f64.f32 %g1, %f0; add.f64 %d, %g1, %a; neg.f32 %f1, %f0;\n"
                  "cvt.f64.f32 %g2, %f1; mul.f64 %e, %g2, %a;", floats="f64")  # fmt: skip
        table.add(f"narrowed_{source}", "f32", "f32 f32 f32",
                  f"{begin}cvt.rn.f32.f64 %f1, %g0; add.f32 %d, %f1, %a; cvt.rz.f32.f64 %f2, %g0;\n"
                  "add.f32 %e, %f2, %a; cvt.rpi.f32.f32 %f, %f0;", floats="f32")  # fmt: skip
        table.add(f"whole_{source}", "f64", "f64 f64 f64",
                  f"{begin}cvt.rzi.f64.f64 %g1, %g0; add.f64 %d, %g1, %a; cvt.rmi.f64.f64 %g2, %g0;\n"
                  "add.f64 %e, %g2, %a; cvt.rni.f64.f64 %g3, %g0; mul.f64 %f, %g3, %a;", floats="f64")  # fmt: skip
        table.add(f"to_integer_{source}", "i32", "b32 b32 b32 b32",
                  f"{begin}cvt.rzi.s32.f64 %t5, %g0; add.u32 %d, %t5, %a; cvt.rmi.s32.f32 %t6, %f0; add.u32 %e, %t6, %a;\n"
                  "cvt.rni.u32.f32 %t7, %f0; add.u32 %f, %t7, %a; cvt.rpi.u32.f64 %t8, %g0; add.u32 %g, %t8, %a;")  # fmt: skip
    for sign in _SIGNS[1:]:
        of_f32, f32 = _signed("f32", "%a", sign, "%f0")
        of_f64, f64 = _signed("f64", "%a", sign, "%g0")
        table.add(f"widened_{sign}_f32", "f32", "f64", f"{of_f32}cvt.f64.f32 %d, {f32};", floats="f64")  # fmt: skip
        table.add(f"whole_{sign}_f32", "f32", "f32 f32",
                  f"{of_f32}cvt.rmi.f32.f32 %d, {f32}; cvt.rzi.f32.f32 %e, {f32};", floats="f32")  # fmt: skip
        table.add(f"to_integer_{sign}_f32", "f32", "b32 b32 b64",
                  f"{of_f32}cvt.rzi.s32.f32 %d, {f32}; cvt.rni.u32.f32 %e, {f32}; cvt.rmi.s64.f32 %f, {f32};")  # fmt: skip
        table.add(f"halved_{sign}_f32", "f32", "b16", f"{of_f32}cvt.rn.f16.f32 %d, {f32};", floats="f16")  # fmt: skip
        table.add(f"whole_{sign}_f64", "f64", "f64 f64",
                  f"{of_f64}cvt.rzi.f64.f64 %d, {f64}; cvt.rpi.f64.f64 %e, {f64};", floats="f64")  # fmt: skip
        table.add(f"narrowed_{sign}_f64", "f64", "f32 f32",
                  f"{of_f64}cvt.rn.f32.f64 %d, {f64}; cvt.rp.f32.f64 %e, {f64};", floats="f32")  # fmt: skip
        table.add(f"to_integer_{sign}_f64", "f64", "b32 b32 b64",
                  f"{of_f64}cvt.rzi.s32.f64 %d, {f64}; cvt.rni.u32.f64 %e, {f64}; cvt.rmi.s64.f64 %f, {f64};")  # fmt: skip


def _halves(table: Table) -> None:
    """Halves of a word doubled, from lanes, constants and literals; comparisons of single ones."""
    sources = {
        "lane": "mov.b32 {%h0, %h1}, %b;\n",
        "constant": "mov.b64 {%t0, %t1}, %q; mov.b32 {%h0, %h1}, %t0;\n",
        "uniform": "mov.b64 {%t0, %t1}, %q; shl.b32 %t2, %block, 5; xor.b32 %t0, %t0, %t2;\n"
                   "mov.b32 {%h0, %h1}, %t0;\n",
        "literal": "mov.b16 %h0, 0x3E00; mov.b16 %h1, 0xC500;\n",
    }  # fmt: skip
    for source, head in sources.items():
        table.add(f"doubled_{source}", "f16x2 f16x2 f16x2", "b32 b32 b32 b32 b32 b32",
                  f"{head}mov.b32 %t3, {{%h0, %h0}}; mov.b32 %t4, {{%h1, %h1}};\n"
                  "fma.rn.f16x2 %d, %a, %t3, %c; fma.rn.f16x2 %e, %a, %c, %t4; add.f16x2 %f, %a, %t3;\n"
                  "mul.f16x2 %g, %a, %t4; neg.f16x2 %t5, %t3; fma.rn.f16x2 %h, %a, %t5, %c; sub.f16x2 %i, %a, %t4;",
                  floats="f16")  # fmt: skip
        table.add(f"single_half_{source}", "f16x2 f16x2 f16x2", "b16 b16 b16 b16",
                  f"{head}mov.b32 {{%h2, %h3}}, %a; mov.b32 {{%h4, %h5}}, %c;\n"
                  "fma.rn.f16 %d, %h2, %h0, %h4; add.f16 %e, %h3, %h1; mul.f16 %f, %h2, %h1; fma.rn.f16 %g, %h3, %h0, %h5;",
                  floats="f16")  # fmt: skip
        table.add(f"compare_half_{source}", "f16x2 f16x2", "b32 b32 b32 b32",
                  f"{head}mov.b32 {{%h2, %h3}}, %a; mov.b32 %t3, {{%h0, %h0}};\n"
                  "setp.gt.f16 %p0, %h2, %h1; selp.b32 %d, 1, 0, %p0; setp.leu.f16 %p1, %h3, %h0; selp.b32 %e, 1, 0, %p1;\n"
                  "set.eq.f16x2.f16x2 %f, %a, %t3; setp.neu.f16x2 %p2|%p3, %a, %t3; selp.b32 %t4, 1, 0, %p2;\n"
                  "selp.b32 %t5, 2, 0, %p3; or.b32 %g, %t4, %t5;")  # fmt: skip
