"""Atomic operations and reductions: every type, space, scope and ordering."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_PLAIN = [
    *(f"add.{kind}" for kind in ("u32", "s32", "u64", "f32", "f64")),
    *(f"{name}.{kind}" for name in ("min", "max") for kind in ("u32", "s32", "u64", "s64")),
    *(f"{name}.b{size}" for name in ("and", "or", "xor") for size in (32, 64)),
    "inc.u32",
    "dec.u32",
]
_ATOMIC = [*_PLAIN, "exch.b32", "exch.b64"]
_OPERANDS = {"f32": "f32", "f64": "f64"}
_SHARED = (
    ".shared .align 16 .b8 cells[2048];\nmov.u32 %t0, cells; mad.lo.u32 %t0, %thread, 16, %t0;\n"
)
_GENERIC = "cvt.u64.u32 %x8, %t0; cvta.shared.u64 %x8, %x8;\n"
_SCOPES = tuple(
    f".{order}.{scope}"
    for order, scope in product(("relaxed", "acquire", "release", "acq_rel"), ("cta", "gpu", "sys"))
)


def _kind(name: str) -> tuple[str, str, str, int]:
    """Operand kind, register type, register of the old value, words of an operation's type."""
    kind = name.rpartition(".")[2]
    wide = kind.endswith("64")
    if kind in _OPERANDS:
        return kind, kind, "%g0" if wide else "%f0", 2 if wide else 1
    return ("i64", "b64", "%x0", 2) if wide else ("i32", "b32", "%t4", 1)


# Nvidia's adder of floats in memory flushes denormal numbers and AMD's keeps them: results differ
# by less than the least normal number.
_FLUSHED = -126


def _bound(name: str, space: str) -> int:
    return _FLUSHED if name == "add.f32" and space != "shared" else 0


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    for name in _ATOMIC:
        _returning(table, name, "")
    for name in _PLAIN:
        _reduction(table, name, "")
    for scope in _SCOPES:
        for name in ("add.u32", "add.f32", "exch.b64", "max.s64"):
            _returning(table, name, scope, ("global",))
        for name in ("add.u32", "or.b64", "add.f64") if "acq" not in scope else ():
            _reduction(table, name, scope, ("global",))
    _compare_and_swap(table)
    _packed(table)
    _contended(table)
    _vectors(table)


def _returning(
    table: Table, name: str, scope: str, spaces: tuple[str, ...] = ("global", "shared", "generic")
) -> None:
    """Old value in the first words, new value after it."""
    operand, register, old, _ = _kind(name)
    floats = register if register[0] == "f" else ""
    for space in spaces:
        if space == "global":
            body = (f"st.global.{register} [%out+8], %a; atom{scope}.global.{name} {old}, [%out+8], %b;\n"
                    f"st.global.{register} [%out], {old};")  # fmt: skip
        else:
            address = "%t0" if space == "shared" else "%x8"
            prefix = "atom.shared" if space == "shared" else "atom"
            body = (f"{_SHARED}{_GENERIC if space == 'generic' else ''}st.shared.{register} [%t0], %a;\n"
                    f"{prefix}{scope}.{name} {old}, [{address}], %b; st.global.{register} [%out], {old};\n"
                    f"ld.shared.{register} {old}, [%t0]; st.global.{register} [%out+8], {old};")  # fmt: skip
        table.add(f"atom{scope}.{space}.{name}", f"{operand} {operand}", "", _zeroed(body), words=4,
                  floats=floats, ulp=_bound(name, space))  # fmt: skip


def _zeroed(body: str) -> str:
    return "mov.b64 %x9, 0; st.global.v2.b64 [%out], {%x9, %x9};\n" + body


def _reduction(
    table: Table, name: str, scope: str, spaces: tuple[str, ...] = ("global", "shared", "generic")
) -> None:
    operand, register, old, words = _kind(name)
    floats = register if register[0] == "f" else ""
    for space in spaces:
        if space == "global":
            body = f"st.global.{register} [%out], %a; red{scope}.global.{name} [%out], %b;"
        else:
            address = "%t0" if space == "shared" else "%x8"
            prefix = "red.shared" if space == "shared" else "red"
            body = (f"{_SHARED}{_GENERIC if space == 'generic' else ''}st.shared.{register} [%t0], %a;\n"
                    f"{prefix}{scope}.{name} [{address}], %b; ld.shared.{register} {old}, [%t0];\n"
                    f"st.global.{register} [%out], {old};")  # fmt: skip
        table.add(f"red{scope}.{space}.{name}", f"{operand} {operand}", "", body, words=words,
                  floats=floats, ulp=_bound(name, space))  # fmt: skip


def _compare_and_swap(table: Table) -> None:
    for scope in ("", *_SCOPES):
        for size, (operand, register, old) in {
            "16": ("i16", "b16", "%h0"), "32": ("i32", "b32", "%t4"), "64": ("i64", "b64", "%x0"),
        }.items():  # fmt: skip
            pick = (f"and.b32 %t5, %lane, 1; setp.eq.u32 %p0, %t5, 0; mov.b{size} {old}, %a;\n"
                    f"@%p0 mov.b{size} {old}, %b;")  # fmt: skip
            table.add(f"atom{scope}.global.cas.b{size}", " ".join([operand] * 3), "",
                      _zeroed(f"{pick}\nst.global.{register} [%out+8], %b; atom{scope}.global.cas.b{size} {old}, [%out+8], {old}, %c;\n"
                              f"st.global.{register} [%out], {old};"), words=4)  # fmt: skip
            if not scope:
                table.add(f"atom.shared.cas.b{size}", " ".join([operand] * 3), "",
                          _zeroed(f"{_SHARED}{pick}\nst.shared.{register} [%t0], %b; atom.shared.cas.b{size} {old}, [%t0], {old}, %c;\n"
                                  f"st.global.{register} [%out], {old}; ld.shared.{register} {old}, [%t0]; st.global.{register} [%out+8], {old};"),
                          words=4)  # fmt: skip


def _packed(table: Table) -> None:
    for kind, minimum in (("f16", 80), ("f16x2", 80), ("bf16", 90), ("bf16x2", 90)):
        size, register, old = (
            ("b32", "b32", "%t4") if kind.endswith("x2") else ("b16", "b16", "%h0")
        )
        floats = kind.removesuffix("x2")
        options = {"words": 4, "minimum": minimum, "floats": floats}
        for space in ("global", "shared"):
            if space == "global":
                body = (f"st.global.{register} [%out+8], %a; atom.global.add.noftz.{kind} {old}, [%out+8], %b;\n"
                        f"st.global.{register} [%out], {old};")  # fmt: skip
            else:
                body = (f"{_SHARED}st.shared.{register} [%t0], %a; atom.shared.add.noftz.{kind} {old}, [%t0], %b;\n"
                        f"st.global.{register} [%out], {old}; ld.shared.{register} {old}, [%t0]; st.global.{register} [%out+8], {old};")  # fmt: skip
            table.add(f"atom.{space}.add.noftz.{kind}", f"{kind} {kind}", "", _zeroed(body),
                      **options)  # fmt: skip
        table.add(f"red.global.add.noftz.{kind}", f"{kind} {kind}", "",
                  _zeroed(f"st.global.{register} [%out], %a; red.global.add.noftz.{kind} [%out], %b;"),
                  **options)  # fmt: skip
        assert size == register


def _contended(table: Table) -> None:
    """All threads of a block on one word: the final value does not depend on the order."""
    for name in ("add.u32", "add.u64", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32",
                 "max.s64", "inc.u32"):  # fmt: skip
        operand, register, old, words = _kind(name)
        start = "%q" if words == 2 else "%t3"
        value = "1000" if name.startswith("inc") else "%a"
        table.add(f"contended.shared.{name}", operand, register,
                  f".shared .align 8 .b64 word;\nmov.b64 {{%t2, %t3}}, %q; setp.eq.u32 %p0, %thread, 0; @%p0 st.shared.{register} [word], {start};\n"
                  f"bar.sync 0; atom.shared.{name} {old}, [word], {value}; bar.sync 0; ld.shared.{register} %d, [word];")  # fmt: skip
        table.add(f"contended.warp.{name}", operand, "",
                  f"ld.param.u64 %x5, [p_out]; shr.u32 %t5, %lane, 5; mul.wide.u32 %x6, %t5, 1024; add.u64 %x5, %x5, %x6;\n"
                  f"mov.b64 {{%t2, %t3}}, %q; st.global.b64 [%out], %q; bar.warp.sync 0xFFFFFFFF; red.global.{name} [%x5], {value};",
                  words=2)  # fmt: skip
    table.add("spin_lock", "i32", "b32",
              ".shared .align 4 .b32 lock;\n.shared .align 4 .b32 sum;\nsetp.eq.u32 %p0, %thread, 0; @%p0 st.shared.b32 [lock], 0; @%p0 st.shared.b32 [sum], 0;\n"
              "bar.sync 0; mov.b32 %t1, 0;\nagain:\natom.shared.cas.b32 %t0, [lock], 0, 1; setp.ne.u32 %p1, %t0, 0; @%p1 bra busy;\n"
              "ld.volatile.shared.b32 %t2, [sum]; add.u32 %t2, %t2, %a; st.volatile.shared.b32 [sum], %t2; membar.cta;\n"
              "atom.shared.exch.b32 %t3, [lock], 0; mov.b32 %t1, 1;\nbusy:\nsetp.eq.u32 %p2, %t1, 0; @%p2 bra again;\n"
              "bar.sync 0; ld.shared.b32 %d, [sum];")  # fmt: skip


def _vectors(table: Table) -> None:
    table.add("red_v2_f32", "f32 f32 f32", "",
              _zeroed("st.global.v2.f32 [%out], {%a, %b}; red.global.add.v2.f32 [%out], {%c, %a};"),
              minimum=90, words=2, floats="f32", ulp=_FLUSHED)  # fmt: skip
    table.add("atom_v4_f32", "f32 f32 f32", "",
              "st.global.v4.f32 [%out], {%a, %b, %c, %a}; atom.global.v4.f32.add {%f0, %f1, %f2, %f3}, [%out], {%c, %a, %b, %b}; add.f32 %f0, %f0, %f1;\n"
              "st.global.f32 [%out+16], %f0;", minimum=90, words=5, floats="f32", ulp=_FLUSHED)  # fmt: skip
    table.add("atom_b128", "i64 i64 i64", "",
              ".reg .b128 %w<4>;\nst.global.v2.b64 [%out+16], {%a, %b}; mov.b128 %w0, {%a, %b}; mov.b128 %w1, {%c, %a};\n"
              "atom.global.cas.b128 %w2, [%out+16], %w0, %w1; mov.b128 {%x0, %x1}, %w2; st.global.v2.b64 [%out], {%x0, %x1};",
              minimum=90, words=8)  # fmt: skip
