"""Memory by every kind of address: with and without an offset, scaled, uniform, fixed; every width.

The address ``[R.X4+UR+i]`` is an index times 4, a uniform register and an offset; which of them an
instruction has decides its form.
"""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_NARROW = {"u8": 1, "s8": 1, "u16": 2, "s16": 2}
_WIDTHS = {**_NARROW, "b32": 4, "b64": 8, "v4.b32": 16}
_RESULTS = {"b64": "b64", "v4.b32": "b32 b32 b32 b32"}
_REDUCTIONS = [
    *(f"add.{kind}" for kind in ("u32", "u64", "f32", "f64")),
    *(f"{name}.{kind}" for name in ("min", "max") for kind in ("u32", "s32", "u64", "s64")),
    *(f"{name}.b{size}" for name in ("and", "or", "xor") for size in (32, 64)),
    "inc.u32",
    "dec.u32",
]  # fmt: skip
_FLUSHED = -126
"""Nvidia's adder of floats in memory flushes denormal numbers, AMD's keeps them."""


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    table.kept = 16
    _global(table)
    _generic(table)
    _in_memory(table)
    _shared(table)
    _shared_atomics(table)
    _local(table)
    _constant(table)
    _copies(table)


def _load(kind: str, space: str, address: str) -> str:
    """A load into %d (and %e, %f, %g)."""
    if kind in _NARROW:
        return f"ld.{space}{kind} %h0, [{address}]; cvt.{kind[0]}32.{kind[0]}16 %d, %h0;"
    target = "{%d, %e, %f, %g}" if kind == "v4.b32" else "%d"
    return f"ld.{space}{kind} {target}, [{address}];"


def _store(kind: str, space: str, address: str) -> str:
    """A store of %a, or of %a, %b, %c and %lane."""
    if kind in _NARROW:
        return f"cvt.u16.u32 %h1, %a; st.{space}b{kind[1:]} [{address}], %h1;"
    if kind == "b64":
        return f"mov.b64 %x7, {{%a, %b}}; st.{space}b64 [{address}], %x7;"
    source = "{%a, %b, %c, %lane}" if kind == "v4.b32" else "%a"
    return f"st.{space}{kind} [{address}], {source};"


def _global(table: Table) -> None:
    spaces = ("global.", "global.nc.", "volatile.global.", "global.cs.", "relaxed.gpu.global.",
              "relaxed.cta.global.")  # fmt: skip
    for space, kind, offset in product(spaces, _WIDTHS, (0, 16)):
        if kind == "v4.b32" and "relaxed" in space:
            continue
        table.add(f"at_{offset}_ld_{space}{kind}", "i32 i32 i32", _RESULTS.get(kind, "b32"),
                  f"and.b64 %x0, %in, -16; {_load(kind, space, f'%x0+{offset}')}")  # fmt: skip
    for space, kind, offset in product(spaces, _WIDTHS, (0, 16)):
        if "nc" in space or kind in ("s8", "s16") or (kind == "v4.b32" and "relaxed" in space):
            continue
        body = (f"st.global.b64 [%out], %q; st.global.b64 [%out+16], %q;\n"
                f"add.u64 %x0, %out, %q; sub.u64 %x0, %x0, %q; {_store(kind, space, f'%x0+{offset}')}")  # fmt: skip
        if kind == "v4.b32":
            body = "st.global.v2.b64 [%out], {%q, %p}; st.global.v2.b64 [%out+16], {%q, %p};\n" + body  # fmt: skip
        table.add(f"at_{offset}_st_{space}{kind}", "i32 i32 i32", "",
                  body, words=8 if kind == "v4.b32" else 6 if offset else 2)  # fmt: skip


def _generic(table: Table) -> None:
    """Through pointers of which ptxas does not know where they point."""
    for space, kind, offset in product(("", "relaxed.gpu.", "relaxed.cta.", "volatile."), _WIDTHS, (0, 16)):  # fmt: skip
        if kind == "v4.b32" and "relaxed" in space:
            continue
        table.add(f"generic_{offset}_ld_{space}{kind}", "i32 i32 i32", _RESULTS.get(kind, "b32"),
                  f"and.b64 %x0, %in, -16; {_load(kind, space, f'%x0+{offset}')}")  # fmt: skip
        if kind not in ("s8", "s16"):
            words = 8 if kind == "v4.b32" else 2
            fill = "st.global.v2.b64 [%out], {%q, %p}; st.global.v2.b64 [%out+16], {%q, %p};\n"
            table.add(f"generic_{offset}_st_{space}{kind}", "i32 i32 i32", "",
                      f"{fill if words == 8 else 'st.global.b64 [%out], %q; st.global.b64 [%out+16], %q;'}"
                      f"{_store(kind, space, f'%out+{offset}')}", words=8 if words == 8 else 6 if offset else 2)  # fmt: skip


def _in_memory(table: Table) -> None:
    """Atomic operations and reductions with an offset and without."""
    for name, space, offset in product(_REDUCTIONS, ("global.", ""), (0, 8)):
        kind = name.rpartition(".")[2]
        wide = kind.endswith("64")
        real = kind if kind[0] == "f" else "b64" if wide else "b32"
        operand = kind if kind[0] == "f" else "i64" if wide else "i32"
        old = {"f32": "%f0", "f64": "%g0", "b64": "%x0", "b32": "%t4"}[real]
        bound = {"floats": kind if kind[0] == "f" else "", "ulp": _FLUSHED if kind == "f32" else 0}
        head = f"mov.b64 %x9, 0; st.global.v2.b64 [%out], {{%x9, %x9}}; st.global.v2.b64 [%out+16], {{%x9, %x9}};\nst.global.{real} [%out+{offset}], %a;\n"  # fmt: skip
        place = space.strip(".") or "generic"
        table.add(f"red_{place}_{offset}_{name}", f"{operand} {operand}", "",
                  f"{head}red.{space}{name} [%out+{offset}], %b;", words=4, **bound)  # fmt: skip
        for scope in ("", ".relaxed.cta") if name == "add.u32" else ("",):
            table.add(f"atom{scope}_{place}_{offset}_{name}", f"{operand} {operand}", "",
                      f"{head}atom{scope}.{space}{name} {old}, [%out+{offset}], %b; st.global.{real} [%out+{16 + offset}], {old};",
                      words=8 if wide or offset else 6, **bound)  # fmt: skip
    for size, space in product((32, 64), ("global.", "")):
        operand, old = ("i64", "%x0") if size == 64 else ("i32", "%t4")
        head = (f"st.global.b{size} [%out], %a; and.b32 %t5, %lane, 1; setp.eq.u32 %p0, %t5, 0;\n"
                f"mov.b{size} {old}, %a; @%p0 mov.b{size} {old}, %b;\n")  # fmt: skip
        place = space.strip(".") or "generic"
        table.add(f"exch_{place}_0_b{size}", f"{operand} {operand}", "",
                  f"{head}atom.{space}exch.b{size} {old}, [%out], %b; st.global.b{size} [%out+8], {old};"
                  + ("" if size == 64 else " st.global.b32 [%out+4], 0; st.global.b32 [%out+12], 0;"), words=4)  # fmt: skip
        table.add(f"cas_{place}_0_b{size}", f"{operand} {operand} {operand}", "",
                  f"{head}atom.{space}cas.b{size} {old}, [%out], {old}, %c; st.global.b{size} [%out+8], {old};"
                  + ("" if size == 64 else " st.global.b32 [%out+4], 0; st.global.b32 [%out+12], 0;"), words=4)  # fmt: skip


# A block's 4096 bytes of shared memory, filled with words of all lanes. %t0 is its address.
_ROWS = (".shared .align 16 .b8 rows[4608];\nmov.u32 %t0, rows; mad.lo.u32 %t1, %thread, 32, %t0;\n"
         "st.shared.v4.b32 [%t1], {%a, %b, %c, %lane}; st.shared.v4.b32 [%t1+16], {%c, %lane, %a, %b};\n"
         "bar.sync 0;\n")  # fmt: skip
_SCALED = "and.b32 %t2, %t9, {mask}; mad.lo.u32 %t3, %t2, {scale}, %t0;\n"
_UNIFORM = "and.b32 %t4, %block, 3; mul.lo.u32 %t4, %t4, 64; add.u32 %t5, %t4, %t0;\n"


def _shared_addresses(width: int) -> dict[str, tuple[str, str]]:
    """Name -> text that computes the address, and the address; %t9 is an index below 128."""
    found = {
        "fixed": ("", "%t0"),
        "fixed_offset": ("", "%t0+64"),
        "uniform": (_UNIFORM, "%t5"),
        "uniform_offset": (_UNIFORM, "%t5+128"),
    }
    for scale in (1, 4, 8, 16):
        mask = 127 & ~(max(width // scale, 1) - 1)
        scaled = _SCALED.format(mask=mask, scale=scale)
        if width <= scale:
            # An index of which ptxas knows no bits: it stays apart from its scale.
            for name, text, offset in (("plain", "", ""), ("offset", "", "+32"),
                                       ("uniform", f"{_UNIFORM}add.u32 %t3, %t3, %t4;\n", ""),
                                       ("both", f"{_UNIFORM}add.u32 %t3, %t3, %t4;\n", "+96")):  # fmt: skip
                found[f"by_{scale}_unmasked_{name}"] = (
                    f"min.u32 %t2, %t9, 127; mad.lo.u32 %t3, %t2, {scale}, %t0;\n{text}",
                    f"%t3{offset}",
                )
        found[f"by_{scale}"] = (scaled, "%t3")
        found[f"by_{scale}_offset"] = (scaled, "%t3+32")
        both = f"{_UNIFORM}{scaled}add.u32 %t6, %t3, %t4;\n"
        found[f"by_{scale}_uniform"] = (both, "%t6")
        found[f"by_{scale}_uniform_offset"] = (both, "%t6+256")
    return found


def _shared(table: Table) -> None:
    """Loads from where another lane has stored; stores to where no other lane stores."""
    for kind, width in _WIDTHS.items():
        for name, (head, address) in _shared_addresses(width).items():
            table.add(f"shared_{name}_ld_{kind}", "i32 i32 small", _RESULTS.get(kind, "b32"),
                      f"{_ROWS}mul.lo.u32 %t9, %c, 2;\n{head}{_load(kind, 'shared.', address)}")  # fmt: skip
    for kind, width in _WIDTHS.items():
        if kind in ("s8", "s16"):
            continue
        for name, (head, address) in _shared_addresses(width).items():
            scale = int(name.split("_")[1]) if name.startswith("by") else 0
            # Lanes of one block whose addresses differ: those below 128 / steps.
            steps = max(width // scale, 1) if scale else 1
            pick = f"setp.lt.u32 %p0, %thread, {128 // steps if scale else 1};\nmul.lo.u32 %t9, %thread, {steps};\n@!%p0 bra unpicked;\n"  # fmt: skip
            table.add(f"shared_{name}_st_{kind}", "i32 i32 i32", "b64",
                      f"{_ROWS}{pick}{head}{_store(kind, 'shared.', address)}\nunpicked:\nbar.sync 0;\n"
                      "xor.b32 %t10, %thread, 37; mad.lo.u32 %t10, %t10, 16, %t0; ld.shared.b64 %x1, [%t10];\n"
                      "ld.shared.b64 %x2, [%t10+264]; mul.lo.u64 %x2, %x2, 3; xor.b64 %d, %x1, %x2;")  # fmt: skip


def _shared_atomics(table: Table) -> None:
    """Lanes count and add into cells of their block; the sums do not depend on an order."""
    cells = (".shared .align 16 .b8 cells[1024];\nmov.u32 %t0, cells; mad.lo.u32 %t1, %thread, 4, %t0;\n"
             "st.shared.b32 [%t1], %thread; st.shared.b32 [%t1+512], %b;\nbar.sync 0; and.b32 %t9, %a, 31;\n")  # fmt: skip
    tail = ("bar.sync 0; ld.shared.b32 %d, [%t1]; ld.shared.b32 %e, [%t1+512];")  # fmt: skip
    operations = {
        "count": "atom.shared.add.u32 %t11, [{at}], 1;",
        "count_reduced": "red.shared.add.u32 [{at}], 1;",
        **{
            name.replace(".", "_"): f"atom.shared.{name} %t11, [{{at}}], %b;"
            for name in ("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "or.b32", "and.b32", "xor.b32")
        },
        "wide_add": "mov.b64 %x1, {{%b, %a}}; atom.shared.add.u64 %x2, [{at}], %x1;",
        "wide_cas": "mov.b64 %x1, {{%thread, %b}}; mov.b64 %x3, 5; atom.shared.cas.b64 %x2, [{at}], %x1, %x3;",
    }  # fmt: skip
    for operation, text in operations.items():
        for name, (head, address) in _shared_addresses(8 if "wide" in operation else 4).items():
            if name.startswith("by_16") or (
                operation == "wide_cas" and not name.startswith("fixed")
            ):
                continue
            scale = int(name.split("_")[1]) if name.startswith("by") else 4
            narrow = "mul.lo.u32 %t9, %t9, 4;\n" if scale == 1 else ""
            pick = "setp.eq.u32 %p0, %thread, 0;\n@!%p0 bra unpicked;\n" if operation == "wide_cas" else ""  # fmt: skip
            label = "\nunpicked:\n" if pick else "\n"
            table.add(f"cells_{operation}_{name}", "i32 i32", "b32 b32",
                      f"{cells}{narrow}{pick}{head}{text.format(at=address)}{label}{tail}")  # fmt: skip
    table.add("cells_swapped_fixed", "i32", "b32",
              f"{cells.replace('%b', '%a')}setp.eq.u32 %p0, %thread, 77; @%p0 atom.shared.exch.b32 %t11, [%t0+8], %lane;\n"
              "bar.sync 0; ld.shared.b32 %d, [%t1];")  # fmt: skip


def _local(table: Table) -> None:
    """A frame of 128 bytes at its start and further on, by an index of the lane or of the block."""
    frame = (".local .align 16 .b8 own[256];\nmov.u64 %x0, own; and.b32 %t0, %c, 7; mul.wide.u32 %x1, %t0, 16; add.u64 %x1, %x0, %x1;\n"
             "and.b32 %t1, %block, 7; mul.wide.u32 %x2, %t1, 16; add.u64 %x2, %x0, %x2;\n")  # fmt: skip
    fill = "".join(f"st.local.v4.b32 [%x0+{16 * n}], {{%a, %b, %lane, {n}}};\n" for n in range(16))
    filled = fill + "".join(
        f"st.local.v4.b32 [%x1+{16 * n}], {{%b, %lane, %a, %c}};\n" for n in (1, 5)
    )
    for kind, (name, address) in product(_WIDTHS, (("lane", "%x1"), ("lane_offset", "%x1+64"))):
        table.add(f"frame_written_{name}_ld_{kind}", "i32 i32 small", _RESULTS.get(kind, "b32"),
                  f"{frame}{filled}{_load(kind, 'local.', address)}")  # fmt: skip
    for (kind, _), (name, address) in product(
        _WIDTHS.items(),
        {"lane": "%x1", "lane_offset": "%x1+64", "block": "%x2", "block_offset": "%x2+64"}.items(),
    ):
        table.add(f"frame_{name}_ld_{kind}", "i32 i32 small", _RESULTS.get(kind, "b32"),
                  f"{frame}{fill}{_load(kind, 'local.', address)}")  # fmt: skip
        if kind not in ("s8", "s16"):
            table.add(f"frame_{name}_st_{kind}", "i32 i32 small", "b32 b32",
                      f"{frame}{fill}{_store(kind, 'local.', address)} xor.b64 %x3, %x1, 0;\n"
                      "ld.local.v2.b32 {%t5, %t6}, [%x3]; ld.local.v2.b32 {%t7, %t8}, [%x2+72];\n"
                      "mad.lo.u32 %d, %t5, 3, %t7; mad.lo.u32 %e, %t6, 5, %t8;")  # fmt: skip
    for kind in ("b32", "b64", "v4.b32", "u8"):
        _local_loop(table, kind)


def _local_loop(table: Table, kind: str) -> None:
    """A frame that a loop fills, its counter the same in all lanes; then an index of the lane's, or
    one of the block's."""
    begin = ".local .align 16 .b8 own[640];\nmov.u64 %x0, own; mov.b64 {%t0, %t1}, %p; and.b32 %t0, %t0, 15; add.u32 %t0, %t0, 29; mov.b32 %t2, 0;\n"
    for (bound, end), (name, index), offset in product(
        (("parameter", "lt.u32 %p0, %t2, %t0"), ("literal", "ne.u32 %p0, %t2, 32")),
        (("lane", "%lane"), ("block", "%block"), ("counter", "%t2")),
        (0, 48),
    ):
        table.add(f"frame_filled_{bound}_{name}_{offset}_{kind}", "i32 i32 i32", _RESULTS.get(kind, "b32"),
                  f"{begin}.pragma \"nounroll\";\nfill:\nmul.wide.u32 %x1, %t2, 16; add.u64 %x1, %x0, %x1; add.u32 %a, %a, %b; xor.b32 %c, %c, %a;\n"
                  f"{_store('v4.b32', 'local.', '%x1')} {_store(kind, 'local.', f'%x1+{offset}')}\nadd.u32 %t2, %t2, 1; setp.{end}; @%p0 bra fill;\n"
                  f"and.b32 %t3, {index}, 15; mul.wide.u32 %x2, %t3, 16; add.u64 %x2, %x0, %x2;\n"
                  f"{_load('b32', 'local.', '%x2+64')} st.global.b32 [%out+16], %d; {_load(kind, 'local.', f'%x2+{offset}')}")  # fmt: skip


def _constant(table: Table) -> None:
    """A table in constant memory, by an index of the block; parameters narrower than a word."""
    values = ", ".join(str(n * 91 % 256) for n in range(256))
    for kind in _WIDTHS:
        name = f"table_{kind.replace('.', '_')}"
        declared = f".const .align 16 .b8 {name}[256] = {{{values}}};"
        mask = 15 if kind == "v4.b32" else 31
        step = _WIDTHS[kind] if kind != "v4.b32" else 16
        head = f"and.b32 %t0, %block, {mask}; mul.wide.u32 %x0, %t0, {step}; mov.u64 %x1, {name}; add.u64 %x1, %x1, %x0;\n"
        mixed = {"b64": "xor.b64 %d, %d, %a;", "v4.b32": "xor.b32 %d, %d, %lane;"}.get(kind, "xor.b32 %d, %d, %a;")  # fmt: skip
        operand = "i64" if kind == "b64" else "i32"
        table.add(f"const_by_block_{kind}", operand, _RESULTS.get(kind, "b32"),
                  f"{head}{_load(kind, 'const.', '%x1')} {mixed}", globals=declared)  # fmt: skip
        inside = declared.replace(name, f"{name}_further")
        table.add(f"const_by_block_offset_{kind}", operand, _RESULTS.get(kind, "b32"),
                  f"{head.replace(name, f'{name}_further').replace(str(mask) + ';', str(mask // 2) + ';', 1)}{_load(kind, 'const.', '%x1+32')} {mixed}",
                  globals=inside)  # fmt: skip
    for kind, (parameter, offset) in product(_NARROW, (("p_p", 4), ("p_q", 2), ("p_q", 6))):
        table.add(f"parameter_{kind}_{parameter}_{offset}", "i32", "b32 b32",
                  f"ld.param.{kind} %h0, [{parameter}+{offset}]; cvt.{kind[0]}32.{kind[0]}16 %t0, %h0; add.u32 %d, %t0, %a;\n"
                  "and.b32 %t1, %block, %t0; mul.lo.u32 %e, %t1, %a;")  # fmt: skip


def _copies(table: Table) -> None:
    """Asynchronous copies to shared memory with offsets on either side."""
    head = (".shared .align 16 .b8 stage[4096];\nmov.u32 %t1, stage; mad.lo.u32 %t0, %thread, 16, %t1; and.b64 %x0, %in, -16;\n"
            "mov.b32 %t2, 0x11111111; st.shared.v4.b32 [%t0], {%t2, %t2, %t2, %t2}; st.shared.v4.b32 [%t0+2048], {%t2, %t2, %t2, %t2};\n"
            "xor.b32 %t3, %thread, 1; mad.lo.u32 %t3, %t3, 16, %t1;\n")  # fmt: skip
    for (form, size), to, where in product((("ca", 4), ("ca", 8), ("cg", 16)), (0, 2048), (0, 8)):
        source = 16 if size == 16 and where else where
        table.add(f"copy_{form}_{size}_{to}_{source}", "i32", "b32 b32 b32 b32",
                  f"{head}cp.async.{form}.shared.global [%t0+{to}], [%x0+{source}], {size}; cp.async.wait_all; bar.sync 0;\n"
                  f"ld.shared.v4.b32 {{%d, %e, %f, %g}}, [%t3+{to}];")  # fmt: skip
