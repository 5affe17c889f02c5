"""Loads, stores and copies of every width and space."""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_SMALL = ("u8", "s8", "u16", "s16")
_CONSTANT = ".const .align 16 .b8 {name}[256] = {{{values}}};"


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _global_loads(table)
    _global_stores(table)
    _shared(table)
    _local(table)
    _constant(table)
    _generic(table)
    _asynchronous(table)
    _fences(table)


def _load(space: str, kind: str, address: str, target: str) -> str:
    return f"ld.{space}.{kind} {target}, [{address}];"


def _global_loads(table: Table) -> None:
    for cache in ("global", "global.nc", "global.cg", "global.cs", "global.lu", "global.cv",
                  "volatile.global", "global.nc.L1::no_allocate", "global.L1::evict_last",
                  "relaxed.gpu.global", "relaxed.sys.global", "acquire.gpu.global",
                  "acquire.sys.global", "relaxed.cta.global", "acquire.cta.global",
                  "global.L2::128B"):  # fmt: skip
        for kind in _SMALL:
            table.add(f"ld.{cache}.{kind}", "", "b32",
                      f"ld.{cache}.{kind} %h0, [%in+3];".replace("+3", "+6" if "16" in kind else "+3")
                      + f" cvt.{kind[0]}32.{kind[0]}16 %d, %h0;")  # fmt: skip
        table.add(f"ld.{cache}.b32", "", "b32", f"ld.{cache}.b32 %d, [%in+4];")
        table.add(f"ld.{cache}.b64", "", "b64", f"ld.{cache}.b64 %d, [%in+16];")
        if "acquire" in cache or "relaxed" in cache or "volatile" in cache:
            continue
        aligned = "and.b64 %x0, %in, -16;"
        table.add(f"ld.{cache}.v2.b32", "", "b32 b32", f"ld.{cache}.v2.b32 {{%d, %e}}, [%in+8];")
        table.add(f"ld.{cache}.v4.b32", "", "b32 b32 b32 b32",
                  f"{aligned} ld.{cache}.v4.b32 {{%d, %e, %f, %g}}, [%x0];")  # fmt: skip
        table.add(f"ld.{cache}.v2.b64", "", "b64 b64",
                  f"{aligned} ld.{cache}.v2.b64 {{%d, %e}}, [%x0];")  # fmt: skip
    table.add("ld_global_v4_u8", "", "b32",
              "ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%in+4]; cvt.u32.u16 %t0, %h0; cvt.u32.u16 %t1, %h3;\n"
              "mad.lo.u32 %d, %t1, 1000, %t0;")  # fmt: skip
    table.add("ld_global_negative_offset", "", "b32",
              "add.u64 %x0, %in, 4096; ld.global.b32 %d, [%x0+-4096];")  # fmt: skip
    table.add("ld_global_uniform", "", "b32",
              "cvt.u64.u32 %x0, %thread; ld.param.u64 %x1, [p_in]; mad.lo.u64 %x1, %x0, 24, %x1;\n"
              "ld.global.b32 %d, [%x1+8];")  # fmt: skip
    table.add("ld_global_index32", "small", "b32",
              "ld.param.u64 %x1, [p_in]; mul.wide.u32 %x0, %a, 24; add.u64 %x1, %x1, %x0;\n"
              "ld.global.b32 %d, [%x1+20];")  # fmt: skip
    table.add("ld_global_predicated", "i32", "b32",
              "mov.b32 %d, 7; setp.lt.s32 %p0, %a, 0; @%p0 ld.global.b32 %d, [%in+8];")  # fmt: skip
    table.add("prefetch", "i32", "b32",
              "prefetch.global.L2 [%in]; prefetch.global.L1 [%in]; ld.global.b32 %d, [%in];")  # fmt: skip


def _global_stores(table: Table) -> None:
    for cache in ("global", "global.wb", "global.cg", "global.cs", "global.wt", "volatile.global",
                  "relaxed.gpu.global", "relaxed.sys.global", "release.gpu.global",
                  "release.sys.global", "relaxed.cta.global", "release.cta.global"):  # fmt: skip
        fill = "st.global.b64 [%out], %q;"
        table.add(f"st.{cache}.b8", "i32", "",
                  f"{fill} cvt.u16.u32 %h0, %a; st.{cache}.b8 [%out+3], %h0;", words=2)  # fmt: skip
        table.add(f"st.{cache}.b16", "i32", "",
                  f"{fill} cvt.u16.u32 %h0, %a; st.{cache}.b16 [%out+6], %h0;", words=2)  # fmt: skip
        table.add(f"st.{cache}.b32", "i32", "", f"{fill} st.{cache}.b32 [%out+4], %a;", words=2)
        table.add(f"st.{cache}.b64", "i64", "", f"st.{cache}.b64 [%out], %a;", words=2)
        if "re" in cache or "volatile" in cache:
            continue
        table.add(f"st.{cache}.v2.b32", "i32 i32", "", f"st.{cache}.v2.b32 [%out], {{%a, %b}};",
                  words=2)  # fmt: skip
        table.add(f"st.{cache}.v4.b32", "i32 i32 i32", "",
                  f"st.{cache}.v4.b32 [%out], {{%a, %b, %c, %lane}};", words=4)  # fmt: skip
        table.add(f"st.{cache}.v2.b64", "i64 i64", "", f"st.{cache}.v2.b64 [%out], {{%a, %b}};",
                  words=4)  # fmt: skip
    table.add("st_global_predicated", "i32", "",
              "st.global.b64 [%out], %q; setp.lt.s32 %p0, %a, 0; @!%p0 st.global.b32 [%out], %a;",
              words=2)  # fmt: skip
    table.add("st_global_zero", "i32", "",
              "mov.b32 %t0, 0; st.global.b32 [%out], %t0; st.global.v2.b32 [%out+8], {%t0, %a}; st.global.b32 [%out+4], -1;",
              words=4)  # fmt: skip


def _shared(table: Table) -> None:
    """A lane writes its row of 32 bytes and reads the row of another one."""
    head = (".shared .align 16 .b8 tile[4096];\nshl.b32 %t0, %thread, 5; mov.u32 %t1, tile; add.u32 %t0, %t0, %t1;\n"
            "xor.b32 %t2, %thread, 37; shl.b32 %t2, %t2, 5; add.u32 %t2, %t2, %t1;\n")  # fmt: skip
    whole = head + (
        "st.shared.v4.b32 [%t0], {%a, %b, %c, %lane}; st.shared.v4.b32 [%t0+16], {%c, %a, %lane, %b};\n"
        "bar.sync 0;\n"
    )
    for kind in _SMALL:
        offset = 5 if "8" in kind else 6
        table.add(f"ld.shared.{kind}", "i32 i32 i32", "b32",
                  f"{whole}ld.shared.{kind} %h0, [%t2+{offset}]; cvt.{kind[0]}32.{kind[0]}16 %d, %h0;")  # fmt: skip
    table.add("ld.shared.b32", "i32 i32 i32", "b32", f"{whole}ld.shared.b32 %d, [%t2+20];")
    table.add("ld.shared.b64", "i32 i32 i32", "b64", f"{whole}ld.shared.b64 %d, [%t2+24];")
    table.add("ld.shared.v2.b32", "i32 i32 i32", "b32 b32",
              f"{whole}ld.shared.v2.b32 {{%d, %e}}, [%t2+8];")  # fmt: skip
    table.add("ld.shared.v4.b32", "i32 i32 i32", "b32 b32 b32 b32",
              f"{whole}ld.shared.v4.b32 {{%d, %e, %f, %g}}, [%t2+16];")  # fmt: skip
    table.add("ld.volatile.shared", "i32 i32 i32", "b32",
              f"{whole}ld.volatile.shared.b32 %d, [%t2+12];")  # fmt: skip
    table.add("st.volatile.shared", "i32 i32 i32", "b32",
              f"{head}st.volatile.shared.b32 [%t0], %a; bar.sync 0; ld.shared.b32 %d, [%t2];")  # fmt: skip
    for size, register in (("8", "%h0"), ("16", "%h0"), ("32", "%b"), ("64", "%x0")):
        table.add(f"st.shared.b{size}", "i32 i32 i32", "b64",
                  f"{head}mov.b64 %x0, {{%b, %c}}; cvt.u16.u32 %h0, %c; st.shared.v2.b32 [%t0], {{%a, %a}};\n"
                  f"st.shared.b{size} [%t0+{8 - max(int(size) // 8, 1)}], {register}; bar.sync 0; ld.shared.b64 %d, [%t2];")  # fmt: skip
    table.add("shared_indexed", "i32 small", "b32",
              ".shared .align 4 .b8 row[512];\nmov.u32 %t1, row; mad.lo.u32 %t0, %thread, 4, %t1; st.shared.b32 [%t0], %a;\n"
              "bar.sync 0; mad.lo.u32 %t2, %b, 4, %t1; ld.shared.b32 %t3, [%t2]; ld.shared.b32 %t4, [%t2+252];\n"
              "xor.b32 %d, %t3, %t4;")  # fmt: skip


def _local(table: Table) -> None:
    head = ".local .align 16 .b8 frame[128];\nmov.u64 %x0, frame; and.b32 %t0, %c, 7; mul.wide.u32 %x1, %t0, 16; add.u64 %x1, %x0, %x1;\n"
    fill = "".join(f"st.local.v4.b32 [%x0+{16 * n}], {{%a, %b, %lane, {n}}};\n" for n in range(8))
    table.add("local.b32", "i32 i32 small", "b32",
              f"{head}{fill}st.local.b32 [%x1+4], %c; ld.local.b32 %t2, [%x0+36]; ld.local.b32 %t3, [%x1+12]; ld.local.b32 %t4, [%x0+4];\n"
              "lop3.b32 %d, %t2, %t3, %t4, 0x96;")  # fmt: skip
    for kind in _SMALL:
        table.add(f"local.{kind}", "i32 i32 small", "b32",
                  f"{head}{fill}cvt.u16.u32 %h1, %c; st.local.b{kind[1:]} [%x1+6], %h1; ld.local.{kind} %h0, [%x0+22];\n"
                  f"cvt.{kind[0]}32.{kind[0]}16 %d, %h0;")  # fmt: skip
    table.add("local.b64", "i32 i32 small", "b64",
              f"{head}{fill}mov.b64 %x2, {{%c, %a}}; st.local.b64 [%x1+8], %x2; ld.local.b64 %d, [%x0+72];")  # fmt: skip
    table.add("local.v2", "i32 i32 small", "b32 b32",
              f"{head}{fill}st.local.v2.b32 [%x1+8], {{%c, %a}}; ld.local.v2.b32 {{%d, %e}}, [%x0+72];")  # fmt: skip
    table.add("local.v4", "i32 i32 small", "b32 b32 b32 b32",
              f"{head}{fill}ld.local.v4.b32 {{%d, %e, %f, %g}}, [%x1];")  # fmt: skip


def _constant(table: Table) -> None:
    values = ", ".join(str(n * 73 % 256) for n in range(256))
    for kind, result, mask in (
        ("u8", "b32", 255), ("s8", "b32", 255), ("u16", "b32", 254), ("s16", "b32", 254),
        ("b32", "b32", 252), ("b64", "b64", 248), ("v2.b32", "b32 b32", 248),
        ("v4.b32", "b32 b32 b32 b32", 240),
    ):  # fmt: skip
        name = f"bank_{kind.replace('.', '_')}"
        head = f"and.b32 %t0, %a, {mask}; cvt.u64.u32 %x0, %t0; mov.u64 %x1, {name}; add.u64 %x1, %x1, %x0;\n"
        if kind in _SMALL:
            body = f"ld.const.{kind} %h0, [%x1]; cvt.{kind[0]}32.{kind[0]}16 %d, %h0;"
        elif kind.startswith("v"):
            registers = ", ".join(f"%{'defg'[n]}" for n in range(int(kind[1])))
            body = f"ld.const.{kind} {{{registers}}}, [%x1];"
        else:
            body = f"ld.const.{kind} %d, [%x1];"
        table.add(f"ld.const.{kind}", "i32", result, head + body,
                  globals=_CONSTANT.format(name=name, values=values))  # fmt: skip
    table.add("ld_const_fixed", "i32", "b32 b32",
              "ld.const.b32 %t0, [bank_fixed+64]; add.u32 %d, %a, %t0; mul.lo.u32 %e, %a, %t0;",
              globals=_CONSTANT.format(name="bank_fixed", values=values))  # fmt: skip
    table.add("global_variable", "i32", "b32 b32",
              "and.b32 %t0, %a, 60; cvt.u64.u32 %x0, %t0; mov.u64 %x1, variable; add.u64 %x1, %x1, %x0;\n"
              "ld.global.b32 %d, [%x1]; ld.global.b32 %e, [variable+128];",
              globals=f".global .align 4 .b8 variable[256] = {{{values}}};")  # fmt: skip
    table.add("global_pointer", "i32", "b32",
              "and.b32 %t0, %a, 1; mul.wide.u32 %x0, %t0, 8; mov.u64 %x1, pointers; add.u64 %x1, %x1, %x0;\n"
              "ld.global.u64 %x2, [%x1]; ld.global.b32 %d, [%x2+4];",
              globals=".global .align 4 .u32 left[2] = {11, 22};\n.global .align 4 .u32 right[2] = {33, 44};\n"
                      ".global .align 8 .u64 pointers[2] = {left, right};")  # fmt: skip


def _generic(table: Table) -> None:
    shared = (".shared .align 16 .b8 cell[2048];\nmov.u64 %x0, cell; cvta.shared.u64 %x0, %x0; mul.wide.u32 %x1, %thread, 16;\n"
              "add.u64 %x0, %x0, %x1;\n")  # fmt: skip
    local = ".local .align 16 .b8 own[64];\nmov.u64 %x2, own; cvta.local.u64 %x2, %x2; and.b32 %t0, %c, 12; cvt.u64.u32 %x3, %t0; add.u64 %x2, %x2, %x3;\n"
    for name, head, address in (("shared", shared, "%x0"), ("local", local, "%x2"),
                                ("global", "", "%out")):  # fmt: skip
        for kind, register in (("b32", "%a"), ("b64", "%x5")):
            target = "%t5" if kind == "b32" else "%x6"
            result = "b32" if kind == "b32" else "b64"
            table.add(f"generic.{name}.{kind}", "i32 i32 i32", result,
                      f"{head}mov.b64 %x5, {{%b, %a}}; and.b64 %x4, {address}, -8; st.{kind} [%x4], {register}; ld.{kind} {target}, [%x4];\n"
                      f"mov.{kind} %d, {target};")  # fmt: skip
    table.add("generic_mixed", "i32 i32 i32", "b32 b32",
              f"{shared}{local}setp.lt.s32 %p0, %b, 0; selp.b64 %x4, %x0, %x2, %p0; st.b32 [%x4], %a; ld.b32 %d, [%x4]; atom.add.u32 %t1, [%x4], 5; ld.b32 %e, [%x4];")  # fmt: skip
    table.add("isspacep", "i32 i32 i32", "b32 b32 b32",
              f"{shared}{local}setp.lt.s32 %p0, %b, 0; selp.b64 %x4, %x0, %x2, %p0; setp.lt.s32 %p1, %a, 0; selp.b64 %x4, %x4, %in, %p1;\n"
              "isspacep.shared %p2, %x4; isspacep.local %p3, %x4; isspacep.global %p4, %x4;\n"
              "selp.b32 %d, 1, 0, %p2; selp.b32 %e, 1, 0, %p3; selp.b32 %f, 1, 0, %p4;")  # fmt: skip
    table.add("cvta_to", "i32 i32 i32", "b32",
              f"{shared}cvta.to.shared.u64 %x4, %x0; cvt.u32.u64 %t1, %x4; st.shared.b32 [%t1], %a; ld.b32 %d, [%x0];")  # fmt: skip


def _asynchronous(table: Table) -> None:
    head = (".shared .align 16 .b8 stage[2048];\nmov.u32 %t1, stage; mad.lo.u32 %t0, %thread, 16, %t1; and.b64 %x0, %in, -16;\n"
            "mov.b32 %t2, 0x11111111; st.shared.v4.b32 [%t0], {%t2, %t2, %t2, %t2};\n")  # fmt: skip
    tail = "\nxor.b32 %t3, %thread, 1; mad.lo.u32 %t3, %t3, 16, %t1; bar.sync 0; ld.shared.v4.b32 {%d, %e, %f, %g}, [%t3];"
    for form, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        copy = f"cp.async.{form}.shared.global [%t0], [%x0], {size}"
        for name, text in (
            ("all", f"{copy}; cp.async.wait_all;"),
            ("group", f"{copy}; cp.async.commit_group; cp.async.wait_group 0;"),
            ("zfill", f"and.b32 %t4, %lane, {size}; {copy}, %t4; cp.async.wait_all;"),
            ("ignored", f"setp.lt.s32 %p0, %a, 0; {copy}, %p0; cp.async.wait_all;"),
        ):
            table.add(f"cp_async_{form}_{size}_{name}", "i32", "b32 b32 b32 b32",
                      head + text + tail)  # fmt: skip
    table.add("cp_async_prefetch", "i32", "b32 b32 b32 b32",
              f"{head}cp.async.cg.shared.global.L2::128B [%t0], [%x0], 16; cp.async.commit_group; cp.async.wait_group 0;{tail}")  # fmt: skip
    table.add("mbarrier", "i32", "b32",
              ".shared .align 8 .b64 gate;\n.shared .align 4 .b8 cells[512];\nmov.u32 %t0, gate; setp.eq.u32 %p0, %thread, 0;\n"
              "@%p0 mbarrier.init.shared.b64 [%t0], 128; bar.sync 0; mov.u32 %t1, cells; mad.lo.u32 %t2, %thread, 4, %t1;\n"
              "st.shared.b32 [%t2], %a; mbarrier.arrive.shared.b64 %x0, [%t0];\nagain:\nmbarrier.test_wait.shared.b64 %p1, [%t0], %x0;\n@!%p1 bra again;\n"
              "xor.b32 %t3, %thread, 127; mad.lo.u32 %t3, %t3, 4, %t1; ld.shared.b32 %d, [%t3];")  # fmt: skip


def _fences(table: Table) -> None:
    for fence in ("membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.cta", "fence.acq_rel.gpu",
                  "fence.acq_rel.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys"):  # fmt: skip
        table.add(fence, "i32", "b32",
                  f"st.global.b32 [%out+8], %a; {fence}; ld.volatile.global.b32 %d, [%out+8];")  # fmt: skip
    table.add(
        "fence.proxy.async", "i32", "b32", "fence.proxy.async; add.u32 %d, %a, 1;", minimum=90
    )
    table.add("nanosleep", "i32", "b32", "nanosleep.u32 20; add.u32 %d, %a, 1;")
    for first, second in product(("ca", "cg"), ("wb", "cs")):
        table.add(f"cache_{first}_{second}", "i32", "b32",
                  f"st.global.{second}.b32 [%out], %a; ld.global.{first}.b32 %t0, [%in]; add.u32 %d, %t0, %a;")  # fmt: skip
