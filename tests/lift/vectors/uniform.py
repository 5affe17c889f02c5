"""What is the same in a warp, and what goes from lanes to it: coordinates, tables, votes, packed
predicates, exchanges after divergence; minima and maxima of sums.
"""

from __future__ import annotations

from itertools import product

from tests.lift.vectors.form import Table

_FULL = "0xFFFFFFFF"
_GRID = (4, 4, 2, 16, 4, 2)
# Lanes leave this loop one after another.
_DIVERGENT_LOOP = (
    "and.b32 %t14, %b, 15; mov.b32 %t15, %a;\naround:\nmad.lo.u32 %t15, %t15, 1664525, 1013904223;\n"
    "setp.eq.u32 %p6, %t14, 0; sub.u32 %t14, %t14, 1; @!%p6 bra around;\n"
)


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    _coordinates(table)
    _clocks(table)
    _tables(table)
    _votes(table)
    _exchanges(table)
    _some_warps(table)
    _packed_predicates(table)
    _barriers(table)
    _calls(table)
    _heap(table)
    _leaving(table)
    _extremes_of_sums(table)


def _coordinates(table: Table) -> None:
    """A grid and blocks of three dimensions."""
    names = [f"{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz"]
    for name in names:
        table.add(f"coordinate_{name}", "i32", "b32 b32",
                  f"mov.u32 %t1, %{name}; add.u32 %d, %t1, %a; mul.lo.u32 %e, %t1, %t1;", grid=_GRID)  # fmt: skip
        table.add(f"coordinate_same_{name}", "i32", "b32 b32",
                  f"mov.u32 %t1, %{name}; mov.b64 {{%t2, %t3}}, %q; mul.lo.u32 %t4, %t1, %t2; xor.b32 %t4, %t4, %t3;\n"
                  "xor.b32 %d, %t4, %a; shl.b32 %t5, %t1, 3; and.b32 %t5, %t5, 24; shr.u32 %e, %a, %t5;", grid=_GRID)  # fmt: skip
    table.add("coordinate_index", "i32", "b32 b32",
              "mov.u32 %t1, %ctaid.y; mov.u32 %t2, %ntid.y; mov.u32 %t3, %tid.y; mad.lo.u32 %d, %t1, %t2, %t3;\n"
              "mov.u32 %t4, %ctaid.z; mov.u32 %t5, %ntid.z; mov.u32 %t6, %tid.z; mad.lo.u32 %t7, %t4, %t5, %t6;\n"
              "mov.u32 %t8, %nctaid.y; mad.lo.u32 %e, %t7, %t8, %d;", grid=_GRID)  # fmt: skip
    table.add("coordinate_branch", "i32", "b32",
              "mov.b32 %d, %a; mov.u32 %t1, %ctaid.y; mov.u32 %t2, %ctaid.z; setp.ne.u32 %p0, %t1, 2; @%p0 bra past;\n"
              "mul.lo.u32 %d, %a, 7;\npast:\nsetp.eq.u32 %p1, %t2, 1; @%p1 bra end;\nadd.u32 %d, %d, 3;\nend:", grid=_GRID)  # fmt: skip


def _clocks(table: Table) -> None:
    """Clocks do not go backwards; what they show differs from run to run."""
    for name, kind in (("clock", "u32"), ("clock64", "u64"), ("globaltimer", "u64"),
                       ("globaltimer_lo", "u32"), ("clock_hi", "u32")):  # fmt: skip
        register, size = ("t", 32) if kind == "u32" else ("x", 64)
        table.add(f"time_{name}", "i32", "b32 b32",
                  f"mov.{kind} %{register}1, %{name}; st.global.b32 [%out+16], %a; membar.gl; mov.{kind} %{register}2, %{name};\n"
                  f"sub.u{size} %{register}3, %{register}2, %{register}1; setp.ge.s{size} %p0, %{register}3, 0; selp.b32 %d, 1, 0, %p0; xor.b32 %e, %a, 1;")  # fmt: skip


def _tables(table: Table) -> None:
    """Constant memory by an index that ptxas knows to be the same in all lanes."""
    values = ", ".join(str(n * 91 % 256) for n in range(256))
    for kind, step in {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "b32": 4, "b64": 8}.items():
        name = f"looked_up_{kind}"
        load = (f"ld.const.{kind} %h0, [%x1]; cvt.{kind[0]}32.{kind[0]}16 %t3, %h0;" if step < 4
                else f"ld.const.{kind} %t3, [%x1];" if step == 4
                else "ld.const.b64 %x2, [%x1]; mov.b64 {%t3, %t4}, %x2; add.u32 %t3, %t3, %t4;")  # fmt: skip
        for bound, limit in (("parameter", "mov.b64 {%t0, %t1}, %p; add.u32 %t0, %t0, 8;"),
                             ("block", "and.b32 %t0, %block, 15; add.u32 %t0, %t0, 1;")):  # fmt: skip
            declared = f".const .align 16 .b8 {name}_{bound}[256] = {{{values}}};"
            table.add(f"table_{bound}_{kind}", "i32", "b32",
                      f"{limit} mov.b32 %t2, 0; mov.b32 %d, %a;\nagain:\nmul.wide.u32 %x0, %t2, {step}; mov.u64 %x1, {name}_{bound}; add.u64 %x1, %x1, %x0;\n"
                      f"{load} mad.lo.u32 %d, %d, %t3, %a;\nadd.u32 %t2, %t2, 1; setp.lt.u32 %p0, %t2, %t0; @%p0 bra again;",
                      globals=declared)  # fmt: skip
            counted = f".const .align 16 .b8 {name}_{bound}_counted[256] = {{{values}}};"
            table.add(f"table_counted_{bound}_{kind}", "i32", "b32",
                      f"{limit} mov.b32 %t2, 0; mov.b32 %d, %a; and.b32 %t0, %t0, 15;\n.pragma \"nounroll\";\nagain:\nadd.u32 %t5, %t2, %t0; mul.wide.u32 %x0, %t5, {step}; mov.u64 %x1, {name}_{bound}_counted; add.u64 %x1, %x1, %x0;\n"
                      f"{load} mad.lo.u32 %d, %d, %t3, %a;\nadd.u32 %t2, %t2, 1; setp.ne.u32 %p0, %t2, 12; @%p0 bra again;",
                      globals=counted)  # fmt: skip
            branched = f".const .align 16 .b8 {name}_{bound}_taken[256] = {{{values}}};"
            table.add(f"table_branch_{bound}_{kind}", "i32", "b32",
                      f"{limit} mul.wide.u32 %x0, %t0, {step}; mov.u64 %x1, {name}_{bound}_taken; add.u64 %x1, %x1, %x0;\n{load}\n"
                      "mov.b32 %d, %a; and.b32 %t5, %t3, 4; setp.eq.u32 %p0, %t5, 0; @%p0 bra even;\nmad.lo.u32 %d, %d, 9, %thread;\neven:\n"
                      "mul.lo.u32 %t6, %t3, %t0; xor.b32 %d, %d, %t6;", globals=branched)  # fmt: skip


def _votes(table: Table) -> None:
    """Votes that are branched on, counted, or combined with what is the same in all lanes."""
    lanes = "shr.u32 %t0, %lane, 5; and.b32 %t0, %t0, 3; and.b32 %t1, %lane, %t0; setp.eq.u32 %p0, %t1, %t0;\n"
    while_some = ("setp.lt.u32 %p2, %e, 70; and.pred %p2, %p2, %p0; "
                  f"vote.sync.any.pred %p3, %p2, {_FULL}; @%p3 bra again;")  # fmt: skip
    for mode, sign in product(("all", "any"), ("", "!")):
        name = f"{mode}{'_not' if sign else ''}"
        table.add(f"vote_{name}_selected", "i32", "b32",
                  f"{lanes}vote.sync.{mode}.pred %p1, {sign}%p0, {_FULL}; selp.b32 %d, %a, %lane, %p1;")  # fmt: skip
        table.add(f"vote_{name}_branched", "i32", "b32",
                  f"{lanes}mov.b32 %d, %a; vote.sync.{mode}.pred %p1, {sign}%p0, {_FULL}; @%p1 bra end;\n"
                  "mad.lo.u32 %d, %a, 5, %thread; xor.b32 %d, %d, %block;\nend:")  # fmt: skip
        table.add(f"vote_{name}_of_values", "i32 i32", "b32 b32",
                  f"setp.lt.s32 %p0, %a, %b; vote.sync.{mode}.pred %p1, {sign}%p0, {_FULL}; selp.b32 %d, 3, 9, %p1;\n"
                  f"setp.eq.u32 %p2, %a, %b; vote.sync.{mode}.pred %p3, {sign}%p2, {_FULL}; selp.b32 %e, 5, 8, %p3;")  # fmt: skip
        table.add(f"vote_{name}_ends_loop", "i32 small", "b32 b32",
                  f"mov.b32 %d, %a; mov.b32 %e, 0;\nagain:\nadd.u32 %e, %e, 1; mad.lo.u32 %d, %d, 69069, %e; setp.lt.u32 %p0, %e, %b;\n"
                  f"vote.sync.{mode}.pred %p1, {sign}%p0, {_FULL}; {while_some if sign else '@%p1 bra again;'}")  # fmt: skip
    table.add("ballot_counted", "i32 i32", "b32 b32 b32",
              f"setp.lt.s32 %p0, %a, %b; vote.sync.ballot.b32 %t0, %p0, {_FULL}; popc.b32 %t1, %t0; xor.b32 %d, %t1, %a;\n"
              "mov.u32 %t2, %lanemask_lt; and.b32 %t3, %t0, %t2; popc.b32 %e, %t3; brev.b32 %t4, %t0; clz.b32 %f, %t4;")  # fmt: skip
    table.add("ballot_branched", "i32 i32", "b32",
              f"mov.b32 %d, %a; setp.lt.u32 %p0, %a, %b; vote.sync.ballot.b32 %t0, %p0, {_FULL}; setp.lt.u32 %p1, %t0, 0x10000000; @%p1 bra end;\n"
              "mad.lo.u32 %d, %a, %t0, %thread; xor.b32 %d, %d, %block;\nend:")  # fmt: skip
    table.add("active_counted", "i32 i32", "b32 b32",
              "mov.b32 %d, 0; mov.b32 %e, 0; setp.lt.s32 %p0, %a, %b; @!%p0 bra end;\nactivemask.b32 %t0; popc.b32 %d, %t0; mov.u32 %t2, %lanemask_lt;\n"
              "and.b32 %t3, %t0, %t2; popc.b32 %e, %t3; st.global.b32 [%out+16], %e;\nend:")  # fmt: skip
    for mode in ("any", "all"):
        table.add(f"vote_{mode}_in_loop", "i32 small", "b32 b32",
                  "mov.b32 %d, %a; mov.b32 %e, 0; mov.b64 {%t8, %t9}, %p;\nagain:\nadd.u32 %e, %e, 1; setp.lt.u32 %p0, %e, %b; mad.lo.u32 %d, %d, 69069, %e;\n"
                  f"vote.sync.{mode}.pred %p1, %p0, {_FULL}; setp.gt.u32 %p2, %t9, 4; and.pred %p3, %p1, %p2; @%p3 bra again;\n"
                  f"vote.sync.{mode}.pred %p4, %p0, {_FULL}; or.pred %p4, %p4, %p2; @%p4 bra end;\nbar.sync 0;\nend:")  # fmt: skip
    for name in ("add.s32", "min.u32", "max.s32", "or.b32"):
        table.add(f"redux_used_{name}", "i32", "b32 b32",
                  f"redux.sync.{name} %t0, %a, {_FULL}; mul.lo.u32 %t1, %t0, %t0; add.u32 %d, %t1, %a; and.b32 %t2, %t0, 1; setp.eq.u32 %p0, %t2, 0;\n"
                  "mov.b32 %e, %a; @%p0 bra end;\nmad.lo.u32 %e, %e, 77, %t0;\nend:")  # fmt: skip


def _exchanges(table: Table) -> None:
    """Each way of giving distance, width and mask; in one piece and after lanes have parted."""
    distances = {"literal": "5", "parameter": "%t0", "lane": "%c"}
    widths = {"literal": "0x1C{end}", "parameter": "%t1", "lane": "%t3"}
    masks = {"full": _FULL, "parameter": "%t2"}
    head = ("mov.b64 {%t4, %t5}, %p; add.u32 %t0, %t4, 2; shl.b32 %t1, %t5, 10; sub.u32 %t1, %t1, 0xC00; or.b32 %t1, %t1, {end};\n"
            "mov.b64 {%t4, %t5}, %q; and.b32 %t4, %t4, 1; sub.u32 %t2, 0, %t4; shr.u32 %t6, %lane, 5; and.b32 %t6, %t6, 3; shl.b32 %t6, %t6, 11; or.b32 %t3, %t6, {end};\n")  # fmt: skip
    for mode, (distance, by), (width, clamp), (mask, lanes) in product(
        ("up", "down", "bfly", "idx"), distances.items(), widths.items(), masks.items()
    ):
        end = "0" if mode == "up" else "31"
        text = clamp.format(end="00" if mode == "up" else "1F")
        begin = head.replace("{end}", end)
        table.add(f"exchange_{mode}_{distance}_{width}_{mask}", "i32 i32 small", "b32 b32",
                  f"{begin}shfl.sync.{mode}.b32 %d|%p0, %a, {by}, {text}, {lanes}; selp.b32 %e, 1, 0, %p0;")  # fmt: skip
        if width != "lane":
            table.add(f"exchange_parted_{mode}_{distance}_{width}_{mask}", "i32 i32 small", "b32",
                      f"{begin}{_DIVERGENT_LOOP}shfl.sync.{mode}.b32 %d, %t15, {by}, {text}, {lanes};")  # fmt: skip
    for mask, lanes in masks.items():
        begin = head.replace("{end}", "31")
        for name, text in {
            "any": f"setp.lt.s32 %p0, %t15, 0; vote.sync.any.pred %p1, %p0, {lanes}; selp.b32 %d, 3, 4, %p1;",
            "all": f"setp.lt.s32 %p0, %t15, 0; vote.sync.all.pred %p1, !%p0, {lanes}; selp.b32 %d, 3, 4, %p1;",
            "ballot": f"setp.lt.s32 %p0, %t15, 0; vote.sync.ballot.b32 %d, %p0, {lanes};",
            "match": f"and.b32 %t15, %t15, 3; match.any.sync.b32 %d, %t15, {lanes};",
            "redux": f"redux.sync.add.u32 %d, %t15, {lanes};",
            "barrier": ".shared .align 4 .b8 tile[512];\nmov.u32 %t7, tile; mad.lo.u32 %t8, %thread, 4, %t7; xor.b32 %t9, %thread, 21;\n"
                       f"mad.lo.u32 %t9, %t9, 4, %t7; st.shared.b32 [%t8], %t15; bar.warp.sync {lanes}; ld.shared.b32 %d, [%t9];",
            "twice": f"shfl.sync.bfly.b32 %t7, %t15, 1, 31, {lanes}; add.u32 %t15, %t15, %t7; shfl.sync.down.b32 %t7, %t15, 2, 31, {lanes}; add.u32 %d, %t7, %t15;",
        }.items():  # fmt: skip
            table.add(f"parted_{name}_{mask}", "i32 i32", "b32", f"{begin}{_DIVERGENT_LOOP}{text}")
            table.add(f"parted_repeatedly_{name}_{mask}", "i32 i32", "b32",
                      f"{begin}mov.b64 {{%t12, %t13}}, %p; mov.b32 %t13, 0;\nrounds:\n{_DIVERGENT_LOOP}{text}\nxor.b32 %t13, %t13, %d; add.u32 %a, %a, %t13;\n"
                      "sub.u32 %t12, %t12, 1; setp.gt.s32 %p5, %t12, 0; @%p5 bra rounds;\nmov.b32 %d, %t13;")  # fmt: skip


def _some_warps(table: Table) -> None:
    """Exchanges that whole warps reach or do not, which ptxas can't know: it checks and gathers."""
    heads = {
        "threads": "setp.lt.u32 %p0, %thread, 64; mov.b32 %d, %a;\n@!%p0 bra skip;\n",
        "values": "shr.u32 %t0, %lane, 5; and.b32 %t0, %t0, 5; setp.ne.u32 %p0, %t0, 1; mov.b32 %d, %a;\n@!%p0 bra skip;\n",
        "after_loop": f"shr.u32 %t0, %lane, 5; setp.ne.u32 %p0, %t0, 3; mov.b32 %d, %a;\n@!%p0 bra skip;\n{_DIVERGENT_LOOP}mov.b32 %a, %t15;\n",
    }
    masks = {"full": _FULL, "parameter": "%t2", "computed": "%t3"}
    known = "mov.b64 {%t4, %t5}, %q; and.b32 %t4, %t4, 1; sub.u32 %t2, 0, %t4; shr.u32 %t5, %lane, 5; min.u32 %t5, %t5, 1; sub.u32 %t3, 0, 1; shr.u32 %t5, %t5, 1; sub.u32 %t3, %t3, %t5;\n"
    operations = {
        **{
            f"shfl_{mode}": f"shfl.sync.{mode}.b32 %d, %a, 3, {0 if mode == 'up' else 31}, {{mask}};"
            for mode in ("up", "down", "bfly", "idx")
        },
        "shfl_lane": "and.b32 %t6, %b, 31; shfl.sync.idx.b32 %d|%p1, %a, %t6, 31, {mask}; @%p1 add.u32 %d, %d, 1;",
        "tree": "".join(
            f"shfl.sync.down.b32 %t6, %a, {n}, 31, {{mask}}; add.u32 %a, %a, %t6;\n"
            for n in (16, 8, 4, 2, 1)
        )
        + "mov.b32 %d, %a;",
        "scan": "and.b32 %t8, %lane, 31;\n"
        + "".join(
            f"shfl.sync.up.b32 %t6|%p1, %a, {n}, 0, {{mask}}; @%p1 add.u32 %a, %a, %t6;\n"
            for n in (1, 2, 4, 8, 16)
        )
        + "mov.b32 %d, %a;",
        "any": "setp.lt.s32 %p1, %a, %b; vote.sync.any.pred %p2, %p1, {mask}; selp.b32 %d, 3, 4, %p2;",
        "all": "setp.lt.s32 %p1, %a, 0; vote.sync.all.pred %p2, !%p1, {mask}; selp.b32 %d, 3, 4, %p2;",
        "uni": "setp.eq.u32 %p1, %a, 0; vote.sync.uni.pred %p2, !%p1, {mask}; selp.b32 %d, 3, 4, %p2;",
        "any_branched": "setp.lt.s32 %p1, %a, %b; vote.sync.any.pred %p2, %p1, {mask}; @%p2 bra skip;\nmul.lo.u32 %d, %d, 7;",
        "ballot": "setp.lt.s32 %p1, %a, 0; vote.sync.ballot.b32 %d, %p1, {mask};",
        "match": "and.b32 %t6, %a, 3; match.any.sync.b32 %d, %t6, {mask};",
        "match_all": "and.b32 %t6, %a, 1; match.all.sync.b32 %d|%p1, %t6, {mask}; @%p1 add.u32 %d, %d, 1;",
        "redux": "redux.sync.add.u32 %d, %a, {mask};",
        "barrier": ".shared .align 4 .b8 tile[512];\nmov.u32 %t7, tile; mad.lo.u32 %t8, %thread, 4, %t7; xor.b32 %t9, %thread, 21;\n"
        "mad.lo.u32 %t9, %t9, 4, %t7; st.shared.b32 [%t8], %a; bar.warp.sync {mask}; ld.shared.b32 %d, [%t9];",
    }
    for (where, head), (mask, lanes), (name, text) in product(
        heads.items(), masks.items(), operations.items()
    ):
        table.add(
            f"some_warps_{where}_{name}_{mask}",
            "i32 i32",
            "b32",
            f"{known}{head}{text.replace('{mask}', lanes)}\nskip:",
        )


def _packed_predicates(table: Table) -> None:
    """More predicates at once than there are registers for them: they are packed into words."""
    for kind, count in product(("lane", "same"), (9, 14, 24)):
        one = "%a" if kind == "lane" else "%t1"
        other = "%b" if kind == "lane" else "%block"
        lines = [f".reg .pred %q<{count}>;", "mov.b64 {%t1, %t2}, %q; xor.b32 %t1, %t1, %block;"]
        for n in range(count):
            order = ("lt.s32", "gt.u32", "eq.u32", "ge.s32", "le.u32", "ne.s32")[n % 6]
            lines.append(f"add.u32 %t3, {one}, {n * n * 3}; shl.b32 %t4, {other}, {n % 7}; setp.{order} %q{n}, %t3, %t4;")  # fmt: skip
        # A loop that uses every one of them and changes what they are compared of.
        lines.append("mov.b32 %d, 0; mov.b32 %e, %a; and.b32 %t5, %b, 3; mov.b32 %f, 0;\nagain:")
        for n in range(count):
            lines.append(f"@%q{n} mad.lo.u32 %d, %d, {2 * n + 3}, %e; @!%q{n} xor.b32 %e, %e, %d;")
            if n % 5 == 4:
                lines.append(f"@%q{n - 2} bra skip{n};\nst.global.b32 [%out+{16 + n % 4 * 4}], {n};\nskip{n}:")  # fmt: skip
        lines.append("add.u32 %f, %f, 1; setp.le.u32 %p1, %f, %t5; @%p1 bra again;")
        fill = "st.global.v2.b64 [%out+16], {%p, %q};"
        lines.insert(1, fill)
        table.add(f"predicates_{kind}_{count}", "i32 i32", "b32 b32 b32", "\n".join(lines))
    for count in (8, 16):
        body = [f".reg .pred %q<{count}>; mov.b32 %d, 0; mov.b32 %e, 0;"]
        body += [f"and.b32 %t1, %a, {1 << n}; setp.ne.u32 %q{n}, %t1, 0;" for n in range(count)]
        body.append("add.u32 %t9, %thread, 1;\nagain:\nshr.u32 %t9, %t9, 1;")
        body += [f"@%q{n} add.u32 %d, %d, {n * n + 1}; @%q{n} mul.lo.u32 %d, %d, 3;" for n in range(count)]  # fmt: skip
        body += [f"@!%q{n} add.u32 %e, %e, {n + 5};" for n in range(count)]
        body.append("setp.ne.u32 %p0, %t9, 0; @%p0 bra again;")
        table.add(f"bits_tested_{count}", "i32", "b32 b32", "\n".join(body))


def _barriers(table: Table) -> None:
    """Number and size of a barrier in registers."""
    memory = (".shared .align 4 .b8 tile[512];\nshl.b32 %t0, %thread, 2; mov.u32 %t1, tile; add.u32 %t0, %t0, %t1; st.shared.b32 [%t0], %a;\n"
              "mov.b64 {%t4, %t5}, %p; add.u32 %t5, %t5, 3; xor.b32 %t2, %thread, {partner}; shl.b32 %t2, %t2, 2; add.u32 %t2, %t2, %t1;\n")  # fmt: skip
    for name, text, partner in (
        ("both", "shr.u32 %t3, %thread, 6; add.u32 %t3, %t3, 1; shl.b32 %t6, %t5, 3; barrier.sync %t3, %t6;", 63),
        ("number", "shr.u32 %t3, %thread, 6; add.u32 %t3, %t3, 1; barrier.sync %t3, 64;", 63),
        ("size", "shl.b32 %t6, %t5, 4; barrier.sync 2, %t6;", 127),
        ("number_only", "barrier.sync %t5;", 127),
    ):  # fmt: skip
        table.add(f"barrier_{name}_in_register", "i32", "b32",
                  f"{memory.replace('{partner}', str(partner))}{text} ld.shared.b32 %d, [%t2];")  # fmt: skip
    table.add("sleep_in_register", "i32", "b32",
              "and.b32 %t0, %a, 63; nanosleep.u32 %t0; add.u32 %d, %a, 1;")  # fmt: skip


def _calls(table: Table) -> None:
    """Functions by addresses in memory."""
    function = (".func (.reg .b32 %result) {name}(.reg .b32 %x, .reg .b32 %y)\n"
                "{{\n  mad.lo.u32 %result, %x, {factor}, %y;\n  xor.b32 %result, %result, %x;\n  ret;\n}}\n")  # fmt: skip
    indices = {"lane": "%a", "block": "%block", "warp": "%t9"}
    for space, (chosen, index) in product(("global", "const"), indices.items()):
        names = [f"{chosen}_by_{space}_{number}" for number in range(4)]
        text = "".join(function.format(name=name, factor=2 * n + 3) for n, name in enumerate(names))
        listed = f"functions_{chosen}_{space}"
        text += f".{space} .align 8 .u64 {listed}[4] = {{{', '.join(names)}}};"
        table.add(f"call_by_{space}_{chosen}", "i32 i32", "b32",
                  f"shr.u32 %t9, %lane, 5; and.b32 %t0, {index}, 3; mul.wide.u32 %x0, %t0, 8; mov.u64 %x1, {listed}; add.u64 %x1, %x1, %x0;\n"
                  f"ld.{space}.u64 %x2, [%x1];\nkind: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\ncall (%d), %x2, (%a, %b), kind;",
                  globals=text)  # fmt: skip


def _heap(table: Table) -> None:
    """Functions of the driver, which are called by absolute addresses."""
    declared = ".extern .func (.param .b64 result) malloc (.param .b64 size);\n.extern .func free (.param .b64 pointer);\n"
    table.add("heap", "i32 i32", "b32 b32",
              "mov.u64 %x0, 64;\n{\n.param .b64 size; .param .b64 back;\nst.param.b64 [size], %x0; call (back), malloc, (size); ld.param.b64 %x1, [back];\n}\n"
              "st.v2.b32 [%x1+16], {%a, %b}; st.b32 [%x1], %lane; membar.cta; ld.b32 %t0, [%x1]; ld.b64 %x2, [%x1+16]; mov.b64 {%t1, %t2}, %x2;\n"
              "add.u32 %d, %t0, %t1; xor.b32 %e, %t0, %t2;\n{\n.param .b64 pointer;\nst.param.b64 [pointer], %x1; call free, (pointer);\n}",
              globals=declared)  # fmt: skip


def _leaving(table: Table) -> None:
    """Lanes that leave two loops at once, or a loop in the middle of what another lane does."""
    table.add("leave_two_loops", "i32 small", "b32",
              "mov.b32 %d, %a; mov.b32 %t0, 0;\nouter:\nmov.b32 %t1, 0; setp.gt.s32 %p2, %d, 1000; @%p2 bra next;\ninner:\nmad.lo.u32 %d, %d, 69069, %t1;\n"
              "and.b32 %t2, %d, 0x1F0000; setp.eq.u32 %p0, %t2, 0; @%p0 bra done;\nadd.u32 %t1, %t1, 1; setp.lt.u32 %p1, %t1, %b; @%p1 bra inner;\n"
              "next:\nadd.u32 %d, %d, 0x10001; add.u32 %t0, %t0, 1; setp.lt.u32 %p3, %t0, 9; @%p3 bra outer;\nxor.b32 %d, %d, 0x55;\ndone:\nst.global.b32 [%out+8], %t0; add.u32 %d, %d, 1;")  # fmt: skip
    table.add("leave_kernel_from_loop", "i32 small", "",
              "st.global.b32 [%out], %a; mov.b32 %t3, %a; mov.b32 %t0, 0;\nagain:\nmad.lo.u32 %t3, %t3, 69069, 77; and.b32 %t2, %t3, 0x70000; setp.eq.u32 %p0, %t2, 0;\n"
              "st.global.b32 [%out], %t3; @%p0 exit;\nand.b32 %t4, %t3, 0x80000; setp.eq.u32 %p2, %t4, 0; @%p2 bra on;\nmul.lo.u32 %t3, %t3, 3; setp.lt.u32 %p4, %t3, 0x1000; @%p4 ret;\non:\n"
              "add.u32 %t0, %t0, 1; setp.lt.u32 %p1, %t0, %b; @%p1 bra again;\nst.global.b32 [%out], %t0;", words=1)  # fmt: skip


def _extremes_of_sums(table: Table) -> None:
    """``max(a + b, c)`` and the like, clamped at 0 or not; the extreme of three."""
    sums = {
        "lanes": "add.s32 {sum}, {one}, {other};",
        "difference": "sub.s32 {sum}, {one}, {other};",
        "reversed": "sub.s32 {sum}, {other}, {one};",
        "literal": "add.s32 {sum}, {one}, 12345;",
        "negative": "add.s32 {sum}, {one}, -2;",
        "from_literal": "sub.s32 {sum}, 77, {one};",
        "parameter": "add.s32 {sum}, {one}, %t8;",
        "less_parameter": "sub.s32 {sum}, {one}, %t8;",
        "from_parameter": "sub.s32 {sum}, %t8, {one};",
        "block": "add.s32 {sum}, {one}, %t9;",
        "less_block": "sub.s32 {sum}, {one}, %t9;",
    }
    others = {"lane": "{third}", "literal": "1000", "parameter": "%t8"}
    head = "mov.b64 {%t8, %t9}, %q; xor.b32 %t9, %t9, %block;\n"
    # Each sum is used once, or it would be an instruction of its own.
    extremes = ("max.s32", "min.s32", "max.u32", "min.u32")
    rotated = (("%a", "%b", "%c"), ("%b", "%c", "%a"), ("%c", "%a", "%b"))
    for (name, text), (other, source), clamped in product(sums.items(), others.items(), (0, 1)):
        lines = []
        for number, operation in enumerate(extremes[: 2 if clamped else 4]):
            one, second, third = rotated[number % 3]
            if number == 3:
                one, second, third = "%t10", "%b", "%a"
                lines.append("xor.b32 %t10, %a, %c;")
            result = f"%{'defg'[number]}"
            lines.append(text.format(sum=f"%t{number}", one=one, other=second))
            lines.append(f"{operation} {result}, %t{number}, {source.format(third=third)};")
            if clamped:
                lines.append(f"max.s32 {result}, {result}, 0;")
        table.add(f"extreme_of_{name}_{other}{'_clamped' if clamped else ''}", "i32 i32 i32",
                  "b32 b32" if clamped else "b32 b32 b32 b32", head + "\n".join(lines))  # fmt: skip
    for first, second, kind in product(("min", "max"), ("min", "max"), ("s32", "u32")):
        for other, source in others.items():
            third = source.format(third="%c")
            table.add(f"{first}_{second}_{kind}_{other}", "i32 i32 i32", "b32",
                      f"{head}{first}.{kind} %t0, %a, %b; {second}.{kind} %d, %t0, {third};")  # fmt: skip
            table.add(f"{first}_{second}_{kind}_{other}_clamped", "i32 i32 i32", "b32",
                      f"{head}{first}.{kind} %t0, %a, %b; {second}.{kind} %d, %t0, {third}; max.s32 %d, %d, 0;")  # fmt: skip
